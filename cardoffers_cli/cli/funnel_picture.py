"""A funnel to look at: one bar for each step, with its counts and conversions beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.cli.bars import bar
from cardoffers_cli.domain.funnel import LABELS, compared, conversions, share_text
from cardoffers_cli.domain.moments import format_brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

WIDTH = 79
_HEADER = ("count", "of before", "of views", "change")
_GAP = "  "


def picture(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a funnel (the document of `jobs/funnel.py`), at most 79 letters wide."""
    counts, previous = found["data"], found.get("previous")
    yield _between(found["window"])
    if previous:
        yield f"compared with {_between(previous['window'])}"
    yield ""
    rows = list(compared(counts, previous["data"]) if previous else conversions(counts))
    numbers = [_HEADER[: 4 if previous else 3], *map(_numbers, rows)]
    columns = [_right(column) for column in zip(*numbers, strict=True)]
    header, *lines = [_GAP.join(cells) for cells in zip(*columns, strict=True)]
    labels = max(map(len, LABELS.values()))
    width = WIDTH - labels - len(header) - 2 * len(_GAP)
    most = max(counts.values())
    yield header.rjust(WIDTH)
    for row, line in zip(rows, lines, strict=True):
        drawn = bar(row["count"], most, width)
        yield _GAP.join((LABELS[row["step"]].ljust(labels), drawn.ljust(width), line)).rstrip()


def _between(window: dict[str, datetime]) -> str:
    return f"{format_brief(window['from'])} to {format_brief(window['to'])}"


def _numbers(row: dict[str, Any]) -> tuple[str, ...]:
    shares = (f"{row['count']:,}", share_text(row["conversion"]), share_text(row["overall"]))
    return (*shares, _change(row)) if "change" in row else shares


def _change(row: dict[str, Any]) -> str:
    if row["change"] is not None:
        return f"{row['change']:+,.1%}"
    return "new" if row["count"] else ""


def _right(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]
