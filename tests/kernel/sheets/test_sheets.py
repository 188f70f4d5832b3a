"""What people see of a sheet: names first, ids last, shares in percent, no row of nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypedDict

import pytest

from cardoffers_cli.kernel.sheets.sheets import Column, Sheet, columns_of, on_days
from cardoffers_cli.kernel.words.records import Amount, Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime
    from uuid import UUID

COLUMNS = (
    Column("offer_id", kind="id"),
    Column("merchant_id", kind="id"),
    Column("day", kind="date"),
    Column("merchant_name", "merchant"),
    Column("redemptions", kind="integer"),
    Column("payout", kind="money"),
    Column("share", kind="share"),
    Column("change", kind="change"),
)


def sheet(rows: Sequence[dict[str, Any]] = (), **more: Any) -> Sheet:
    return Sheet("offers", COLUMNS, rows, **more)


def names(shown: Sheet) -> list[str]:
    return [column.name for column in shown.columns]


@pytest.mark.parametrize(
    ("expected", "first"),
    [
        ("day merchant_name redemptions payout share change offer_id merchant_id", ()),
        (
            "merchant_name payout day redemptions share change offer_id merchant_id",
            ("merchant_name", "payout", "offer_id"),
        ),
    ],
)
def test_names_come_first_and_ids_last(expected: str, first: tuple[str, ...]) -> None:
    assert expected.split() == names(sheet(first=first).for_people())


def test_programs_have_the_order_as_it_is() -> None:
    (header,) = sheet(first=("merchant_name",)).lines(guarded=True)
    assert [column.name for column in COLUMNS] == header


@pytest.mark.parametrize(
    ("seen", "cell", "column", "value"),
    [
        ("14.9 %", "0.1494", "share", Decimal("0.1494")),
        ("+14.9 %", "0.1494", "change", Decimal("0.1494")),
        ("", "", "share", None),
        ("7.50", "7.50", "payout", Decimal("7.5")),
    ],
)
def test_a_share_is_percent_for_people(seen: str, cell: str, column: str, value: Any) -> None:
    (found,) = [each for each in COLUMNS if each.name == column]
    row = {column: value, "currency": "GBP"}
    assert (seen, cell) == (found.seen(row), found.cell(row))


@pytest.mark.parametrize(
    ("terminal", "elsewhere", "column"),
    [
        ("merchant", "Merchant", Column("merchant_name", "merchant")),
        ("offer.id", "Offer id", Column("offer.id")),
        ("last_seen_at", "Last seen at", Column("last_seen_at")),
    ],
)
def test_a_heading_is_words(terminal: str, elsewhere: str, column: Column) -> None:
    assert (terminal, elsewhere) == (column.heading, column.label)


def counted(day: str, redemptions: int, payout: str) -> dict[str, Any]:
    return {"day": day, "redemptions": redemptions, "payout": Decimal(payout), "currency": "GBP"}


ROWS = [
    counted("2026-10-01", 1, "0.00"),
    counted("2026-10-02", 0, "0.00"),
    counted("2026-10-03", 0, "0.00"),
    counted("2026-10-03", 0, "0.50"),
    counted("2026-10-04", 0, "0"),
]


def test_days_without_activity_are_no_rows_but_a_sentence() -> None:
    told, said = sheet(ROWS, quiet="day").told()
    assert ["2026-10-01", "2026-10-03"] == [row["day"] for row in told]
    assert "No activity on 2 days." == said
    assert 2 == len(list(sheet(ROWS, quiet="day").rows_for_people()))
    assert "No activity on 2 weeks." == sheet(ROWS, quiet="day", unit="week").told()[1]


@pytest.mark.parametrize(("rows", "quiet"), [(ROWS, ""), ([], "day"), (ROWS[:1], "day")])
def test_where_nothing_is_left_out_nothing_is_said(rows: list[Any], quiet: str) -> None:
    told, said = sheet(rows, quiet=quiet).told()
    assert (rows, "") == (list(told), said)


class Named(TypedDict):
    title: str


class Paid(Record, sheet="paid_at offer.title amount", first="amount"):
    id: UUID = shown("payment id", gives_way=2)
    currency: str
    amount: Amount = shown("paid", gives_way=1)
    paid_at: datetime = shown("paid at")
    offer: Named = shown(inside={"title": shown("offer", instead=("id",))})
    tries: int
    is_known: bool
    day: date
    rate: Decimal | None = shown(kind="share")
    place: str | None = if_any("where", gives_way=3)


@pytest.mark.parametrize(
    ("expected", "column"),
    [
        (Column("id", "payment id", "id", gives_way=2), "id"),
        (Column("currency"), "currency"),
        (Column("amount", "paid", "money", gives_way=1), "amount"),
        (Column("paid_at", "paid at", "moment"), "paid_at"),
        (Column("offer.title", "offer", instead=("id",)), "offer.title"),
        (Column("tries", kind="integer"), "tries"),
        (Column("is_known", kind="flag"), "is_known"),
        (Column("day", kind="date"), "day"),
        (Column("rate", kind="share"), "rate"),
        (Column("place", "where", gives_way=3), "place"),
    ],
)
def test_a_column_is_as_its_field_says(expected: Column, column: str) -> None:
    assert (expected,) == columns_of(Paid, column)


def test_a_sheet_has_the_columns_that_its_record_says() -> None:
    of_class = Sheet.of(Paid, "paid", [])
    assert ("paid_at offer.title amount".split(), ("amount",)) == (names(of_class), of_class.first)
    assert ["when", "amount"] == [
        column.heading for column in columns_of(Paid, "paid_at amount", paid_at="when", amount="")
    ]
    assert [] == names(Sheet.of_rows("paid", []))


class Given(Paid, sheet="rate * -place -offer -is_known amount"):
    note: str


class GivenTwice(Given):
    twice: bool


@pytest.mark.parametrize("shape", [Given, GivenTwice])
def test_a_star_is_every_other_field_of_the_class_that_says_it(shape: type[Record]) -> None:
    expected = "rate id currency paid_at tries day note amount"
    assert expected.split() == names(Sheet.of(shape, "given", []))


def test_a_page_may_tell_days_in_place_of_moments() -> None:
    assert [Column("paid_at", "paid on", "date"), Column("tries", kind="integer")] == [
        *on_days(columns_of(Paid, "paid_at tries"))
    ]
