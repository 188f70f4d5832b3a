"""Hostile names, through everything that shows data: they do nothing, and nothing of them is lost.

The names are those of `hostile.py`. What the importers refuse is asserted to be refused; a store
holds it here all the same.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastexcel
import polars as pl
import pytest
from rich.cells import cell_len

from cardoffers_cli.kernel.words.visible import visible
from commands import in_a_pipe, on_a_screen
from hostile import (
    ACTS,
    CARDHOLDER,
    CODES,
    FORMULA,
    LET_IN,
    NAMES,
    OF_PROGRAMS,
    OF_SPREADSHEETS,
    REFUSED,
    hostile_store,
    offer_of,
    redemption_of,
)
from sizes import one_in
from tables import uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from commands import Ended

COLUMNS = 80
TEXTS = ("table", "tsv", "csv", "json", "jsonl", "md", "html")
AS_OF = ("--as-of", "2026-06-01T13:00:00Z")

REVERSED = offer_of(NAMES["colour"])
LINES = {
    "why": f"why {REVERSED} -i alder",
    "why a code": "why =1+1 -i alder",
    "why all": "why --file refs.txt -i alder",
    "why all, plain": "why --file refs.txt -i alder --plain",
    "why all, plain, es": "why --file refs.txt -i alder --plain --locale es",
    "timeline": f"timeline {REVERSED} -i alder",
    "timeline of a code": "timeline =1+1 -i alder",
    "find": "find -i alder --ref *",
    "find rejects": "find -i alder --state rejected",
    "find duplicates": "find -i alder --state duplicate_conflict",
    "redemption": "redemption show ID",
    "redemptions": "report redemptions",
    "redemptions by offer": "report redemptions --by offer",
    "redemptions by merchant": "report redemptions --by merchant",
    "settlements": "report settlements",
    "unresolved": "report unresolved",
    "funnel by offer": "report funnel -i alder --by offer",
    "offers": "offer list -i alder",
    "offer": f"offer show {offer_of(NAMES['C1'])}",
    "institution": "institution show alder",
}
RAW = [name for name, line in LINES.items() if line.startswith(("find", "report"))]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return hostile_store(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def words(made: Job, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a line's words, at the place of the store; ID is of the reversed redemption."""
    monkeypatch.chdir(made.path.parent)
    refs = [*map(offer_of, NAMES.values()), *CODES.values(), "nobody"]
    (made.path.parent / "refs.txt").write_text("\n".join(refs))
    redemption = redemption_of(made, REVERSED)

    def ask(name: str, *more: object) -> list[object]:
        line = LINES[name].replace("ID", redemption)
        return [*line.split(), *more, "--store", made.path, *AS_OF]

    return ask


def harmless(ended: Ended) -> None:
    assert not ACTS.search(ended.stdout.replace("\t", " ") + ended.stderr)
    assert CARDHOLDER not in ended.stdout + ended.stderr


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("name", LINES)
@one_in(13)
def test_nothing_acts_on_a_screen(words: Any, name: str, form: str) -> None:
    shown = on_a_screen(words(name, "--format", form), columns=COLUMNS, NO_COLOR="1")
    harmless(shown)
    if form == "table":
        assert max(map(cell_len, shown.stdout.splitlines())) <= COLUMNS


@pytest.mark.parametrize("form", ["table", "tsv"])
@pytest.mark.parametrize("name", LINES)
@one_in(7)
def test_a_row_of_a_pipe_is_a_line(words: Any, name: str, form: str) -> None:
    piped = in_a_pipe(words(name, "--format", form))
    assert CARDHOLDER not in piped.stdout
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", piped.stdout)
    if form != "tsv":
        harmless(piped)
        return
    header, *rows = piped.stdout.removesuffix("\n").split("\n")
    assert {header.count("\t")} == {row.count("\t") for row in rows}
    assert not [cell for row in rows for cell in row.split("\t") if cell.startswith(FORMULA)]


@pytest.mark.parametrize("name", LINES)
@one_in(4)
def test_a_spreadsheet_runs_nothing(words: Any, name: str, tmp_path: Path) -> None:
    cells = [cell for row in rows_of(in_a_pipe(words(name, "--format", "csv"))) for cell in row]
    in_a_pipe(words(name, "-o", tmp_path / "book.xlsx"))
    book = fastexcel.read_excel(tmp_path / "book.xlsx")
    frames = [book.load_sheet(sheet).to_polars() for sheet in book.sheet_names]
    cells += [cell for frame in frames for row in frame.rows() for cell in map(str, row)]
    assert not [cell for cell in cells if cell.startswith(FORMULA)]


@pytest.mark.parametrize("name", RAW)
@one_in(3)
def test_raw_cells_are_exact(words: Any, name: str, tmp_path: Path) -> None:
    in_a_pipe(words(name, "-o", tmp_path / "all.parquet"))
    frame = pl.read_parquet(tmp_path / "all.parquet")
    texts = [column for column, kind in frame.schema.items() if kind == pl.String]
    header, *rows = rows_of(in_a_pipe(words(name, "--format", "csv", "--raw")))
    for column in texts:
        assert frame[column].fill_null("").to_list() == [row[header.index(column)] for row in rows]


def rows_of(ended: Ended) -> list[list[str]]:
    return list(csv.reader(io.StringIO(ended.stdout, newline="")))


def test_every_name_is_there_letter_for_letter(words: Any, tmp_path: Path) -> None:
    shops = {*NAMES.values(), *(f"shop of {name}" for name in CODES)}
    (document,) = [json.loads(in_a_pipe(words("redemptions by offer", "--format", "json")).stdout)]
    assert shops == {row["title"] for row in document["data"]}
    assert shops == {row["merchant_name"] for row in document["data"]}
    assert set(CODES.values()) < {row["offer_id"] for row in document["data"]}
    in_a_pipe(words("offers", "-o", tmp_path / "offers.parquet"))
    assert shops == set(pl.read_parquet(tmp_path / "offers.parquet")["title"])
    codes = json.loads(in_a_pipe(words("find", "--format", "json", "--limit", 1000)).stdout)["data"]
    assert set(CODES.values()) < {row["transaction_ref"] for row in codes}


def test_every_name_can_be_read_on_a_screen(words: Any) -> None:
    shown = on_a_screen(words("offers"), columns=COLUMNS, NO_COLOR="1").stdout
    letters = "".join(shown.split())
    table = in_a_pipe(words("offers", "--format", "table")).stdout
    for name in NAMES.values():
        assert visible(name) in table
        words_of_name = [word for word in visible(name).split() if len(word) <= 20]
        assert [] == [word for word in words_of_name if word not in letters]


def test_a_workbook_holds_the_names(words: Any, tmp_path: Path) -> None:
    in_a_pipe(words("redemptions by offer", "-o", tmp_path / "book.xlsx"))
    frame = fastexcel.read_excel(tmp_path / "book.xlsx").load_sheet(0).to_polars()
    titles = set(frame["title"])
    assert {name for name in LET_IN.values() if not name.startswith(FORMULA)} <= titles
    assert {f"'{name}" for name in LET_IN.values() if name.startswith(FORMULA)} <= titles


@pytest.mark.parametrize(
    "line",
    ["why -i alder", "timeline -i alder", "find -i alder --merchant", "offer show", "status -i"],
)
@pytest.mark.parametrize("name", REFUSED)
@one_in(13)
def test_what_somebody_types_is_told_back_harmless(made: Job, line: str, name: str) -> None:
    ended = on_a_screen(["--store", made.path, *line.split(), NAMES[name]], NO_COLOR="1")
    assert ended.exit_code in {0, 2, 5}
    harmless(ended)


@pytest.mark.parametrize(
    "line",
    [
        *("why -i alder", "why -i alder --plain", "timeline -i alder", "find -i alder --ref"),
        *("redemption show", "payout show", "refund show", "webhook show", "merchant evidence"),
        *("find -i alder --merchant", "statement show", "bank list --statement", "key show"),
    ],
)
@one_in(4)
def test_a_word_that_is_no_text_is_a_mistake_in_what_was_typed(made: Job, line: str) -> None:
    ended = on_a_screen(["--store", made.path, *line.split(), "\udcff"], NO_COLOR="1")
    assert ended.exit_code in {2, 5}, ended
    harmless(ended)


@pytest.mark.parametrize("name", REFUSED)
@one_in(3)
def test_an_operator_cannot_name_an_institution_so(
    made: Job, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(made.path.parent)
    ended = in_a_pipe(["institution", "set", "alder", "--name", NAMES[name], "--store", made.path])
    assert 2 == ended.exit_code
    assert re.search(r"\nHint: [A-Z].+\.\n$", ended.stderr)
    harmless(ended)


# What comes in

MERCHANT = {"merchant_id": str(uid("shop")), "name": "Shop", "category": "food"}
OFFER = {
    "offer_id": "A",
    "merchant_id": str(uid("shop")),
    "title_en": "Bread",
    "min_spend": "1",
    "cashback_amount": "1",
    "currency": "GBP",
    "starts_at": "2026-01-01",
    "expires_at": "2027-01-01",
}
INSTITUTION = {
    "slug": "alder",
    "name": "Alder",
    "plan": "growth",
    "currency": "GBP",
    "languages": "en",
    "max_active_offers": "9",
    "widget_limit": "9",
}
IDENTIFIER = {"merchant_id": str(uid("shop")), "merchant_identifier": "M1"}
EVENT = {
    "cardholder_token": CARDHOLDER,
    "card_token": "card",
    "card_acceptor_id": "M1",
    "amount": 1,
    "transaction_ref": "1",
    "transacted_at": "2026-06-01T12:00:00Z",
}
LONG = {"ten thousand letters", "ten thousand wide letters"}
PLACES = {
    "merchants name": (MERCHANT, set()),
    "merchants category": (MERCHANT, set()),
    "offers title_en": (OFFER, set()),
    "offers description_en": (OFFER, set()),
    "institutions name": (INSTITUTION, set()),
    "merchant_identifiers merchant_identifier": (IDENTIFIER, set()),
    "transactions merchant_descriptor": (EVENT, LONG),
    "transactions card_acceptor_id": (EVENT, LONG),
}
"""Where names come in: the rest of the row, and what is let in there that others refuse."""


def of_a_spreadsheet(text: str) -> bool:
    return text.startswith(OF_SPREADSHEETS) or text != text.strip() or text in OF_PROGRAMS


@pytest.mark.parametrize("place", PLACES)
@one_in(2)
def test_an_importer_refuses_what_acts_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    row, let_in = PLACES[place]
    expected = [
        name
        for name, text in NAMES.items()
        if (name in REFUSED and name not in let_in)
        or (place == "transactions card_acceptor_id" and of_a_spreadsheet(text))
    ]
    assert expected == refused(place, row, NAMES)


@pytest.mark.parametrize(
    ("place", "row"), [("transactions transaction_ref", EVENT), ("offers offer_id", OFFER)]
)
def test_a_code_is_visible_ascii(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, row: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    spoilt = OF_SPREADSHEETS if row is EVENT else ()
    changed = [name for name, text in CODES.items() if text.startswith(spoilt)]
    assert changed == refused(place, row, CODES)
    expected = [
        name
        for name, text in NAMES.items()
        if text.startswith(spoilt)
        or not re.fullmatch("[!-~]{1,128}", text)
        or (row is EVENT and text == "null")
    ]
    assert expected == refused(place, row, NAMES)


def refused(place: str, row: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Send a row with each name there; return the names that were found at fault."""
    file, column = place.split()
    Path(f"{file}.json").write_text(json.dumps([{**row, column: text} for text in names.values()]))
    verb = ["validate"] if file == "transactions" else ["catalog", "import"]
    in_a_pipe(["init"])
    in_a_pipe([*verb, f"{file}.json", "--errors", "errors.csv", *AS_OF])
    with Path("errors.csv").open(newline="") as report:
        at_fault = {
            int(finding.get("line") or finding["index"])
            for finding in csv.DictReader(report)
            if (finding["column"], finding["level"]) == (column, "error")
        }
    return [name for number, name in enumerate(names) if number in at_fault]
