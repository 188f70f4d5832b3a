"""The commands that take files in: one for each kind of rows, and all alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from books import book
from cardoffers_cli.kernel.cli import main
from cardoffers_cli.kernel.words.row_kinds import KINDS, RowKind
from commands import in_a_pipe
from sizes import slow
from work import new_store, tell

if TYPE_CHECKING:
    from pathlib import Path

    from click import Command

PROFILE = """
form = {delimiter = ";"}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
amount = {column = "Betrag", decimal = ","}
transaction_ref = {column = "Beleg"}
transacted_at = {column = "Datum", format = "%d.%m.%Y", zone = "Europe/Berlin"}
"""
EXPORT = "Kunde;Karte;Betrag;Beleg;Datum\nK-1;ct_1;12,50;B-1;05.03.2026\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store, in which there is an institution."""
    made = new_store(tmp_path)
    tell(made, institutions="institution plan currency\nalder growth EUR")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARDOFFERS_STORE", str(made.path))
    return tmp_path


def command_of(kind: RowKind) -> Command:
    found: Command = get_command(main.app)
    for word in kind.command.split():
        with found.make_context(word, [], resilient_parsing=True) as context:
            found = found.get_command(context, word)  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_of_rows_is_taken_with_the_same_options(kind: RowKind) -> None:
    expected, told = ([each.opts for each in command_of(of).params] for of in (KINDS[0], kind))
    assert expected == told


def test_refunds_are_taken_from_a_sheet_of_a_workbook(place: Path) -> None:
    header = ["refund_ref", "original_transaction_ref", "amount", "refunded_at"]
    rows = [header, ["RF-1", "TX-1", 12.5, "2026-03-18T13:12:54Z"]]
    (place / "book.xlsx").write_bytes(book({"Notes": [["x"]], "Back": rows, "Again": rows}))
    words = ("refund", "import", "book.xlsx", "-i", "alder", "--format", "json")
    told = in_a_pipe([*words, "--sheet", "Back"]).document
    assert (1, 1) == (told["received"], told["accepted"])
    missing = in_a_pipe([*words, "--sheet", "Front"])
    assert 14 == missing.exit_code
    assert "Front" in missing.stderr


WORDS = ("export.csv", "--profile", "bank.toml", "-i", "alder", "--format", "table")


def test_a_file_of_a_profile_is_not_taken_for_refunds(place: Path) -> None:
    (place / "bank.toml").write_text(PROFILE)
    (place / "export.csv").write_text(EXPORT)
    ended = in_a_pipe(["refund", "import", *WORDS])
    assert 14 == ended.exit_code
    assert "The file holds purchases, not refunds." in ended.stderr
    assert 'negatives = "refund"' in ended.stderr


@slow
@pytest.mark.parametrize("command", ["import", "simulate"])
def test_a_file_is_read_by_the_profile_that_its_institution_keeps(
    place: Path, command: str
) -> None:
    (place / "bank.toml").write_text(PROFILE)
    (place / "export.csv").write_text(EXPORT)
    words = (command, "export.csv", "-i", "alder", "--format", "json")
    assert 14 == in_a_pipe(words).exit_code
    in_a_pipe(["institution", "set", "alder", "--profile", "bank.toml"])
    ended = in_a_pipe(words)
    assert 1 == ended.document["accepted"]
    assert "Read by the profile that alder keeps; --no-profile reads our own" in ended.stderr
    assert 14 == in_a_pipe([*words, "--no-profile"]).exit_code


def test_purchases_and_the_refunds_among_them_are_told_apart(place: Path) -> None:
    (place / "bank.toml").write_text(f'negatives = "refund"\n{PROFILE}')
    (place / "export.csv").write_text(f"{EXPORT}K-1;ct_1;-2,50;B-2;06.03.2026\n")
    ended = in_a_pipe(["import", *WORDS])
    assert 3 == ended.exit_code
    for told in (
        "1 row is a refund, as the profile says: an import takes them as such",
        "export.csv: not all good. 1 of 2 rows can be taken (1 invalid);",
        "0 of 1 can earn: the file names no merchant.",
        "export.csv:3: original_missing",
        "export.csv: 1 purchase taken, 12.50 EUR.",
        "export.csv: 0 refunds taken, 0.00 EUR.",
    ):
        assert told in ended.stdout


DOORS = [
    ("validate", "export.csv"),
    ("validate", "export.csv", "--profile", "bank.toml"),
    ("profile", "convert", "export.csv", "--profile", "bank.toml", "-o", "out.csv"),
    ("import", "export.csv", "-i", "alder"),
    ("import", "export.csv", "--profile", "bank.toml", "-i", "alder"),
]


@pytest.mark.parametrize("door", DOORS, ids=" ".join)
def test_a_last_line_without_its_end_is_refused_unless_somebody_vouches_for_it(
    place: Path, door: tuple[str, ...]
) -> None:
    (place / "bank.toml").write_text(PROFILE)
    own = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at\n"
    row = f"{'c' * 32},ct_1,M1,12.50,B-1,2026-03-05T12:00:00Z"
    cut = EXPORT.rstrip("\n") if "bank.toml" in door else own + row
    (place / "export.csv").write_text(cut)
    cut_off = in_a_pipe([*door, "--format", "json"])
    assert (3, 1) == (cut_off.exit_code, cut_off.document["invalid"])
    vouched = in_a_pipe([*door, "--format", "json", "--allow-unterminated"])
    assert (0, 0) == (vouched.exit_code, vouched.document["invalid"])
