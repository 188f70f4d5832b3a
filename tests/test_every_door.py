"""Every rule of the table holds at every door: files of each kind, calls of each kind."""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from books import book
from card_shapes import SHAPES, clear_in
from cardoffers_cli.intake import rules
from cardoffers_cli.intake.conditions import Matches, OneOf
from cardoffers_cli.intake.plain.validation import PlainValidation
from cardoffers_cli.intake.rules import QuickTest, Rule
from cardoffers_cli.intake.transactions import FileReading
from cardoffers_cli.kernel.words.findings import CODES, Code
from cardoffers_cli.river import stage
from cardoffers_cli.river.checks import validate
from cardoffers_cli.river.imports import ImportOptions, import_file
from cardoffers_cli.river.receiving import Outputs
from cardoffers_cli.river.simulate import simulate_file
from doors import open_command
from sizes import one_in
from tables import NOON
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from books import Cell
    from cardoffers_cli.kernel.store.job import Job
    from doors import Door

GOOD = {
    "cardholder_token": "9fb6f85a8aac50e20c422cac18b44258",
    "card_token": "ct_527b0abbb58b57705447ea2f567d7e3c",
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "transaction_ref": "TX-0001",
    "transacted_at": "2026-03-18T13:12:54Z",
}


@pytest.fixture(scope="module")
def alder(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = new_store(tmp_path_factory.mktemp("store"))
    tell(
        made,
        institutions="institution plan currency\nalder growth GBP",
        keys="key institution scopes created expires\nall alder - 2026-01-01 2027-01-01",
    )
    return made


@pytest.fixture(scope="module")
def door(alder: Job) -> Iterator[Door]:
    with open_command(alder) as opened:
        yield opened


def events_with(bad: dict[str, str | None]) -> list[dict[str, str | None]]:
    """Return a few good events and one that differs from them; None leaves a field out."""
    good = [{**GOOD, "transaction_ref": f"TX-100{number}"} for number in range(3)]
    return [*good, {**GOOD, **bad}]


def as_json(event: dict[str, str | None]) -> str:
    """Write an event; an amount that is a number is one."""
    texts = {name: text for name, text in event.items() if text is not None}
    amount = str(texts.get("amount"))
    return json.dumps({**texts, "amount": "<>"} if amount[-1:].isdigit() else texts).replace(
        '"<>"', amount
    )


def csv_of(events: list[dict[str, str | None]]) -> bytes:
    text = io.StringIO()
    names = dict.fromkeys(
        name for event in events for name in event if any(e.get(name) for e in events)
    )
    writer = csv.DictWriter(text, [*names], lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(events)
    return text.getvalue().encode()


def sheet_of(events: list[dict[str, str | None]]) -> bytes:
    lines: list[list[Cell]] = [[*line] for line in csv.reader(csv_of(events).decode().splitlines())]
    return book({"tx": lines})


def json_of(events: list[dict[str, str | None]]) -> bytes:
    return f"[{', '.join(map(as_json, events))}]".encode()


def lines_of(events: list[dict[str, str | None]]) -> bytes:
    return "".join(f"{as_json(event)}\n" for event in events).encode()


Ask = Any


def _codes(document: dict[str, Any]) -> set[str]:
    return {found["code"] for found in document["findings"] if found["level"] == "error"}


def _file(
    write: Callable[[list[dict[str, str | None]]], bytes],
    read: Callable[[str, Job], dict[str, Any]],
) -> Ask:
    def ask(bad: dict[str, str | None], job: Job, _door: Door, folder: Path) -> set[str]:
        path = folder / "transactions"
        path.write_bytes(write(events_with(bad)))
        return _codes(read(str(path), job))

    return ask


def _validated(path: str, job: Job) -> dict[str, Any]:
    return validate(path, FileReading(now=NOON, currency="GBP"), job, outputs=Outputs()).document()


def _checked(path: str, _job: Job) -> dict[str, Any]:
    check = PlainValidation(path, {"now": NOON, "currency": "GBP"})
    check.feed(Path(path).read_bytes())
    return check.finish()


def _imported(path: str, job: Job) -> dict[str, Any]:
    options = ImportOptions(dry_run=True)
    return import_file(path, "alder", job, options, outputs=Outputs()).document()


def _simulated(path: str, job: Job) -> dict[str, Any]:
    return simulate_file(path, "alder", job, ImportOptions(), outputs=Outputs()).document()


def _call(path: str, *, batch: bool = False) -> Ask:
    def ask(bad: dict[str, str | None], _job: Job, door: Door, _folder: Path) -> set[str]:
        event = as_json(events_with(bad)[-1])
        body = f'{{"transactions": [{event}]}}' if batch else event
        answer = door.call("POST", f"/api/v1/transactions{path}", key="all", body=body.encode())
        found = answer.document["invalid"][0] if batch else answer.document
        return {error["code"] for error in found["errors"]}

    return ask


DOORS: dict[str, Ask] = {
    "validate csv": _file(csv_of, _validated),
    "validate json": _file(json_of, _validated),
    "validate json lines": _file(lines_of, _validated),
    "check csv in plain Python": _file(csv_of, _checked),
    "check json in plain Python": _file(json_of, _checked),
    "check json lines in plain Python": _file(lines_of, _checked),
    "validate a workbook": _file(sheet_of, _validated),
    "import csv": _file(csv_of, _imported),
    "import a workbook": _file(sheet_of, _imported),
    "import json lines": _file(lines_of, _imported),
    "simulate csv": _file(csv_of, _simulated),
    "simulate a workbook": _file(sheet_of, _simulated),
    "call": _call(""),
    "batch": _call("/batch", batch=True),
    "simulated call": _call("/simulate"),
}


@pytest.fixture(params=DOORS)
def ask(
    request: pytest.FixtureRequest, alder: Job, door: Door, tmp_path: Path
) -> Callable[[dict[str, str | None]], set[str]]:
    """Return a function that brings an event to a door, and returns the codes it is given."""
    return lambda bad: DOORS[request.param](bad, alder, door, tmp_path)


@contextmanager
def one_more_rule(patch: pytest.MonkeyPatch, *suspicions: QuickTest) -> Iterator[None]:
    unlucky = OneOf("mcc", ("0666",))
    added = Rule("mcc_unlucky", "mcc", "mcc is 0666", unlucky, suspicions)
    patch.setitem(
        CODES._codes, "mcc_unlucky", Code("mcc_unlucky", "error", "unlucky", "wait", "Bad luck.")
    )  # type: ignore[arg-type]
    patch.setattr(rules, "RULES", (*rules.RULES, added))
    yield


@pytest.mark.parametrize(
    ("few", "suspicions"),
    [(2_000, ()), (-1, ()), (-1, (QuickTest(Matches("mcc", "^0")),))],
    ids=["few rows", "many rows", "many rows with a suspicion"],
)
@one_in(4)
def test_a_rule_added_to_the_table_is_at_every_door(
    ask: Callable[[dict[str, str | None]], set[str]],
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    suspicions: tuple[QuickTest, ...],
) -> None:
    monkeypatch.setattr(stage, "FEW_ROWS", few)
    with one_more_rule(monkeypatch, *suspicions):
        assert {"mcc_unlucky"} == ask({"mcc": "0666"})


BAD: list[tuple[str, dict[str, str | None]]] = [
    ("required_missing", {"card_token": None}),
    ("required_missing", {"cardholder_token": None}),
    ("token_placeholder", {"card_token": "N/A"}),
    ("token_placeholder", {"transaction_ref": "none"}),
    ("token_placeholder", {"cardholder_token": "unknown"}),
    ("token_placeholder", {"card_acceptor_id": "NULL"}),
    ("token_placeholder", {"card_token": "#REF!"}),
    ("spreadsheet_damage", {"card_acceptor_id": "5.2E+14"}),
    ("spreadsheet_damage", {"card_token": '"0123"'}),
    ("spreadsheet_damage", {"transaction_ref": "'0001"}),
    ("spreadsheet_damage", {"transaction_ref": "03-Dec"}),
    ("date_turned", {"transacted_at": "46099.55"}),
    ("control_character", {"merchant_descriptor": "a\u200bb"}),
    ("control_character", {"colour": "a\u0007b"}),
    ("card_number", {"card_token": "4111 1111 1111 1111"}),
    ("card_number", {"transaction_ref": "4111111111111111"}),
    ("card_number", {"card_acceptor_id": "5555-5555-5555-4444"}),
    ("card_number", {"merchant_descriptor": "of 4111 1111 1111 1111"}),
    ("currency_mismatch", {"currency": "USD"}),
    ("amount_precision", {"amount": "12.505"}),
    ("timestamp_no_offset", {"transacted_at": "2026-03-18T13:12:54"}),
]
FEW = [BAD[0], ("card_number", {"transaction_ref": "4111111111111111"})]
"""What is tried by calls of one event, each of which opens the store."""


@pytest.mark.parametrize(("code", "bad"), FEW, ids=str)
@one_in(3)
def test_a_bad_event_is_refused_at_every_door(
    ask: Callable[[dict[str, str | None]], set[str]], code: str, bad: dict[str, str | None]
) -> None:
    assert {code} == ask(bad)


EXACT = [
    {"amount": "12.5000"},
    {"currency": "GBP"},
    {"transacted_at": "2026-03-18t13:12:54+0100"},
]


def all_of_them() -> tuple[list[str], list[dict[str, str | None]]]:
    """Return good events, then the bad ones with their codes, each with a reference of its own."""
    good = [{**GOOD, **event} for event in EXACT]
    bad = [{**GOOD, **event} for _, event in BAD]
    for number, event in enumerate((*good, *bad)):
        if event["transaction_ref"] == GOOD["transaction_ref"]:
            event["transaction_ref"] = f"TX-{number:05}"
    return [code for code, _ in BAD], [*good, *bad]


@pytest.mark.parametrize(
    ("write", "first"),
    [(csv_of, 2), (json_of, 0), (lines_of, 1), (sheet_of, 2)],
    ids=["csv", "json", "lines", "workbook"],
)
@pytest.mark.parametrize("read", [_validated, _imported])
def test_bad_events_of_a_file_are_refused_one_by_one(
    alder: Job, tmp_path: Path, write: Any, first: int, read: Any
) -> None:
    codes, events = all_of_them()
    path = tmp_path / "transactions"
    path.write_bytes(write(events))
    told = read(str(path), alder)
    found = {
        (line, row["code"])
        for row in told["findings"]
        for line in row["lines"]
        if row["level"] == "error"
    }
    assert found == {(first + len(EXACT) + n, code) for n, code in enumerate(codes)}
    assert len(codes) == told["invalid"]


def test_bad_events_of_a_batch_are_refused_one_by_one(door: Door) -> None:
    codes, events = all_of_them()
    body = f'{{"transactions": {json_of(events).decode()}}}'.encode()
    told = door.call("POST", "/api/v1/transactions/batch", key="all", body=body).document
    assert [(len(EXACT) + n, code) for n, code in enumerate(codes)] == [
        (item["index"], item["code"]) for item in told["invalid"]
    ]
    assert len(EXACT) == told["accepted"] + told["duplicates"]


@pytest.mark.parametrize("write", [csv_of, json_of, lines_of])
@pytest.mark.parametrize("rows", [1, 500])
def test_a_file_in_which_no_row_has_an_instrument_is_refused_row_by_row(
    alder: Job, tmp_path: Path, write: Callable[[Any], bytes], rows: int
) -> None:
    events = [{**GOOD, "card_token": None, "transaction_ref": f"TX-{n:05}"} for n in range(rows)]
    path = tmp_path / "transactions"
    path.write_bytes(write(events))
    if write is csv_of:
        assert "header_column_missing" == _validated(str(path), alder)["file_error"]["code"]
        return
    told = _imported(str(path), alder)
    assert (rows, 0, rows) == (told["received"], told["accepted"], told["invalid"])


# Card numbers

FIELDS = (
    *("cardholder_token", "card_token", "instrument_token"),
    *("transaction_ref", "card_acceptor_id", "merchant_identifier"),
    *("mcc", "merchant_descriptor", "network"),
)


def corpus() -> tuple[list[dict[str, str | None]], list[bool]]:
    """Return an event of each shape in each field, and whether each holds a card number."""
    events: list[dict[str, str | None]] = []
    for field in FIELDS:
        for text, _ in SHAPES.values():
            event = {**GOOD, "transaction_ref": f"TX-{len(events) + 10_000}", field: text}
            if field in {"instrument_token", "merchant_identifier"}:
                del event["card_token" if field == "instrument_token" else "card_acceptor_id"]
            events.append(event)
    return events, [is_card for _ in FIELDS for _, is_card in SHAPES.values()]


FORMS = {
    "csv": (csv_of, 2),
    "json": (json_of, 0),
    "lines": (lines_of, 1),
    "workbook": (sheet_of, 2),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("others", [0, 3_000])
@pytest.mark.parametrize("command", ["validate", "import", "simulate"])
@one_in(6)
def test_a_card_number_is_one_at_every_door_and_in_any_size(
    alder: Job, tmp_path: Path, form: str, others: int, command: str
) -> None:
    write, first = FORMS[form]
    events, are_cards = corpus()
    good = [{**GOOD, "transaction_ref": f"TX-{n:04}"} for n in range(others)]
    path, report, rejected = (tmp_path / name for name in ("transactions", "errors", "rejected"))
    path.write_bytes(write([*events, *good]))
    outputs = Outputs(rejected=None if form == "workbook" else rejected, errors=report)
    of = (str(path), "alder", alder, ImportOptions(dry_run=True, is_own=True))
    told: Any
    if command == "validate":
        told = validate(str(path), FileReading(now=NOON), alder, outputs=outputs)
    elif command == "import":
        told = import_file(*of, outputs=outputs)
    else:
        told = simulate_file(*of, outputs=outputs)
    lines = [*csv.DictReader(report.read_text().splitlines())]
    found = {int(row.get("line") or row["index"]) for row in lines if row["code"] == "card_number"}
    assert {first + n for n, is_card in enumerate(are_cards) if is_card} == found
    written = "".join(each.read_text() for each in (report, rejected) if each.exists())
    assert [] == clear_in(f"{told.document()}{written}")


@pytest.mark.parametrize("write", [csv_of, json_of, lines_of], ids=["csv", "json", "lines"])
def test_the_page_finds_the_same_card_numbers(write: Any) -> None:
    events, are_cards = corpus()
    check = PlainValidation("tx", {"now": NOON, "currency": "GBP"})
    check.feed(write(events))
    document = check.finish()
    (refused,) = [each for each in document["findings"] if each["code"] == "card_number"]
    assert are_cards.count(True) == refused["rows"]
    apart = check.apart()
    pieces = [*apart.add(write(events)), *apart.end()]
    told = f"{document}{b''.join(check.errors_csv()).decode()}"
    assert [] == clear_in(told + (pieces[1] + pieces[3]).decode())


def test_calls_find_the_same_card_numbers(door: Door) -> None:
    events, are_cards = corpus()
    body = f'{{"transactions": {json_of(events).decode()}}}'.encode()
    told = door.call("POST", "/api/v1/transactions/batch", key="all", body=body).document
    found = {item["index"] for item in told["invalid"]
             if "card_number" in {error["code"] for error in item["errors"]}}  # fmt: skip
    assert {n for n, is_card in enumerate(are_cards) if is_card} == found
    assert [] == clear_in(str(told))


UNSPLIT = {
    "too few fields": "{},12.50",
    "too many": "a,b,c,d,e,f,g,{}",
    "an open quote": '"{},M1,ct,1.00,TX-1,2026-03-18T13:12:54Z',
    "a quote that strays": 'a,b"c,{},1.00,TX-1,2026-03-18T13:12:54Z',
    "another delimiter": "a;{};M1;1.00;TX-1;2026-03-18T13:12:54Z",
    "a bad byte": "a,{},M\udcff,1.00,TX-1,2026-03-18T13:12:54Z",
}


@pytest.mark.parametrize("shape", SHAPES)
@one_in(3)
def test_a_row_that_cannot_be_split_is_masked_as_it_came(
    alder: Job, tmp_path: Path, shape: str
) -> None:
    text, is_card = SHAPES[shape]
    lines = [row.format(text) for row in UNSPLIT.values()]
    sent = csv_of([GOOD]) + "\n".join([*lines, ""]).encode("utf-8", "surrogateescape")
    path = tmp_path / "tx.csv"
    path.write_bytes(sent)
    rejected = {}
    for raw in (False, True):
        outputs = Outputs(rejected=tmp_path / "rejected", raw=raw)
        report = validate(str(path), FileReading(now=NOON), alder, outputs=outputs)
        rejected[raw] = (tmp_path / "rejected").read_bytes()
    assert len(lines) == report.invalid
    assert sent.split(b"\n", 2)[2] == rejected[True].split(b"\n", 1)[1]
    masked = rejected[False].decode("utf-8", "surrogateescape")
    assert ([] == clear_in(masked)) or not is_card
    if is_card:
        assert len(lines) == masked.count("[masked]")
    check = PlainValidation("tx.csv", {"now": NOON})
    check.feed(sent)
    check.finish()
    apart = check.apart()
    pieces = [*apart.add(sent), *apart.end()]
    assert rejected[False] == pieces[1] + pieces[3]
