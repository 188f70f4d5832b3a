"""Turn JSON objects into the text columns a CSV file has, so that one set of rules judges both.

Numbers keep their text. A value of the wrong JSON type leaves some text in its column, so that it
does not look empty, and its column's name in `mistyped`.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any

import polars as pl
from jiter import LosslessFloat

from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.files.chunks import Chunk, FileReading, Judge
from cardoffers_cli.files.documents import Objects, as_objects
from cardoffers_cli.files.fields import OTHERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.domain.row_kinds import RowKind

_KNOWN = frozenset(PURCHASES.columns)
_AMOUNT_TYPES = {LosslessFloat, int, NoneType}  # and no bool, which is an int too
_WIDEST = 40  # digits; more decide nothing an amount of 18 digits does not show


def judge_records(values: Sequence[Any], reading: FileReading) -> Chunk:
    """Judge parsed JSON values by the rules of a transaction row; `line` is the index from 0.

    Numbers must come as `files.documents.parse` gives them: `int` or `LosslessFloat`.
    """
    return judge_pages([as_objects(values)], reading)


def judge_pages(pages: Sequence[Objects], reading: FileReading) -> Chunk:
    """Judge the objects of several pages at once; their positions do not meet, and go up."""
    together = Objects(
        positions=[position for page in pages for position in page.positions],
        values=[value for page in pages for value in page.values],
        findings=[finding for page in pages for finding in page.findings],
    )
    return Judge(reading).chunk(columns_of(together), together.findings)


def unknown_fields(page: Objects) -> int:
    """Return how many fields of the objects are none of a transaction event."""
    return sum(len(value.keys() - _KNOWN) for value in page.values if not _KNOWN.issuperset(value))


def unknown_names(page: Objects, kind: RowKind) -> set[str]:
    """Return the names of fields that rows of this kind do not have."""
    return set[str]().union(*page.values).difference(kind.columns)


def columns_of(page: Objects, kind: RowKind = PURCHASES) -> pl.DataFrame:
    """Return `line` and a String column for each field that occurs, empty as null.

    Where a value had the wrong type there is also `mistyped`: the names of such fields as `|a|b|`;
    where there are fields that are not known, `OTHERS`: their text.
    """
    given = set(kind.required).union(*page.values)
    columns = {"line": pl.Series(page.positions, dtype=pl.UInt64)}
    mistyped: dict[int, list[str]] = {}
    for name in kind.columns:
        if name in given:
            columns[name], wrong = _column(name, _values(name, page.values))
            for row in wrong:
                mistyped.setdefault(row, []).append(name)
    if unknown := given.difference(kind.columns):
        others = [_other_text(value, unknown) for value in page.values]
        columns[OTHERS] = pl.Series(others, dtype=pl.String)
    if mistyped:
        marks = [_mark(mistyped.get(row)) for row in range(len(page.values))]
        columns["mistyped"] = pl.Series(marks, dtype=pl.String)
    return pl.DataFrame(columns)


def _other_text(value: Mapping[str, Any], unknown: set[str]) -> str | None:
    """Return all text of the fields that are not known, their names too."""
    names = unknown.intersection(value)
    return " ".join(_texts({name: value[name] for name in names})) if names else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from chain.from_iterable(map(_texts, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_texts, value))


def _mark(names: list[str] | None) -> str | None:
    return f"|{'|'.join(names)}|" if names else None


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
            return _series(name, [*map(_plain_digits, map(str, values))]), []
        wrong = [i for i, value in enumerate(values) if type(value) not in _AMOUNT_TYPES]
        return _series(name, [_text(value) for value in values]), wrong
    try:
        return _series(name, values), []
    except TypeError:
        wrong = [i for i, v in enumerate(values) if not (v is None or isinstance(v, str))]
        return _series(name, [_text(value) for value in values]), wrong


def _series(name: str, texts: list[Any]) -> pl.Series:
    series = pl.Series(name, texts, dtype=pl.String, strict=True)
    return series.set(series == "", None) if (series == "").any() else series


def _text(value: Any) -> str | None:
    """Write a value as text; lists and objects leave a mark that is only not empty."""
    if isinstance(value, LosslessFloat):
        return _plain_digits(str(value))
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, int) else "{}"


def _plain_digits(token: str) -> str:
    """Write a number token without an exponent; huge and tiny ones are cut to a fitting width."""
    if "e" not in token and "E" not in token:
        return token
    number = Decimal(token)
    sign = "-" if number.is_signed() else ""
    if not number:
        return f"{sign}0"
    if number.adjusted() > _WIDEST:
        return f"{sign}1{'0' * _WIDEST}"
    if number.adjusted() < -_WIDEST:
        return f"{sign}0.{'0' * _WIDEST}1"
    return f"{number:f}"
