"""Every record has the columns of each statement that it is read by; a test binds them all.

Where a statement is run for a record is found in the source: `store.records(Shape, "address")`,
and `question(app, "name", "address", Shape)`.
"""

from __future__ import annotations

import ast
import importlib
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, TypedDict

import pytest

from cardoffers_cli.kernel.sheets.sheets import Column, columns_of
from cardoffers_cli.kernel.words.records import Amount, Record, if_any, members_of
from house import House, Module, module, read_house, uses
from sizes import slow
from test_sql_binds import queries, returned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

READERS = {"records", "record"}
Reading = tuple[str, str]  # the dotted name of the record, the address of the statement


def readings(house: House) -> Iterator[Reading]:
    """Yield each record with each statement that it is read by."""
    for source in house.values():
        named = {id(node): dotted for node, dotted in uses(source)}
        for node in ast.walk(source.tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr=name),
                    args=[shape, ast.Constant(value=str() as address), *_],
                ) if name in READERS:
                    yield own_name(source, named[id(shape)]), address
                case ast.Call(
                    func=ast.Name(id="question"),
                    args=[ast.Starred(ast.Tuple(elts=[_, _, ast.Constant(value=address), shape]))]
                    | [_, _, ast.Constant(value=address), shape],
                ):
                    yield named[id(shape)], str(address)


def own_name(source: Module, dotted: str) -> str:
    """Return the whole name of a class, which its own module has without its package."""
    return dotted if "." in dotted else f"{source.dotted}.{dotted}"


def unlike(shape: type[Record], columns: set[str]) -> set[str]:
    """Return the fields that a statement does not return, and its columns that are no field.

    What a record has only where there is something to tell, a statement need not return.
    """
    members = {each.name for each in fields(shape)}  # type: ignore[arg-type]
    optional = {each.name for each in members_of(shape) if each.is_optional}
    return (columns ^ members) - (optional - columns)


@slow
def test_a_record_has_the_columns_of_its_statement() -> None:
    found = sorted(set(readings(read_house())))
    assert found
    columns_of = returned(queries(), {address for _, address in found})
    wrong = {}
    for shape, address in found:
        place, _, name = shape.rpartition(".")
        record = getattr(importlib.import_module(place), name)
        if columns := unlike(record, columns_of[address]):
            wrong[shape, address] = columns
    assert {} == wrong


class Counted(Record):
    currency: str
    purchases: int
    oldest: int | None = if_any()


class Reached(Record):
    reached_at: str | None
    place: str | None = if_any()


def test_what_is_optional_is_left_out_while_it_is_none() -> None:
    assert {"reached_at": None} == Reached(reached_at=None)
    assert {"reached_at": None, "place": "home"} == Reached(reached_at=None, place="home")
    assert 1 == len(Reached(reached_at=None))
    assert "place" not in Reached(reached_at=None)


def test_a_record_is_made_of_all_its_fields_and_never_changed() -> None:
    assert ["reached_at", "place"] == [each.name for each in fields(Reached)]  # type: ignore[arg-type]
    for values in ({}, {"reached_at": None, "at": 1}):
        with pytest.raises(TypeError, match="Reached lacks or does not know: "):
            Reached(**values)
    row = Reached(reached_at="noon")
    with pytest.raises(FrozenInstanceError):
        row.reached_at = None  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del row.reached_at
    assert Reached(reached_at="noon", place="home") == replace(row, place="home")


class Paid(Record):
    currency: str
    amount: Amount | None


@pytest.mark.parametrize("names", [["currency", "amount"], ["amount", "currency"]])
def test_rows_become_records_in_whatever_order_their_columns_are(names: list[str]) -> None:
    rows = [{"currency": "GBP", "amount": Decimal("1.5")}, {"currency": "JPY", "amount": None}]
    made = Paid.all_of(names, [[row[name] for name in names] for row in rows])
    assert "1.50 None" == " ".join(str(row.amount) for row in made)
    assert [Paid.of(row) for row in rows] == made
    assert [["currency", "amount"]] * 2 == [[*row] for row in made]
    with pytest.raises(TypeError):
        Paid.all_of(["currency"], [["GBP"]])


def shapes(of: type[Record] = Record) -> Iterator[type[Record]]:
    """Yield every record of the product that its modules make when all of them are imported."""
    for each in of.__subclasses__():
        yield each
        yield from shapes(each)


def every_record() -> list[type[Record]]:
    """Return every record of the product, with all of its modules imported."""
    for source in read_house().values():
        if source.path != "__main__.py":
            importlib.import_module(source.dotted)
    every = [shape for shape in shapes() if shape.__module__.startswith("cardoffers_cli")]
    assert 100 < len(every)
    return every


def test_what_a_record_is_shown_as_holds_no_text() -> None:
    """Text may be a token, a secret, a raw row: so none is in a message, whoever made it."""
    for shape in every_record():
        secret = {each.name: ["whsec_canary"] for each in fields(shape)}  # type: ignore[arg-type]
        shown = repr(shape(**dict.fromkeys(secret, "whsec_canary"))), repr(shape(**secret))
        assert "canary" not in "".join(shown), shape
    assert "Paid(currency=<str>, amount=Decimal('1.5'))" == repr(
        Paid(currency="GBP", amount=Decimal("1.5"))
    )


class Told(Paid):
    from_: Annotated[datetime | None, "When it began, or `None`."]
    place: Annotated[str | None, 'It\'s "home".'] = if_any()


class Typed(TypedDict):
    title: str | None


def test_the_members_of_a_record_are_what_its_fields_say() -> None:
    assert [
        ("currency", "str", False, False, None),
        ("amount", "Amount", True, False, None),
        ("from", "datetime", True, False, "When it began, or `None`."),
        ("place", "str", False, True, 'It\'s "home".'),
    ] == [*members_of(Told)]
    assert [("title", "str", True, False, None)] == [*members_of(Typed)]
    told = Told(currency="GBP", amount=None, from_=None)
    assert {"currency": "GBP", "amount": None, "from": None} == told
    assert ["currency", "amount", "from"] == [*told]


KINDS = {
    "id": {"UUID", "str", "int"},
    "integer": {"int"},
    "money": {"Amount", "Decimal"},
    "moment": {"datetime"},
    "date": {"date", "str"},
    "share": {"Decimal"},
    "change": {"Decimal"},
    "number": {"Decimal", "float", "Amount"},
    "flag": {"bool"},
}
"""The types whose values a column of a kind shows; text shows any but those."""
NO_TEXT = {"Amount"}


def ill_shown(sheet: Sequence[Column], shape: type[Record]) -> list[str]:
    """Return the columns that show no member of a record, or one of another type."""
    types = {each.name: each.kind for each in members_of(shape)}
    return [
        column.name
        for column in sheet
        if (kind := types.get(column.name.split(".")[0])) is None
        or ("." not in column.name and kind not in KINDS.get(column.kind, {kind} - NO_TEXT))
    ]


def test_a_sheet_shows_members_of_its_record_by_their_types() -> None:
    assert {} == {
        shape: wrong for shape in every_record() if (wrong := ill_shown(columns_of(shape), shape))
    }
    assert ["place", "amount"] == ill_shown([Column("place"), Column("amount")], Paid)


@pytest.mark.parametrize(
    ("expected", "sql"),
    [
        (set(), "select 'GBP' as currency, 3 as purchases"),
        ({"purchases"}, "select 'GBP' as currency"),
        (set(), "select 'GBP' as currency, 3 as purchases, 9 as oldest"),
        ({"purchases"}, "select 'GBP' as currency, 9 as oldest"),
        ({"eldest"}, "select 'GBP' as currency, 3 as purchases, 9 as eldest"),
        ({"amount"}, "select 'GBP' as currency, 3 as purchases, 1.5 as amount"),
        (set(), "select currency, purchases from made"),
        ({"amount"}, "select * from made"),
    ],
)
def test_a_record_of_other_columns_is_found(expected: set[str], sql: str) -> None:
    table = "create temp table made as select 'GBP' as currency, 3 as purchases, 1.5 as amount"
    waiting = {"services/a:made": table, "services/b:read": sql}
    assert expected == unlike(Counted, returned(waiting, ["services/b:read"])["services/b:read"])


def test_a_statement_that_is_read_as_a_record_is_found() -> None:
    code = "class Day(Record):\n    day: date\ndef days(store):\n    return store.{}(Day, 'a/b:c')"
    asked = "from cardoffers_cli.services.days import Day\nquestion({})"
    for words in ("app, 'days', 'a/b:c', Day", "*(app, 'days', 'a/b:c', Day), data=False"):
        source = module("reports/commands.py", asked.format(words))
        expected = ("cardoffers_cli.services.days.Day", "a/b:c")
        assert [expected] == list(readings({source.dotted: source}))
    for name in sorted(READERS):
        source = module("services/days.py", code.format(name))
        expected = ("cardoffers_cli.services.days.Day", "a/b:c")
        assert [expected] == list(readings({source.dotted: source}))
