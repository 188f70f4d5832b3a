"""What people see of a sheet: names first, ids last, shares in percent, no row of nothing."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.files import sheets
from cardoffers_cli.files.sheets import Column, Sheet, read_columns
from cardoffers_cli.files.tabulated import read_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def test_every_table_of_columns_is_asked_for_and_can_be_read() -> None:
    product = Path(sheets.__file__).parent.parent
    source = "".join(file.read_text("utf-8") for file in product.rglob("*.py"))
    asked = set(re.findall(r'read_columns\("([^"]+)"\)', source))

    assert asked == set(read_tables("columns.txt"))
    assert all(column.name for name in asked for column in read_columns(name))


LINES = [
    ("status", Column("status")),
    ("payout money", Column("payout", kind="money")),
    ("day date 3", Column("day", kind="date", gives_way=3)),
    ("by_run text - made by", Column("by_run", "made by")),
    ("name text - who | mail token", Column("name", "who", instead=("mail", "token"))),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_a_line_is_a_column(line: str, expected: Column) -> None:
    assert expected == sheets._read_column(line)


def test_a_kind_that_is_none_is_found() -> None:
    with pytest.raises(ValueError, match="payout coins"):
        sheets._read_column("payout coins")
