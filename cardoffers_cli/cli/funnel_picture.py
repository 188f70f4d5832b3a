"""A funnel to look at: a bar for each step of the cardholders, and what happened beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.cli.kernel.bars import bar
from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.funnel import people, people_compared, volumes
from cardoffers_cli.domain.moments import format_brief
from cardoffers_cli.domain.sentences import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.jobs.funnel import Funnel, PeopleFunnel

    Rows = Sequence[Mapping[str, Any]]

WIDTH = 79
_GAP = "  "


def picture(found: Funnel) -> Iterator[str]:
    """Yield the lines of a funnel, at most 79 letters wide."""
    previous = found.previous
    yield _between(found.window)
    if previous:
        yield f"compared with {_between(previous.window)}"
    yield ""
    yield from _people(found, previous)
    yield ""
    yield from _volumes(found, previous)


def _people(found: Funnel, previous: PeopleFunnel | None) -> Iterator[str]:
    """Yield a bar for each step of the cardholders, each a part of the one before."""
    counts = found.people
    rows: Rows = list(people_compared(counts, previous.people) if previous else people(counts))
    header = ("cardholders", "of before", *(("change",) if previous else ()))
    numbers = [
        header,
        *((f"{row['count']:,}", percent(row["share"]), *_change(row)) for row in rows),
    ]
    lines = [
        _GAP.join(cells) for cells in zip(*map(_right, zip(*numbers, strict=True)), strict=True)
    ]
    labels = max(len(row["step"]) for row in rows)
    width = WIDTH - labels - len(lines[0]) - 2 * len(_GAP)
    yield lines[0].rjust(WIDTH)
    for row, line in zip(rows, lines[1:], strict=True):
        drawn = bar(row["count"], rows[0]["count"], width)
        yield _GAP.join((row["step"].ljust(labels), drawn.ljust(width), line)).rstrip()
    others = counts.all_who_redeemed - counts.redeemed
    if others:
        yield f"{counted(others, 'more cardholder')} redeemed without these steps in this time."


def _volumes(found: Funnel, previous: PeopleFunnel | None) -> Iterator[str]:
    """Yield what happened: each line counts another thing, so none is a part of another."""
    rows = list(volumes(found.data, previous and previous.data))
    header = ("count", *(("change",) if previous else ()))
    numbers = [header, *((f"{row['count']:,}", *_change(row)) for row in rows)]
    lines = [
        _GAP.join(cells) for cells in zip(*map(_right, zip(*numbers, strict=True)), strict=True)
    ]
    labels = max(len(row["label"]) for row in rows)
    names = ["What happened", *(row["label"] for row in rows)]
    for name, line in zip(names, lines, strict=True):
        yield _GAP.join((name.ljust(labels), line)).rstrip()


def _between(window: dict[str, datetime]) -> str:
    return f"{format_brief(window['from'])} to {format_brief(window['to'])}"


def _change(row: Mapping[str, Any]) -> tuple[str, ...]:
    if "change" not in row:
        return ()
    if row["change"] is not None:
        return (percent(row["change"], signed=True),)
    return ("new" if row["count"] else "",)


def _right(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]
