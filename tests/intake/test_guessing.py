"""What a sample suggests: how near a guess comes to the layout, counted in edits of its profile."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.layouts import open_layout
from cardoffers_cli.intake.profiles.guessing import guess_layout, proposed
from cardoffers_cli.intake.profiles.reading import ProfiledFile
from cardoffers_cli.intake.transactions import FileReading
from layouts import LAYOUTS
from sizes import slow
from tables import read

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC inside the product
MOST_EDITS = 3

NO_ZONE = '# zone = "Europe/London"  # missing: the file does not say where it was made'
NO_REFERENCE = (
    '# [fields.transaction_ref]  # missing: no column seems to hold it\n# columns = ["…", "…"]'
)

Edits = list[tuple[str, str]]

MADE: dict[str, Edits] = {
    "german": [],
    "british": [],
    "brazilian": [
        ("form = ", 'drop_where = [{column = "TIPO", is = ["SAQUE", ""]}]\nform = '),
        ('column = "DOC"', 'columns = ["DOC", "SEQ"]\njoin = "-"'),
        ('column = "CNPJ"', 'column = "CNPJ"\npad = 14\nempty = ["-1"]'),
    ],
    "header behind rows": [
        (NO_ZONE, 'zone = "UTC"'),
        (NO_REFERENCE, "[fields.transaction_ref]\ncolumn = 3"),
    ],
    "no header: columns by number": [(NO_ZONE, 'zone = "Europe/Prague"')],
    "no header: columns that": [
        (NO_ZONE, 'zone = "UTC"'),
        (NO_REFERENCE, "[fields.transaction_ref]\ncolumn = 1"),
    ],
    "UTF-16": [],
    "French": [
        (NO_ZONE, 'zone = "Europe/Paris"'),
        ('thousands = " "', 'thousands = " "\nnegate = true'),
    ],
    "no quotes": [(NO_ZONE, 'zone = "UTC"'), ('";"}', '";", quote = ""}')],
    "the hours": [(NO_ZONE, 'zone = "Europe/Berlin"')],
}
"""Layouts made by hand, by the beginning of their name: the edits that a guess needs."""

PUBLISHED: dict[str, Edits] = {
    "berka_1993": [(NO_ZONE, 'zone = "UTC"')],
    "birmingham_2019_11": [("Europe/London", "UTC")],
    "cpgf_br_2024": [("America/Sao_Paulo", "UTC")],
    "fixed_width": [("Europe/London", "UTC")],
    "moj_2011": [("Europe/London", "UTC")],
    "nigrini_2010": [(NO_ZONE, 'zone = "UTC"')],
    "oxford_2017": [(NO_ZONE, 'zone = "UTC"')],
    "tabformer": [(NO_ZONE, 'zone = "UTC"')],
    "wakefield_2018_q2": [
        (NO_ZONE, 'zone = "UTC"'),
        ('column = "Seq No"', 'columns = ["Seq No", "Payment Date"]\njoin = "-"'),
    ],
}
"""Exports as published, and the edits that a guess needs: the zone is the reader's to say."""

LAYOUT_FOLDER = Path(__file__).parents[3] / "shared" / "data" / "layouts"


def rows_of(path: Path, edits: Edits) -> pl.DataFrame:
    """Read a file by the guess of its profile, mended by hand."""
    assert len(edits) <= MOST_EDITS
    guess = guess_layout(path.read_bytes(), is_whole=True)
    assert guess
    text = proposed(guess, path.name)
    for old, new in edits:
        assert 1 == text.count(old), text
        text = text.replace(old, new)
    reading = FileReading(now=NOW, profile=parse_profile(text, "P.toml"))
    with open_layout(str(path), reading) as file:
        assert isinstance(file, ProfiledFile)
        return pl.concat(file.canonical()).with_columns(pl.col("line").cast(pl.String))


@pytest.mark.parametrize("name", MADE)
def test_a_guess_is_a_few_edits_from_the_layout(name: str, tmp_path: Path) -> None:
    (layout,) = (each for each in LAYOUTS if each.name.startswith(name))
    path = tmp_path / "export"
    path.write_bytes(layout.content)
    expected = read(layout.expected)
    assert expected == rows_of(path, MADE[name]).select(*expected[0]).rows(named=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Datum;Betrag;Kunde\n01.02.2026;1,50;a\n02.02.2026;2,50;b\n", "Betrag Datum - Kunde"),
        ("date,amount,ref\n2026-02-01,1.50,a1\n2026-02-02,2.50,a2\n", "amount date ref -"),
        ("Fecha|Importe|Folio\n01/02/2026|1.50|77\n13/02/2026|2.50|78\n", "Importe Fecha Folio -"),
        ("Data;Valor;Cartão\n13/02/2026;1,50;x\n14/02/2026;2,50;y\n", "Valor Data - Cartão"),
        ("Date;Montant;Réf\n13/02/2026;1,50;9\n14/02/2026;2,50;8\n", "Montant Date Réf -"),
        (
            (
                "Posting Date,Transaction Date,VAT Amount,Gross Amount\n"
                "2026-02-03,2026-02-01,0.30,1.50\n2026-02-04,2026-02-02,0.50,2.50\n"
            ),
            "Gross+Amount Transaction+Date - -",
        ),
    ],
)
def test_columns_are_known_in_five_languages(text: str, expected: str) -> None:
    guess = guess_layout(text.encode(), is_whole=True)
    assert guess
    names = ("amount", "transacted_at", "transaction_ref", "cardholder_token")
    found = (guess.fields[name].label if name in guess.fields else "-" for name in names)
    assert expected == " ".join(each.replace(" ", "+") for each in found)


def test_days_that_are_counted_are_told_by_their_name_only() -> None:
    text = "Datum;Betrag;Umsatz-Nr\n46099;10000;46000\n46100,5;20000;46001\n46101;25000;46002\n"
    guess = guess_layout(text.encode(), is_whole=True)
    assert guess
    assert "serial" == guess.fields["transacted_at"].settings["format"]
    assert "Betrag" == guess.fields["amount"].label


def test_what_is_not_sure_is_said() -> None:
    text = "date,amount,ref\n01/02/2026,1.500,a\n03/02/2026,2.500,a\n"
    guess = guess_layout(text.encode(), is_whole=True)
    assert guess
    assert {
        "transacted_at": "unsure",
        "amount": "unsure",
        "transaction_ref": "unsure",
    } == {name: guess.fields[name].sureness for name in guess.fields}


@pytest.mark.parametrize("content", [b"", b"\n\n", b"a word\n", b"no form\nat all, here\nof any\n"])
def test_what_has_no_layout_has_no_guess(content: bytes) -> None:
    assert guess_layout(content, is_whole=True) is None


@slow
@pytest.mark.parametrize("seed", range(8))
def test_a_guess_of_anything_can_be_read_as_a_profile(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    damage = [b'"', b"\n", b"\x00", b";", b"\r", b"\xff", b"(", b"-", b"1", b"x" * 150_000]
    for _ in range(15):
        content = bytearray(chance.choice(LAYOUTS).content * chance.choice([1, 9]))
        for _ in range(chance.choice([0, 1, 5, 60])):
            place = chance.randrange(len(content))
            content[place : place + chance.choice([0, 1, 3])] = chance.choice(damage)
        guess = guess_layout(bytes(content), is_whole=chance.random() < 0.5)
        if guess:
            parse_profile(proposed(guess, 'a\n"name'), "P.toml")


def test_a_guess_does_without_what_is_heavy() -> None:
    code = (
        "import sys; from cardoffers_cli.intake.profiles.guessing import guess_layout; "
        "print([name for name in ('polars', 'pydantic', 'duckdb') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == ended.stdout.strip()


@slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_export_means_what_its_rows_say(name: str) -> None:
    folder = LAYOUT_FOLDER / name
    if not folder.is_dir():
        pytest.skip("the published exports are not here")
    (path,) = folder.glob("export.*")
    rows = rows_of(path, PUBLISHED[name])
    expected = pl.read_csv(folder / "expected.csv", infer_schema=False)
    found = rows.select(
        pl.col("line").alias("row_line"),
        pl.col("amount").cast(pl.Decimal(18, 2)).cast(pl.String),
        _local(expected, rows),
        *_reference(expected, rows),
    )
    assert expected.select(found.columns).rows() == found.rows()


def _local(expected: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Write times as the expectation does: a date, with minutes where the file has them."""
    length = max(expected["transacted_at"].drop_nulls().str.len_chars())
    return rows["transacted_at"].str.head(length)


def _reference(expected: pl.DataFrame, rows: pl.DataFrame) -> Sequence[pl.Series]:
    given = expected["reference"].drop_nulls()
    assert ("transaction_ref" in rows.columns and bool(rows["transaction_ref"].count())) == bool(
        len(given)
    )
    return [rows["transaction_ref"].alias("reference")] if len(given) else []
