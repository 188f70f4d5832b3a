"""Turn JSON objects into the text columns a CSV file has, so that one set of rules judges both.

Numbers keep their text. A value of the wrong JSON type leaves some text in its column, so that it
does not look empty, and its column's name in `mistyped`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import polars as pl
from jiter import LosslessFloat

from cardoffers_cli.intake.documents import Objects
from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.objects import is_mistyped, mark, other_text, plain_digits, text_of
from cardoffers_cli.kernel.words.row_kinds import PURCHASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.chunks import Chunk, Judge
    from cardoffers_cli.kernel.words.row_kinds import RowKind

_KNOWN = frozenset(PURCHASES.columns)


def judge_pages(pages: Sequence[Objects], judge: Judge) -> Chunk:
    """Judge the objects of several pages at once; their positions do not meet, and go up.

    Numbers must come as `intake.documents.parse` gives them: `int` or `LosslessFloat`.
    """
    together = Objects(
        positions=[position for page in pages for position in page.positions],
        values=[value for page in pages for value in page.values],
        findings=[finding for page in pages for finding in page.findings],
    )
    return judge.chunk(columns_of(together), together.findings)


def unknown_fields(page: Objects) -> int:
    """Return how many fields of the objects are none of a transaction event."""
    return sum(len(value.keys() - _KNOWN) for value in page.values if not _KNOWN.issuperset(value))


def columns_of(page: Objects, kind: RowKind = PURCHASES) -> pl.DataFrame:
    """Return `line` and a String column for each field that occurs, empty as null.

    Where a value had the wrong type there is also `mistyped`: the names of such fields as `|a|b|`;
    where there are fields that are not known, `OTHERS`: their text.
    """
    names = set(kind.required).union(*page.values)
    columns = {"line": pl.Series(page.positions, dtype=pl.UInt64)}
    mistyped: dict[int, list[str]] = {}
    for name in kind.columns:
        if name in names:
            columns[name], wrong = _column(name, _values(name, page.values))
            for row in wrong:
                mistyped.setdefault(row, []).append(name)
    if unknown := names.difference(kind.columns):
        others = [other_text(value, unknown) for value in page.values]
        columns[OTHERS] = pl.Series(others, dtype=pl.String)
    if mistyped:
        marks = [mark(mistyped.get(row)) for row in range(len(page.values))]
        columns["mistyped"] = pl.Series(marks, dtype=pl.String)
    return pl.DataFrame(columns)


def _values(name: str, objects: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the values of a field, None where it is left out: in most pages nowhere."""
    try:
        return [*map(itemgetter(name), objects)]
    except KeyError:
        return [value.get(name) for value in objects]


def _column(name: str, values: list[Any]) -> tuple[pl.Series, list[int]]:
    """Return the values as texts, and which of them have the wrong type."""
    if name == "amount":
        if set(map(type, values)) == {LosslessFloat}:
            return _series(name, [*map(plain_digits, map(str, values))]), []
        wrong = [i for i, value in enumerate(values) if is_mistyped(name, value)]
        return _series(name, [text_of(value) for value in values]), wrong
    try:
        return _series(name, values), []
    except (TypeError, OverflowError):  # numbers, also those that no column can hold
        wrong = [i for i, value in enumerate(values) if is_mistyped(name, value)]
        return _series(name, [text_of(value) for value in values]), wrong


def _series(name: str, texts: list[Any]) -> pl.Series:
    series = pl.Series(name, texts, dtype=pl.String, strict=True)
    return series.set(series == "", None) if (series == "").any() else series
