"""What a command shows, as columns and rows, and the one text of every cell.

A cell reads the same in every format: money with its currency's decimals, moments in ISO 8601 with
milliseconds and `Z`, dates as `2026-03-01`, flags as `true` and `false`, null as nothing at all.

Programs read `csv`, `tsv`, `json`, `jsonl` and `parquet`: the contract's names, in an order that
only grows at its end. People read tables, Markdown and pages: the words of the field, what has a
name before what has an id, shares in percent, and no row of nothing. A workbook is read by both:
its header has the contract's names, all else is for people.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, BinaryIO

from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.money import MINOR_UNITS, quantize
from cardoffers_cli.kernel.words.records import Kind, Record, members_of, sheet_of, shown_of
from cardoffers_cli.kernel.words.sentences import counted, percent
from cardoffers_cli.kernel.words.visible import visible

Row = Mapping[str, Any]
Rows = Sequence[Row]

NUMBERS = {"integer", "money", "number", "share", "change"}
"""The kinds that are set to the right."""
SHARES = {"share", "change"}
_COUNTED = {"integer", "money"}


@dataclass(frozen=True)
class Column:
    """One column: `name` finds the value in the row, and `offer.title` looks inside `offer`.

    A column of kind `money` finds its currency in the row under `currency_from`. A `share`, and a
    `change` from what was before, is a number for programs and percent for people, who find an `id`
    behind everything else. On a screen that is too narrow for all, columns are left out, the
    highest `gives_way` first; one of 0 stays. People who find nothing in it are shown the first of
    the columns `instead` that holds something.
    """

    name: str
    title: str | None = None
    kind: Kind = "text"
    currency_from: str = "currency"
    gives_way: int = 0
    instead: tuple[str, ...] = ()

    def value(self, row: Row) -> Any:
        """Return the column's value in a row: money with its currency's decimals, a date as one."""
        value = _find(row, self.name)
        if self.kind == "money" and isinstance(value, Decimal):
            currency = _find(row, self.currency_from)
            return quantize(value, currency) if currency in MINOR_UNITS else value
        if self.kind == "date" and isinstance(value, str):
            return date.fromisoformat(value)
        if self.kind == "date" and isinstance(value, datetime):
            return value.date()
        return value

    def cell(self, row: Row, *, guarded: bool = False) -> str:
        """Return the text of the column's cell, text guarded against formulas when asked to."""
        return guarded_text(self.value(row)) if guarded else cell_text(self.value(row))

    def seen(self, row: Row) -> str:
        """Return the text of the column's cell for people."""
        value = self.value(row)
        if value is None:
            others = (_find(row, name) for name in self.instead)
            value = next((other for other in others if other is not None), None)
        if self.kind in SHARES and isinstance(value, Decimal):
            return percent(value, signed=self.kind == "change")
        return cell_text(value)

    @property
    def heading(self) -> str:
        """What people read above the column on a terminal."""
        return self.title or self.name

    @property
    def label(self) -> str:
        """What people read above the column elsewhere."""
        text = self.heading.replace("_", " ").replace(".", " ")
        return text[:1].upper() + text[1:]


_KINDS: Mapping[str, Kind] = {
    "UUID": "id",
    "int": "integer",
    "Amount": "money",
    "Decimal": "number",
    "float": "number",
    "datetime": "moment",
    "date": "date",
    "bool": "flag",
}
"""The kinds of columns by the types of fields; the others are text."""


def columns_of(shape: type[Record], names: str = "", **titles: str) -> tuple[Column, ...]:
    """Return the columns of a sheet of records: those that are named, or as the class says.

    `titles` stand in the place of those that the class says.
    """
    by_name = _columns_of(shape)
    chosen = [by_name[name] for name in names.split() or sheet_of(shape)[0] or by_name]
    return tuple(replace(column, title=titles.get(column.name, column.title)) for column in chosen)


@cache
def _columns_of(shape: type[Record]) -> Mapping[str, Column]:
    """Return the column of each member of a record, and of what is inside of it, by its name."""
    presentation, by_name = shown_of(shape), dict[str, Column]()
    for member in members_of(shape):
        spec = {"kind": _KINDS.get(member.kind, "text"), **presentation.get(member.name, {})}
        inside = spec.pop("inside", {})
        columns = {f"{member.name}.{name}": more for name, more in inside.items()}
        by_name |= {
            name: Column(name, **more) for name, more in (columns or {member.name: spec}).items()
        }
    return by_name


def on_days(columns: Iterable[Column]) -> Iterator[Column]:
    """Yield the columns with days in the place of moments, and called so."""
    for column in columns:
        title = f"{column.heading.removesuffix(' at')} on"
        yield replace(column, kind="date", title=title) if column.kind == "moment" else column


@dataclass(frozen=True)
class Sheet:
    """A named table; the rows may come from a generator and are then read once.

    Where the money of the rows adds up to something, `totals_by` names the columns whose values
    keep the totals apart, the currency among them. `first` names the columns that people see first.
    `quiet` names the column of what a row is of, `day`, if people are not shown one in which
    nothing was counted; `unit` is what they are told there were none of, if not that column's name.
    A sheet that `is_list` has one line a row on every screen that has room for the columns that
    never give way; others show a few rows whole where they do not fit.
    """

    name: str
    columns: tuple[Column, ...]
    rows: Iterable[Row]
    title: str | None = None
    totals_by: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    quiet: str = ""
    unit: str = ""
    is_list: bool = False

    @classmethod
    def of(cls, shape: type[Record], name: str, rows: Iterable[Row], **more: Any) -> Sheet:
        """Make the sheet of records, as their class says what is shown, and what first."""
        return cls(name, columns_of(shape), rows, **{"first": sheet_of(shape)[1], **more})

    @classmethod
    def of_rows(cls, name: str, rows: Sequence[Any], **more: Any) -> Sheet:
        """Make the sheet of records by the class of the first; of none there is nothing to show."""
        return cls.of(type(rows[0]), name, rows, **more) if rows else cls(name, (), rows, **more)

    @classmethod
    def of_fields(cls, name: str, fields: Mapping[str, Any], title: str | None = None) -> Sheet:
        """Make the sheet of one record, a row for each of its fields."""
        rows = [{"field": field, "value": value} for field, value in fields.items()]
        return cls(name, (Column("field"), Column("value")), rows, title)

    def for_people(self) -> Sheet:
        """Return the sheet with its columns as people see them: names first, ids last."""
        places = {name: place for place, name in enumerate(self.first)}
        columns = sorted(
            self.columns,
            key=lambda column: (column.kind == "id", places.get(column.name, len(places))),
        )
        return replace(self, columns=tuple(columns))

    def rows_for_people(self) -> Iterator[Row]:
        """Yield the rows in which something was counted."""
        counted_in = [column.name for column in self.columns if column.kind in _COUNTED]
        return (row for row in self.rows if not self.quiet or any(map(row.get, counted_in)))

    def told(self) -> tuple[Iterable[Row], str]:
        """Return the rows in which something was counted, and a sentence about the others."""
        if not self.quiet:
            return self.rows, ""
        rows = list(self.rows)
        active = list(replace(self, rows=rows).rows_for_people())
        quiet = len({row[self.quiet] for row in rows} - {row[self.quiet] for row in active})
        return active, f"No activity on {counted(quiet, self.unit or self.quiet)}." if quiet else ""

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
    """Keep a spreadsheet from reading text as a formula (rules.md#exports)."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _find(row: Row, name: str) -> Any:
    if "." not in name:
        return row.get(name)
    if name in row:
        return row[name]
    inside: Any = row
    for part in name.split("."):
        inside = inside.get(part) if isinstance(inside, Mapping) else None
    return inside


_FIELDS = ("transaction_ref", "field", "code", "level", "message")


def write_findings(
    out: BinaryIO, findings: Iterable[Mapping[str, Any]], *, position: str = "line"
) -> None:
    """Write findings as CSV; `position` names the first column (`index` for JSON arrays)."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((position, "transaction_ref", "column", "code", "level", "message"))
    writer.writerows(
        (finding["line"], *(guard(visible(finding[name] or "")) for name in _FIELDS))
        for finding in findings
    )
    text.flush()
    text.detach()
