"""What a table of a page shows: which columns, and what a cell is."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import (
    MOST_ROWS,
    Advice,
    Link,
    PrintedCommand,
    State,
    columns_of,
    table_of,
)
from cardoffers_cli.kernel.words.visible import visible
from tables import uid

SOME_ID = uid("bakery")
NIGHT = datetime(2026, 10, 1, 3)  # noqa: DTZ001 - moments are naive UTC


def sheet(*columns: Column, rows: list[dict[str, Any]], **more: Any) -> Sheet:
    return Sheet("shops", columns, rows, **more)


@pytest.mark.parametrize(
    ("expected", "kind", "value"),
    [
        (("text", "bakery", "w s", ""), "text", "bakery"),
        (("text", "a bakery", "", ""), "text", "a bakery"),
        (("text", "", "", ""), "text", None),
        (("text", "2026-10-01 03:00", "w s", ""), "moment", NIGHT),
        (("text", "2026-10-01", "w s", ""), "moment", NIGHT.replace(hour=0)),
        (("number", "1234", "n", ""), "integer", 1234),
        (("number", "0", "n none", ""), "integer", 0),
        (("number", "14.9 %", "n", ""), "share", Decimal("0.1494")),
        (("number", "-14.9 %", "n", ""), "change", Decimal("-0.1494")),
        (("money", "7.50", "n", "GBP"), "money", Decimal("7.5")),
        (("money", "0.00", "n none", "GBP"), "money", Decimal(0)),
        (("id", str(SOME_ID)[:8], "w s", str(SOME_ID)[8:]), "id", SOME_ID),
        (("id", str(SOME_ID)[:8], "w s", str(SOME_ID)[8:]), "text", SOME_ID),
        (("id", "of-00001", "w s", ""), "id", "of-00001"),
        (("link", "alder", "w s", "alder.html"), "text", Link("alder", "alder.html")),
        (("command", "cardoffers settle", "", ""), "text", PrintedCommand("cardoffers settle")),
        (("advice", "fill card_token", "", ""), "text", Advice("fill card_token")),
        (("state", "failed", "w s", "alarm"), "text", State("failed", "alarm")),
    ],
)
def test_a_cell_is_what_people_read(expected: Any, kind: Any, value: Any) -> None:
    rows = [{"name": "x", "value": value, "currency": "GBP"}]
    table = table_of(
        sheet(Column("name"), Column("value", kind=kind), rows=rows),
        columns=[Column("name"), Column("value", kind=kind)],
    )
    cell = table.rows[0][1]
    assert expected == (cell.form, cell.text, cell.style, cell.extra)


def headings(found: list[Column]) -> str:
    return " ".join(column.name for column in found)


ROW = {"id": SOME_ID, "name": "bakery", "payout": Decimal(1), "currency": "GBP", "ref": "1"}
COLUMNS = (
    Column("id"),
    Column("name"),
    Column("currency"),
    Column("payout", kind="money"),
    Column("ref"),
)


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("name payout ref id", {}),
        ("id name payout ref", {"id": "no uuid"}),
        ("name ref id", {"payout": Decimal(0)}),
        ("name payout id", {"ref": ""}),
        ("name payout ref id", {"payout": Decimal("-0.01")}),
    ],
)
def test_ids_stand_last_and_columns_of_nothing_nowhere(
    expected: str, changes: dict[str, Any]
) -> None:
    rows = [{**ROW, **changes}]
    assert expected == headings(columns_of(sheet(*COLUMNS, rows=rows), rows))


def test_a_whole_table_has_every_column_but_currencies() -> None:
    rows = [{**ROW, "payout": Decimal(0), "ref": None}]
    found = columns_of(sheet(*COLUMNS, rows=rows), rows, is_whole=True)
    assert "name payout ref id" == headings(found)


def test_a_currency_stands_alone_where_there_is_no_amount() -> None:
    rows = [{"name": "alder", "currency": "GBP"}]
    found = columns_of(sheet(Column("name"), Column("currency"), rows=rows), rows)
    assert "name currency" == headings(found)


@pytest.mark.parametrize(
    ("expected", "columns", "text"),
    [
        ((300, False, False), 2, "bakery"),
        ((380, False, False), 2, "a long name of a bakery in town"),
        ((560, False, False), 6, "2026-10-01"),
        ((920, False, False), 9, "2026-10-01"),
        ((800, True, True), 12, "a bakery in a town"),
    ],
)
def test_a_table_says_how_much_room_it_needs(expected: Any, columns: int, text: str) -> None:
    wanted = [Column(f"c{number}") for number in range(columns)]
    rows = [dict.fromkeys((column.name for column in wanted), text)]
    table = table_of(sheet(*wanted, rows=rows))
    assert expected == (table.room, table.is_wide, table.is_across)


@pytest.mark.parametrize(
    ("expected", "rows", "in_all"),
    [
        (0, MOST_ROWS, None),
        (0, 5, 5),
        (95, 5, 100),
        (1, MOST_ROWS + 1, None),
        (999_000, MOST_ROWS, 1_000_000),
    ],
)
def test_a_table_has_so_many_rows_and_knows_what_it_lacks(
    expected: int, rows: int, in_all: int | None
) -> None:
    table = table_of(sheet(Column("name"), rows=[{"name": "x"}] * rows), in_all)
    assert (min(rows, MOST_ROWS), expected) == (len(table.rows), table.left_out)


def test_days_of_nothing_are_a_sentence() -> None:
    rows = [{"day": "2026-10-01", "count": 0}, {"day": "2026-10-02", "count": 1}]
    columns = (Column("day"), Column("count", kind="integer"))
    table = table_of(sheet(*columns, rows=rows, quiet="day"))
    assert (1, "No activity on 1 day.") == (len(table.rows), table.said)


def test_an_id_that_is_no_uuid_stays_as_it_is() -> None:
    assert UUID(str(SOME_ID)) == SOME_ID
    rows = [{"name": "x", "ref": "LAR1-9f"}]
    found = columns_of(sheet(Column("ref"), Column("name"), rows=rows), rows)
    assert "ref name" == headings(found)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1"])
@pytest.mark.parametrize(
    "cell",
    [str, lambda text: Link(text, "x.html"), PrintedCommand, Advice, lambda text: State(text, "")],
)
def test_no_text_is_a_formula_where_a_spreadsheet_opens_the_page(cell: Any, text: str) -> None:
    made = sheet(Column("name"), Column("value"), rows=[{"name": text, "value": cell(text)}])
    assert ["'", "'"] == [each.text[0] for each in table_of(made).rows[0]]
    assert [visible(text)] * 2 == [each.text for each in table_of(made, guarded=False).rows[0]]


def test_a_number_below_nothing_is_no_formula() -> None:
    columns = (Column("name"), Column("value", kind="money"), Column("more", kind="change"))
    row = {"name": "x", "value": Decimal(-1), "more": Decimal("-0.5"), "currency": "GBP"}
    assert ["-1.00", "-50.0 %"] == [
        each.text for each in table_of(sheet(*columns, rows=[row])).rows[0][1:]
    ]
