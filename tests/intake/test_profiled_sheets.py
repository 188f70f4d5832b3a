"""Sheets in an institution's own layout: what is guessed of one, and how a profile reads it."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

import polars as pl
import pytest

from books import MOMENT, MONEY, Xml, book
from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.profiles.guessing import proposed
from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.questions import guessed, shown_profile
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from tables import read

if TYPE_CHECKING:
    from pathlib import Path

    from books import Cell

NOW = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC inside the product
PROFILE = """
form = {sheet = "Umsatz"}
skip_lines = 2
[fields]
amount = {column = "Betrag", decimal = ",", thousands = "."}
transacted_at = {column = "Kaufdatum", format = "%Y-%m-%d %H:%M:%S", zone = "Europe/Berlin"}
transaction_ref = {column = "Beleg"}
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
"""
HOLDER = "9fb6f85a8aac50e20c422cac18b44258"


def row(reference: str, at: str, amount: Cell) -> list[Cell]:
    return [reference, Xml(at, style=MOMENT), amount, HOLDER, f"ct_{reference}", None]


SHEET: list[list[Cell]] = [
    ["Umsatzliste März 2026"],
    [],
    ["Beleg", "Kaufdatum", "Betrag", "Kunde", "Karte", "Notiz"],
    row("B-1", "46099.5", 12.5),
    row("B-2", "46100.25", Xml("1234.5", style=MONEY)),
    row("B-3", "46101.75", "1.234,56"),
    [],
    row("B-4", "46102", 1.125),
]
BOOK = book({"Deckblatt": [["Bank"]], "Umsatz": SHEET})
EXPECTED = """
line amount  transacted_at         transaction_ref
4    12.5    2026-03-18T11:00:00Z  B-1
5    1234.5  2026-03-19T05:00:00Z  B-2
6    1234.56 2026-03-20T17:00:00Z  B-3
8    1.125   2026-03-20T23:00:00Z  B-4
"""


def opened(folder: Path, profile: str, content: bytes = BOOK) -> ProfiledFile:
    path = folder / "export.xlsx"
    path.write_bytes(content)
    reading = FileReading(now=NOW, profile=parse_profile(profile, "P.toml"))
    file = open_layout(str(path), reading)
    assert isinstance(file, ProfiledFile)
    return file


def test_its_profile_is_listed_with_the_sheet() -> None:
    assert "sheet Umsatz" == shown_profile(parse_profile(PROFILE, "P.toml"), "P.toml").form


@pytest.mark.parametrize("sheet", ['"Umsatz"', '"UMSATZ"', "2", '"2"'])
def test_a_sheet_means_what_its_profile_says(tmp_path: Path, sheet: str) -> None:
    expected = read(EXPECTED)
    with opened(tmp_path, PROFILE.replace('"Umsatz"', sheet)) as file:
        found = pl.concat(file.canonical()).with_columns(pl.col("line").cast(pl.String))
    assert expected == found.select(*expected[0]).rows(named=True)


def test_an_amount_of_three_decimals_is_not_taken_for_thousands(tmp_path: Path) -> None:
    with opened(tmp_path, PROFILE) as file:
        found = pl.concat(chunk.findings for chunk in file.chunks())
    errors = found.filter(pl.col("level") == "error").select("line", "column", "code")
    assert [(8, "amount", "amount_precision")] == errors.rows()


def test_what_is_copied_apart_is_read_by_the_profile_again(tmp_path: Path) -> None:
    rejected = BytesIO()
    with opened(tmp_path, PROFILE) as file:
        lines = pl.concat(chunk.rejected for chunk in file.chunks())
        file.split(lines, None, rejected)
    with opened(tmp_path, PROFILE, rejected.getvalue()) as again:
        assert ["1.125"] == pl.concat(again.canonical())["amount"].to_list()


def test_what_is_guessed_of_a_sheet_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "export.xlsx"
    path.write_bytes(BOOK)
    guess = guessed(str(path))
    told = "6 columns of the sheet Umsatz, the header on line 3; it seems to have amount in Betrag"
    assert told == guess.told()[: len(told)]
    profile = proposed(guess, "export.xlsx")
    assert ['form = {sheet = "Umsatz"}', "skip_lines = 2"] == sorted(
        line for line in profile.splitlines() if line.startswith(("form =", "skip", "enc"))
    )
    with opened(tmp_path, profile) as file:
        rows = pl.concat(file.canonical()).select("amount", "transacted_at", "transaction_ref")
    with_text = EXPECTED.replace("1234.56", "?")  # in a column of numbers, which have a point
    assert pl.DataFrame(read(with_text)).select(rows.columns).rows() == rows.rows()


@pytest.mark.parametrize(
    ("profile", "content", "code", "said"),
    [
        (PROFILE.replace("Umsatz", "Absatz"), BOOK, "sheet_missing", "Deckblatt, Umsatz"),
        (PROFILE.replace('sheet = "Umsatz"', 'delimiter = ";"'), BOOK, "file_binary", "{sheet = "),
        (PROFILE.replace("lines = 2", "lines = 0"), BOOK, "header_column_missing", ""),
        (PROFILE.replace("lines = 2", "lines = 900"), BOOK, "header_missing", "skip_lines"),
        (PROFILE, BOOK[:900], "file_binary", "CSV"),
    ],
)
def test_a_sheet_that_is_not_as_the_profile_says_is_refused(
    tmp_path: Path, profile: str, content: bytes, code: str, said: str
) -> None:
    with pytest.raises(FileUnusable) as error, opened(tmp_path, profile, content) as file:
        list(file.chunks())
    assert (code, True) == (error.value.code, said in (error.value.hint or ""))


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ('form = {sheet = "a", delimiter = ","}\n[fields]', "one of delimiter, widths and sheet"),
        ('form = {sheet = "a", widths = [3]}\n[fields]', "one of delimiter, widths and sheet"),
        ("form = {sheet = 0}\n[fields]", "form.sheet"),
        ('form = {sheet = ""}\n[fields]', "at least 1 character"),
        ('encoding = "latin-1"\nform = {sheet = "a"}\n[fields]', "a sheet has no encoding"),
        ("form = {}\n[fields]", "one of delimiter, widths and sheet"),
    ],
)
def test_a_profile_of_a_sheet_that_cannot_be_is_refused(profile: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_profile(profile, "P.toml")
    assert said in error.value.message
