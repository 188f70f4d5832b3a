"""What a command shows, as columns and rows, and the one text of every cell.

A cell reads the same in every format: money with its currency's decimals, moments in ISO 8601 with
milliseconds and `Z`, dates as `2026-03-01`, flags as `true` and `false`, null as nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

from cardoffers_cli.domain import json_text
from cardoffers_cli.domain.moments import format_moment
from cardoffers_cli.domain.money import MINOR_UNITS, quantize

Kind = Literal["text", "integer", "money", "moment", "date", "flag", "number"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """One column: `name` finds the value in the row, and `offer.title` looks inside `offer`.

    A column of kind `money` finds its currency in the row under `currency_from`. On a screen that
    is too narrow for all, columns are left out, the highest `gives_way` first; one of 0 stays.
    """

    name: str
    title: str | None = None
    kind: Kind = "text"
    currency_from: str = "currency"
    gives_way: int = 0

    def value(self, row: Row) -> Any:
        """Return the column's value in a row: money with its currency's decimals, a date as one."""
        value = _find(row, self.name)
        if self.kind == "money" and isinstance(value, Decimal):
            currency = _find(row, self.currency_from)
            return quantize(value, currency) if currency in MINOR_UNITS else value
        if self.kind == "date" and isinstance(value, str):
            return date.fromisoformat(value)
        return value

    def cell(self, row: Row, *, guarded: bool = False) -> str:
        """Return the text of the column's cell, text guarded against formulas when asked to."""
        return guarded_text(self.value(row)) if guarded else cell_text(self.value(row))


@dataclass(frozen=True)
class Sheet:
    """A named table; the rows may come from a generator and are then read once.

    Where the money of the rows adds up to something, `totals_by` names the columns whose values
    keep the totals apart, the currency among them.
    """

    name: str
    columns: tuple[Column, ...]
    rows: Iterable[Row]
    title: str | None = None
    totals_by: tuple[str, ...] = ()

    def lines(self, *, guarded: bool) -> Iterator[list[str]]:
        """Yield the header's cells, then each row's."""
        yield [column.name for column in self.columns]
        for row in self.rows:
            yield [column.cell(row, guarded=guarded) for column in self.columns]

    def records(self) -> Iterator[Row]:
        """Yield each row whole, for JSON, its money with its currency's decimals."""
        money = [column for column in self.columns if column.kind == "money"]
        for row in self.rows:
            exact = {column.name: column.value(row) for column in money if column.name in row}
            yield {**row, **exact}


def cell_text(value: Any) -> str:
    """Return the text of one value, the same in every format."""
    match value:
        case str():
            text = str(value)
        case None:
            text = ""
        case bool():
            text = "true" if value else "false"
        case Decimal():
            text = format(value, "f")
        case datetime():
            text = format_moment(value)
        case Mapping() | list() | tuple():
            text = json_text.dumps(value)
        case _:
            text = str(value)
    return text


def guarded_text(value: Any) -> str:
    """Return the text of one value, text that is a spreadsheet's formula guarded."""
    return guard(cell_text(value)) if isinstance(value, str) else cell_text(value)


def guard(text: str) -> str:
    """Keep a spreadsheet from reading text as a formula (decisions, Privacy)."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _find(row: Row, name: str) -> Any:
    if name in row:
        return row[name]
    inside: Any = row
    for part in name.split("."):
        inside = inside.get(part) if isinstance(inside, Mapping) else None
    return inside
