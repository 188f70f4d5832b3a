"""Every record has the columns of each statement that it is read by; a test binds them all.

Where a statement is run for a record is found in the source: `store.records(Shape, "address")`.
"""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.domain.records import Amount, Record, if_any
from house import House, Module, module, read_house, uses
from test_sql_binds import PARAMETER, queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.store.store import Store

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


def own_name(source: Module, dotted: str) -> str:
    """Return the whole name of a class, which its own module has without its package."""
    return dotted if "." in dotted else f"{source.dotted}.{dotted}"


def unlike(store: Store, shape: type[Record], sql: str) -> set[str]:
    """Return the fields that the statement does not return, and its columns that are no field."""
    code = re.sub(r"--[^\n]*", "", sql)
    rows = store.connection.execute(
        f"describe {code}", dict.fromkeys(PARAMETER.findall(code))
    ).fetchall()
    return {name for name, *_ in rows} ^ {each.name for each in fields(shape)}  # type: ignore[arg-type]


def test_a_record_has_the_columns_of_its_statement(scratch: Store) -> None:
    found = sorted(set(readings(read_house())))
    assert found
    statements = queries()
    wrong = {}
    for shape, address in found:
        place, _, name = shape.rpartition(".")
        record = getattr(importlib.import_module(place), name)
        if columns := unlike(scratch, record, statements[address]):
            wrong[shape, address] = columns
    assert {} == wrong


class Counted(Record):
    currency: str
    purchases: int


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


def test_what_a_record_is_shown_as_holds_no_text() -> None:
    """Text may be a token, a secret, a raw row: so none is in a message, whoever made it."""
    for source in read_house().values():
        if source.room in {"services", "jobs"}:
            importlib.import_module(source.dotted)
    every = [shape for shape in shapes() if shape.__module__.startswith("cardoffers_cli")]
    assert 100 < len(every)
    for shape in every:
        secret = {each.name: ["whsec_canary"] for each in fields(shape)}  # type: ignore[arg-type]
        shown = repr(shape(**dict.fromkeys(secret, "whsec_canary"))), repr(shape(**secret))
        assert "canary" not in "".join(shown), shape
    assert "Paid(currency=<str>, amount=Decimal('1.5'))" == repr(
        Paid(currency="GBP", amount=Decimal("1.5"))
    )


@pytest.mark.parametrize(
    ("expected", "sql"),
    [
        (set(), "select 'GBP' as currency, 3 as purchases"),
        ({"purchases"}, "select 'GBP' as currency"),
        ({"amount"}, "select 'GBP' as currency, 3 as purchases, 1.5 as amount"),
    ],
)
def test_a_record_of_other_columns_is_found(store: Store, expected: set[str], sql: str) -> None:
    assert expected == unlike(store, Counted, sql)


def test_a_statement_that_is_read_as_a_record_is_found() -> None:
    code = "class Day(Record):\n    day: date\ndef days(store):\n    return store.{}(Day, 'a/b:c')"
    for name in sorted(READERS):
        source = module("services/days.py", code.format(name))
        expected = ("cardoffers_cli.services.days.Day", "a/b:c")
        assert [expected] == list(readings({source.dotted: source}))
