"""A workbook, read back: what its cells are, and what its worksheets look like."""

from __future__ import annotations

import io
import re
import zipfile
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastexcel
import pytest

from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.workbooks import write_xlsx
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import parse_moment
from sizes import at_the_gate

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = (
    Column("ref"),
    Column("day", kind="date"),
    Column("created_at", kind="moment"),
    Column("currency"),
    Column("payout", kind="money"),
)
ROW = {
    "ref": "000042",
    "day": "2026-06-01",
    "created_at": parse_moment("2026-06-01T12:00:00.250Z"),
    "currency": "GBP",
    "payout": Decimal("1.5000"),
}
MIDNIGHT = parse_moment("2026-06-01")
"""How a workbook has a date."""


def written(*sheets: Sheet) -> bytes:
    out = io.BytesIO()
    write_xlsx(sheets, out)
    return out.getvalue()


def rows(book: bytes, sheet: str) -> list[dict[str, Any]]:
    return fastexcel.read_excel(book).load_sheet(sheet).to_polars().to_dicts()


def worksheet(book: bytes) -> str:
    """Return the XML of the first worksheet."""
    return zipfile.ZipFile(io.BytesIO(book)).read("xl/worksheets/sheet1.xml").decode()


def test_cells_are_what_they_mean() -> None:
    (row,) = rows(written(Sheet("paid", COLUMNS, [ROW])), "paid")
    expected = {**ROW, "day": MIDNIGHT, "payout": 1.5}
    assert expected == row
    assert list(map(type, expected.values())) == list(map(type, row.values()))


def test_a_date_that_is_missing_is_an_empty_cell() -> None:
    book = written(Sheet("paid", COLUMNS, [ROW, {**ROW, "day": None}]))
    assert [MIDNIGHT, None] == [row["day"] for row in rows(book, "paid")]


def test_the_header_stays_and_ids_are_no_errors() -> None:
    xml = worksheet(written(Sheet("paid", COLUMNS, [ROW])))
    assert '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' in xml
    assert '<ignoredError sqref="A1:XFD1048576" numberStoredAsText="1"/>' in xml


@pytest.mark.parametrize(
    ("narrower", "wider"), [("1", "x" * 20), ("x" * 20, "x" * 40), ("x" * 40, "x" * 60)]
)
def test_columns_are_as_wide_as_their_cells(narrower: str, wider: str) -> None:
    assert width_of(narrower) < width_of(wider)


def test_a_column_is_no_wider_than_a_screen() -> None:
    assert width_of("x" * 60) == width_of("x" * 10_000)


def test_a_column_is_as_wide_as_its_name() -> None:
    assert width_of("", "merchant_funded_amount") > len("merchant_funded_amount")


def width_of(text: str, name: str = "a") -> float:
    xml = worksheet(written(Sheet("wide", (Column(name),), [{name: text}])))
    found = re.search(r'<col min="1" max="1" width="([0-9.]+)"', xml)
    assert found
    return float(found[1])


def test_totals_are_a_worksheet_of_their_own() -> None:
    paid = [
        {"currency": "GBP", "payout": Decimal("1.50")},
        {"currency": "JPY", "payout": Decimal(200)},
        {"currency": "GBP", "payout": Decimal("-0.25")},
        {"currency": "GBP", "payout": None},
    ]
    book = written(Sheet("paid", COLUMNS, (row for row in paid), totals_by=("currency",)))
    assert ["paid", "paid totals"] == fastexcel.read_excel(book).sheet_names
    assert 4 == len(rows(book, "paid"))
    assert [
        {"currency": "GBP", "rows": 3, "payout": 1.25},
        {"currency": "JPY", "rows": 1, "payout": 200},
    ] == rows(book, "paid totals")


def test_totals_are_kept_apart_by_what_the_sheet_names() -> None:
    paid = [
        {"status": status, "currency": "GBP", "payout": Decimal(amount)}
        for status, amount in (("settled", 1), ("pending", 2), ("settled", 4))
    ]
    columns = (Column("status"), *COLUMNS[3:])
    book = written(Sheet("paid", columns, paid, totals_by=("status", "currency")))
    assert [("pending", 1, 2), ("settled", 2, 5)] == [
        (row["status"], row["rows"], row["payout"]) for row in rows(book, "paid totals")
    ]


def test_a_formula_is_guarded_in_totals_too() -> None:
    paid = [{"status": "=1+1", "payout": Decimal(1)}]
    columns = (Column("status"), Column("payout", kind="money"))
    (total,) = rows(written(Sheet("paid", columns, paid, totals_by=("status",))), "paid totals")
    assert "'=1+1" == total["status"]


def test_totals_of_no_rows_are_none() -> None:
    book = written(Sheet("paid", COLUMNS, [], totals_by=("currency",)))
    assert [] == rows(book, "paid totals")


def test_a_total_that_a_double_cannot_hold_is_text() -> None:
    most = {"currency": "GBP", "payout": Decimal("99999999999999.99")}
    book = written(Sheet("paid", COLUMNS, [most, most], totals_by=("currency",)))
    assert "199999999999999.98" == rows(book, "paid totals")[0]["payout"]


def test_a_long_name_leaves_room_for_what_it_is() -> None:
    book = written(Sheet("n" * 40, COLUMNS, [ROW], totals_by=("currency",)))
    assert ["n" * 31, "n" * 24 + " totals"] == fastexcel.read_excel(book).sheet_names


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param(
            ({"a": "x"} for _ in range(1_048_576)), "more rows", marks=at_the_gate
        ),  # which takes seconds
        ([{"a": "x" * 32_768}], "a longer text"),
    ],
)
def test_what_a_worksheet_cannot_hold_is_said(tmp_path: Path, rows: object, problem: str) -> None:
    sheet = Sheet("big", (Column("a"),), rows)  # type: ignore[arg-type]
    with (
        pytest.raises(UsageError, match=f"There is {problem} than a worksheet can hold"),
        replacing(tmp_path / "out.xlsx") as out,
    ):
        write_xlsx([sheet], out)
    assert [] == list(tmp_path.iterdir())


def test_a_workbook_that_fails_leaves_no_rows_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sheet = Sheet("bad", (Column("a"),), [{"a": "x"}, {"a": "x" * 32_768}])
    with pytest.raises(UsageError):
        write_xlsx([sheet], io.BytesIO())
    assert [] == list(tmp_path.iterdir())
