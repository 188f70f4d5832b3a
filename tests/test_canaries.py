"""Planted canaries: no full token, card number, address or row text leaves by any door.

Every canary holds the word `kanarie` in its middle, or is a card number; both are looked for in all
that every command writes, in every format, with `--debug`, and with files that cannot be read. The
copies of rows that `--valid` and `--rejected` make are the rows themselves and not looked at.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl
import pytest
from typer.testing import CliRunner

from cardoffers_cli.kernel.cli import main
from commands import cardoffers
from sizes import GATE, slow

if TYPE_CHECKING:
    from pathlib import Path

CARD_NUMBERS = ("4111111111111111", "5555555555554444", "378282246310005", "6011000990139424")
WRITTEN_APART = ("4111 1111 1111 1111", "4111-1111-1111-1111")
ADDRESS = "kanarie@example.com"
TOKEN = "ch_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"  # noqa: S105 - a token of a test
CARD = "ct_9f8e7d6c5b4a3kanarie0f1e2d3c4b5a6"
CANARY = re.compile("|".join(["kanarie", *CARD_NUMBERS, *WRITTEN_APART]).encode(), re.IGNORECASE)
FORMATS = ("table", "json", "xlsx")
VERBS = ("simulate", "import")
if GATE:
    VERBS += ("import",)
    FORMATS += ("tsv", "csv", "jsonl", "md", "html", "parquet")

HEADER = (
    "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at,"
    "merchant_descriptor,instrument_type,merchant_id,note"
)
AT = "2026-05-01T12:00:00Z"
GOOD = [f"{TOKEN},{CARD},M1,20.00,ref-{n},{AT},kanarie shop,card,,kanarie" for n in range(3)]
BAD = [
    *(f"{number},{CARD},M1,20.00,{number},{AT},,,," for number in CARD_NUMBERS),
    *(f"{TOKEN},{number},M1,20.00,{number},{AT},,,," for number in CARD_NUMBERS),
    *(f"{TOKEN},{number},M1,20.00,{number},{AT},,,," for number in WRITTEN_APART),
    f"{ADDRESS},{CARD},M1,20.00,{ADDRESS},{AT},,,,",
    f"{TOKEN},{ADDRESS},M1,20.00,bad-c,{AT},,,,",
    f"{TOKEN} kanarie,{CARD},M1,20.00,bad-d,{AT},,,,",
    f"{TOKEN},{CARD},M1,kanarie 20,bad-e,{AT},,,,",
    f"{TOKEN},{CARD},M1,4111111111111111,bad-f,{AT},,,,",
    f"{TOKEN},{CARD},M1,20.00,bad-g,kanarie,,,,",
    f"{TOKEN},{CARD},M1,20.00,bad-h,{AT},kanarie,kanarie,kanarie,",
    f'{TOKEN},"kanarie,M1,20.00,bad-i,{AT},,,,',
    f"{TOKEN},{CARD},M1,20.00,kanarie bad ref é,{AT},,,,",
    f"{TOKEN},{CARD},M1,20.00,bad-j,{AT},kanarie\x07,,,",
    f"{TOKEN},{CARD},kanarie",
    f"{TOKEN},{CARD},M1,21.00,ref-1,{AT},,,,",
]


CREDIT_HEADER = (
    "redemption_id,transaction_ref,amount,status,credited_at,failure_code,credit_ref,note"
)
CREDITED = [
    f",ref-1,2.50,credited,{AT},,credit-1,kanarie",
    *(f"{number},ref-1,2.50,credited,{AT},,credit-a,kanarie" for number in CARD_NUMBERS),
    *(f",{number},2.50,credited,{AT},,credit-b," for number in CARD_NUMBERS),
    *(f",ref-1,2.50,failed,{AT},{number},credit-c," for number in CARD_NUMBERS + WRITTEN_APART),
    *(f",ref-1,2.50,credited,{AT},,{number}," for number in CARD_NUMBERS),
    f",ref-1,kanarie,kanarie,kanarie,,credit-d,{ADDRESS}",
]


def transactions(rows: list[str]) -> bytes:
    return "\n".join([HEADER, *rows, ""]).encode()


def as_json(*items: object) -> bytes:
    return json.dumps(items).encode()


EVENT = {
    "cardholder_token": TOKEN,
    "card_token": CARD,
    "amount": 20,
    "transaction_ref": "json-1",
    "transacted_at": AT,
}
FILES = {
    "clean.csv": transactions(GOOD),
    "dirty.csv": transactions([*GOOD, *BAD]),
    "credited.csv": "\n".join([CREDIT_HEADER, *CREDITED, ""]).encode(),
    "dirty.csv.gz": gzip.compress(transactions([*GOOD, *BAD])),
    "dirty.json": as_json(
        EVENT,
        {**EVENT, "transaction_ref": "json-2", "card_token": CARD_NUMBERS[0]},
        {**EVENT, "transaction_ref": "json-3", "amount": "kanarie"},
        {**EVENT, "transaction_ref": "json-4", "institution_id": "kanarie"},
        {**EVENT, "transaction_ref": ADDRESS, "transacted_at": "kanarie"},
        "kanarie",
        ["kanarie", CARD_NUMBERS[0]],
    ),
    "dirty.jsonl": b"\n".join(
        [
            json.dumps(EVENT).encode(),
            b'{"cardholder_token": "kanarie", "cardholder_token": "4111111111111111"}',
            b'{"kanarie": 1, "kanarie": 2}',
            b'{"amount": kanarie, 4111111111111111',
            b'"kanarie"',
        ]
    ),
}
UNUSABLE = {
    "empty.csv": b"",
    "headless.csv": "\n".join(GOOD).encode(),
    "numbers.csv": f"{CARD_NUMBERS[0]},{ADDRESS},kanarie\n".encode(),
    "semicolons.csv": transactions(GOOD).replace(b",", b";"),
    "doubled.csv": f"amount,amount\n{TOKEN},{CARD_NUMBERS[0]}\n".encode(),
    "wide.csv": transactions(GOOD).decode().encode("utf-16"),
    "latin.csv": b"\xe9kanarie,amount\n" + transactions(GOOD),
    "sheet.csv": b"PK\x03\x04kanarie" + transactions(GOOD),
    "broken.json": json.dumps({"transactions": [EVENT]}).encode()[:-9]
    + b"kanarie 4111111111111111",
    "root.json": json.dumps({"kanarie": [EVENT]}).encode(),
    "text.json": b'"kanarie 4111111111111111"',
    "cut.csv.gz": gzip.compress(transactions(GOOD))[:-9],
    "flipped.csv.gz": gzip.compress(transactions(GOOD))[:-8] + b"kanarie!",
}
CATALOGUE = {
    "institutions.csv": "slug,name,plan,currency,languages,max_active_offers,widget_limit\n"
    "alder,Alder,growth,GBP,en,9,9\n",
    "merchants.csv": "merchant_id,name,category\n"
    "9c4e1852-991b-5a75-a73e-d9ba1d2b977c,Bakery,food\n",
    "merchant_identifiers.csv": "merchant_id,merchant_identifier_type,merchant_identifier\n"
    "9c4e1852-991b-5a75-a73e-d9ba1d2b977c,card_acceptor,M1\n",
    "offers.csv": "offer_id,merchant_id,title_en,min_spend,cashback_amount,currency,starts_at,"
    "expires_at\n"
    "A,9c4e1852-991b-5a75-a73e-d9ba1d2b977c,Bread,1.00,1.00,GBP,2026-01-01,2027-01-01\n",
    "program_offers.csv": "institution,offer_id,position\nalder,A,1\n",
    "links.csv": "institution,cardholder_token,card_token,offer_id,added_at\n"
    f"alder,{TOKEN},{CARD},A,2026-02-01\n"
    f"alder,{CARD_NUMBERS[0]},{CARD},A,2026-02-01\n"
    f"alder,{TOKEN}x,{CARD_NUMBERS[1]},A,2026-02-01\n"
    f"alder,{ADDRESS},{CARD},A,2026-02-01\n"
    f"alder,{TOKEN},{CARD}x,A,2026-02-02\n"
    f"alder,{TOKEN}y,{CARD},A,kanarie\n"
    f"alder,{TOKEN}z,{CARD},kanarie,2026-02-01\n"
    f"kanarie,{TOKEN},{CARD},A,2026-02-01\n",
    "engagement.csv": "institution,cardholder_token,event,offer_id,occurred_at\n"
    f"alder,{TOKEN},widget_view,,2026-05-20\n"
    f"alder,{TOKEN},offer_impression,A,2026-05-20\n"
    f"alder,{TOKEN},kanarie,A,2026-05-20\n"
    f"alder,{TOKEN},offer_impression,kanarie,2026-05-20\n"
    f"alder,{TOKEN},widget_view,,kanarie\n"
    f"alder,{TOKEN} kanarie,widget_view,,2026-05-20\n"
    f"alder,{CARD_NUMBERS[2]},widget_view,,2026-05-20\n"
    f"alder,{WRITTEN_APART[0]},widget_view,,2026-05-20\n"
    f"alder,{ADDRESS},widget_view,,2026-05-20\n"
    f"kanarie,{TOKEN},widget_view,,2026-05-20\n",
}


@dataclass
class Listener:
    """Runs commands on one store, and keeps everything they write."""

    folder: Path
    heard: list[tuple[str, bytes]] = field(default_factory=list)

    def run(self, *words: object) -> str:
        """Run a command in this process; return what it said on stdout."""
        line = [str(word) for word in (*words, "--as-of", "2026-06-01T12:00:00Z")]
        ended = CliRunner().invoke(main.app, [*line, "--store", str(self.folder / "s.duckdb")])
        assert ended.exit_code in {0, 2, 3, 4, 5, 14}, (line, ended.output)
        self.heard += [(" ".join(line), ended.stdout_bytes), (" ".join(line), ended.stderr_bytes)]
        return ended.stdout_bytes.decode(errors="replace")

    def process(self, *words: object) -> None:
        """Run a command as a process of its own."""
        ended = cardoffers(*words, "--store", self.folder / "s.duckdb", exit_code=None)
        self.heard.append((str(words), (ended.stdout + ended.stderr).encode()))

    def read(self, path: Path) -> None:
        """Look at a file that a command wrote, unpacked."""
        content = path.read_bytes()
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(path) as book:
                content = b"".join(book.read(name) for name in book.namelist())
        elif path.suffix == ".parquet":
            content = pl.read_parquet(path).write_json().encode()
        self.heard.append((path.name, content))


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Listener:
    """Run every command on planted files and keep all it wrote."""
    folder = tmp_path_factory.mktemp("canaries")
    for name, content in (FILES | UNUSABLE).items():
        (folder / name).write_bytes(content)
    catalogue = folder / "catalogue"
    catalogue.mkdir()
    for name, text in CATALOGUE.items():
        (catalogue / name).write_text(text)
    listener = Listener(folder)
    for step in (set_up, look_at_files, take_files, decide_and_report, ask_amiss):
        step(listener)
    return listener


def set_up(listener: Listener) -> None:
    listener.run("init")
    errors = listener.folder / "catalogue-errors.csv"
    listener.run("catalog", "import", listener.folder / "catalogue", "--errors", errors)
    listener.read(errors)
    exported = listener.folder / "exported"
    listener.run("catalog", "export", exported, "--links", "masked")
    for path in exported.iterdir():
        listener.read(path)


def look_at_files(listener: Listener) -> None:
    for name in (*FILES, *UNUSABLE):
        errors = listener.folder / f"errors-of-{name}.csv"
        listener.run("validate", listener.folder / name, "--errors", errors, "--debug")
        listener.run("validate", listener.folder / name, "--format", "json")
        if errors.exists():
            listener.read(errors)
    for form in FORMATS:
        show(listener, form, "validate", listener.folder / "dirty.csv")
    for name in ("dirty.csv", "broken.json"):
        listener.process("validate", listener.folder / name, "--debug")


def take_files(listener: Listener) -> None:
    for name in (*FILES, *UNUSABLE):
        for verb in VERBS:
            errors = listener.folder / f"{verb}-errors-of-{name}.csv"
            path = listener.folder / name
            listener.run(verb, path, "-i", "alder", "--errors", errors, "--debug")
            if errors.exists():
                listener.read(errors)
    credited = listener.folder / "credited.csv"
    errors = listener.folder / "errors-of-credits.csv"
    told = listener.run("credit", "import", credited, "-i", "alder", "--errors", errors, "--debug")
    assert told
    listener.read(errors)
    for form in FORMATS:
        show(listener, form, "credit", "import", credited, "-i", "alder")
        show(listener, form, "credit", "list", "-i", "alder")
        show(listener, form, "credit", "show", "credit-1", "-i", "alder")
        show(listener, form, "simulate", listener.folder / "dirty.csv", "-i", "alder")
        show(listener, form, "import", listener.folder / "dirty.csv", "-i", "alder")
    listener.process("import", listener.folder / "dirty.csv", "-i", "alder", "--debug")


def decide_and_report(listener: Listener) -> None:
    listener.run("match")
    told = json.loads(listener.run("report", "redemptions", "--format", "json"))
    assert 3 == len(told["data"])
    assert {f"{TOKEN[:4]}…{TOKEN[-4:]}"} == {row["cardholder_token_masked"] for row in told["data"]}
    listener.run("settle", "--format", "json")
    listener.run("webhook", "set", "-i", "alder", "--url", "https://192.0.2.1/", "--debug")
    listener.run("webhook", "set", "-i", "alder", "--url", "https://hooks.invalid/")
    listener.run("webhook", "send", "--debug")
    listener.run("redemption", "reverse", told["data"][0]["id"], "--reason", "returned")
    for form in FORMATS:
        for report in ("redemptions", "settlements", "unresolved"):
            show(listener, form, "report", report, "--all")
        for by in ("day", "offer", "merchant"):
            show(listener, form, "report", "funnel", "-i", "alder", "--compare", "--by", by)
        show(listener, form, "webhook", "list")
        show(listener, form, "webhook", "show", told["data"][0]["id"])
        show(listener, form, "status")
        show(listener, form, "institution", "show", "alder")


def ask_amiss(listener: Listener) -> None:
    listener.run("report", "redemptions", "--cursor", "AAAA", "--debug")
    listener.run("redemption", "reverse", "no-id", "--reason", "returned", "--debug")
    listener.run("store", "info", "--format", "json")


def show(listener: Listener, form: str, *words: object) -> None:
    """Run a command in a format, to stdout where it can go there, else to a file."""
    out = listener.folder / f"shown.{form}"
    out.unlink(missing_ok=True)
    binary = ("--output", out) if form in {"parquet", "xlsx"} else ()
    listener.run(*words, "--format", form, *binary)
    if binary:
        listener.read(out)


@slow
def test_no_canary_leaves_by_any_door(listener: Listener) -> None:
    # One test, because running every command takes a while and is the same for all of it.
    assert set() == {source for source, content in listener.heard if CANARY.search(content)}
    everything_was_heard(listener)
    no_card_number_or_address_is_in_the_store(listener)
    tracebacks_are_for_who_asks(listener)


def everything_was_heard(listener: Listener) -> None:
    assert len(listener.heard) > 200
    assert sum(len(content) for _, content in listener.heard) > 100_000
    assert CANARY.search(transactions(GOOD))
    for number in (*CARD_NUMBERS, *WRITTEN_APART):
        assert CANARY.search(transactions(BAD)[transactions(BAD).index(number.encode()) :])


def no_card_number_or_address_is_in_the_store(listener: Listener) -> None:
    files = [*listener.folder.glob("s.duckdb*"), *listener.folder.glob("s.duckdb.d/*")]
    store = b"".join(path.read_bytes() for path in files if path.is_file())
    assert TOKEN.encode() in store
    secrets = (*CARD_NUMBERS, *WRITTEN_APART, ADDRESS)
    assert [] == [secret for secret in secrets if secret.encode() in store]


def tracebacks_are_for_who_asks(listener: Listener) -> None:
    shown = [source for source, content in listener.heard if b"Traceback" in content]
    assert [] == [source for source in shown if "--debug" not in source]
