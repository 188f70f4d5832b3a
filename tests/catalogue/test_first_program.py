"""A first program, from an empty folder: by hand in ten commands, by files, and by the example.

The ten commands are typed as `--help` shows them, word for word; only the two files that they read
are of the user's own.
"""

from __future__ import annotations

import csv
import re
import shlex
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from cardoffers_cli.catalogue.files import KINDS
from cardoffers_cli.catalogue.importing import import_catalogue
from cardoffers_cli.catalogue.writing import EXAMPLES, templates, write_templates
from cardoffers_cli.demo.help_commands import page_text
from commands import in_a_pipe
from sizes import one_in, slow
from work import found, new_store

if TYPE_CHECKING:
    from commands import Ended

TOKEN, CARD = "b7" * 32, "card-1"
FILES = {
    "tokens.txt": f"{TOKEN}\n{CARD}\n",
    "transactions.csv": "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,"
    f"transacted_at\n{TOKEN},{CARD},526101883310029,20.00,first,2026-02-03T12:00:00Z\n",
}
"""What the examples read."""

TEN = (
    "init",
    "institution add",
    "merchant add",
    "offer create",
    "offer add",
    "validate",
    "import",
    "match",
    "settle",
    "status",
)


def examples(name: str) -> list[str]:
    """Return the examples in the help of a command, as they are typed."""
    shown = in_a_pipe([*name.split(), "--help"], COLUMNS="200").stdout
    _, _, after = shown.partition("Try:\n")
    lines = re.split(r"\n(?=\S)", after)[0].replace("\\\n", " ").splitlines()
    return [" ".join(line.split()) for line in lines if line.strip().startswith("cardoffers ")]


def typed(line: str, *more: str) -> Ended:
    """Run a line as somebody types it, its standard input from a file."""
    words, _, file = line.removeprefix("cardoffers ").partition(" < ")
    stdin = Path(file).read_text() if file else ""
    return in_a_pipe([*shlex.split(words), *more], stdin=stdin)


def test_a_first_program_takes_ten_commands_as_their_help_shows_them(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    with chdir(tmp_path):
        for name in TEN:
            line = re.sub(r" --as-of \S+", "", examples(name)[0])
            at = "2026-01-15" if name == "offer add" else "2026-03-01"
            ended = typed(line, "--as-of", at, "--format", "json")
            assert 0 == ended.exit_code, (line, ended)
        redeemed = in_a_pipe(["report", "redemptions", "--format", "json"]).document["data"]
    assert ["settled"] == [row["status"] for row in redeemed]
    assert [1.50] == [row["institution_payout_amount"] for row in redeemed]


@pytest.mark.parametrize("name", TEN)
def test_every_option_of_an_example_is_explained_beside_it(name: str) -> None:
    shown = in_a_pipe([*name.split(), "--help"], COLUMNS="200").stdout
    before, _, after = shown.partition("Options:\n")
    for option in re.findall(r" (--?[a-z][a-z-]*)", " ".join(examples(name))):
        assert re.search(rf"(^|\s|,){option}\b", after), (option, before)


def test_the_front_page_leads_there(tmp_path: Path) -> None:
    with chdir(tmp_path):
        ended = in_a_pipe(["init"])
    assert "`cardoffers institution add`" in ended.stderr
    assert "institution add" in in_a_pipe(["init", "--help"]).stdout


# What is made by hand obeys the rules of files


@pytest.fixture
def bank(tmp_path: Path) -> Any:
    """Run commands on a store with an institution and a merchant; return the document or error."""
    store = ["--store", new_store(tmp_path).path, "--format", "json", "--as-of", "2026-06-01"]

    def run(line: str) -> Any:
        ended = in_a_pipe([*shlex.split(line), *map(str, store)])
        return ended.document if ended.exit_code == 0 else (ended.exit_code, ended.error["code"])

    run("institution add alder --name Alder --currency GBP")
    run("merchant add Bakery --category food --identifier M7")
    return run


OFFER = "offer create A -i alder --merchant Bakery --title T --min-spend 5 --cashback 1"


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        ((4, "institution_exists"), "institution add alder --name Alder --currency GBP"),
        ((2, "value_invalid"), "institution add 'Al der' --name Alder --currency GBP"),
        ((2, "value_invalid"), "institution add brook --name Brook --currency POUND"),
        ((2, "value_invalid"), "institution add brook --name B --currency GBP --plan silver"),
        ((2, "value_invalid"), "merchant add X --category food --id 7"),
        ((4, "merchant_exists"), "merchant add bakery --category food"),
        ((4, "identifier_exists"), "merchant add Cinema --category fun --identifier M7"),
        ((2, "value_invalid"), "merchant identify Bakery M1 --type birds"),
        ((5, "merchant_not_found"), "merchant identify Baker M1"),
        ((5, "institution_not_found"), f"{OFFER.replace('alder', 'birch')} --expires 2027-01-01"),
        ((5, "merchant_not_found"), f"{OFFER.replace('Bakery', 'Nobody')} --expires 2027-01-01"),
        ((2, "value_invalid"), f"{OFFER} --expires 2026-05-01"),
        ((2, "value_invalid"), f"{OFFER} --expires tomorrow"),
        ((2, "amount_precision"), f"{OFFER} --expires 2027-01-01 --budget 1.005"),
        ((2, "value_invalid"), f"{OFFER[:-1]}0 --expires 2027-01-01"),
    ],
)
@one_in(3)
def test_what_no_file_may_hold_is_refused(bank: Any, expected: Any, line: str) -> None:
    assert expected == bank(line)


@slow
def test_offers_come_one_behind_the_other_and_once(bank: Any) -> None:
    made = [bank(f"{OFFER} --expires 2027-01-01".replace(" A ", f" {name} ")) for name in "ABA"]
    assert [1, 2] == [each["position"] for each in made[:2]]
    assert (4, "offer_exists") == made[2]
    assert "2026-06-01T00:00:00.000Z" == made[0]["starts_at"]
    assert ["A", "B"] == [each["id"] for each in bank("offer list -i alder")]


@slow
def test_a_merchant_is_named_by_name_id_beginning_or_latest(bank: Any) -> None:
    merchant_id = bank("merchant list")[0]["merchant_id"]
    for number, name in enumerate(("BAKERY", merchant_id, merchant_id[:6], "latest")):
        made = bank(f"merchant identify '{name}' M{number}")
        assert f"card_acceptor:M{number}" == made["identifiers"][number + 1]
    bank(f"merchant add bakery --category food --id {uuid4()}")
    assert (2, "merchant_ambiguous") == bank("merchant identify Bakery M9")


# Templates


@slow
def test_the_templates_are_imported_as_they_are_and_their_purchase_redeems(tmp_path: Path) -> None:
    with chdir(tmp_path):
        for line in (
            "init",
            "catalog template mine",
            "catalog import mine",
            "import mine/transactions.csv -i example-bank",
            "match",
        ):
            ended = in_a_pipe([*line.split(), "--format", "json"])
            assert 0 == ended.exit_code, ended
        assert 1 == ended.document["redeemed"]


def test_there_is_a_template_of_every_kind_with_every_column() -> None:
    made = templates()
    assert {*(f"{kind}.csv" for kind in KINDS), "transactions.csv"} == made.keys()
    for name, kind in KINDS.items():
        (row,) = csv.DictReader(made[f"{name}.csv"].splitlines())
        assert list(kind.names) == list(row)
        assert all(row[column] for column in kind.required)
        assert EXAMPLES[name].items() <= row.items()


def test_a_template_is_never_written_over_something(tmp_path: Path) -> None:
    (tmp_path / "offers.csv").write_text("mine")
    words = ["catalog", "template", tmp_path, "--store", tmp_path / "none.duckdb"]
    ended = in_a_pipe([*words, "--format", "json"])
    assert (4, "file_exists") == (ended.exit_code, ended.error["code"])
    assert ["offers.csv"] == [path.name for path in tmp_path.iterdir()]


def test_a_store_begins_with_the_example(tmp_path: Path) -> None:
    with chdir(tmp_path):
        made = in_a_pipe(["init", "--example", "--format", "json"]).document
        assert 7 == made["example"]["new"]
    assert ["cardoffers.duckdb"] == [path.name for path in tmp_path.glob("*.duckdb")]


@slow
def test_the_example_changes_nothing_the_second_time(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    write_templates(tmp_path / "mine")
    import_catalogue(made, tmp_path / "mine")
    again = import_catalogue(made, tmp_path / "mine")
    assert (7, 0) == (again["same"], again["rejected"])
    assert [("Example Bank",)] == found(made, "select name from institutions")


def test_the_help_of_files_has_every_column_of_every_kind() -> None:
    page = page_text("files")
    for name, kind in KINDS.items():
        part = page.partition(f"## `{name}`\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `([^`]+)` \| (yes|no)", part, re.MULTILINE)
        assert [
            (column.name, "no" if column.optional else "yes") for column in kind.columns
        ] == rows
