"""What schemas refuse is what `validate` refuses, for every reason that a schema can state.

Rows are judged by the product and by the package `jsonschema`, which knows nothing of it but the
schema. It refuses no row that is taken, and refuses every row with an error that a schema can
state.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from jsonschema import Draft202012Validator

from cardoffers_cli.catalogue.files import KINDS, catalogue_files
from cardoffers_cli.catalogue.formats import format_of, kinds
from cardoffers_cli.intake import fields, rules
from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.conditions import Condition, Matches, Mistyped, OneOf, Sized
from cardoffers_cli.intake.schemas.formats import FileFormat, json_schema, rules_digest
from cardoffers_cli.intake.transactions import open_transactions
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.row_kinds import BY_NAME
from sizes import slow, tries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Cells = dict[str, str]
NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product
SAMPLES = Path(__file__).parents[2] / "sample_data" / "transactions"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
GOOD = {
    "cardholder_token": "9fb6f85a8aac50e20c422cac18b44258",
    "card_token": "ct_527b0abbb58b57705447ea2f567d7e3c",
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "transaction_ref": "TX-0001",
    "transacted_at": "2026-03-18T13:12:54Z",
}

ODD = [
    *(
        "",
        " ",
        "x y",
        "é",
        "\u00a0",
        "\u2028x",
        "a\u200bb",
        "a\x07b",
        "a\x85b",
        "\ufeffa",
        "a\u202eb",
    ),
    *("NULL", "n/a", "#N/A", "none", "nan", "-", "....", ".....", "#REF!", "#########", "\\N"),
    *("unknown", "(missing)", "undefined]", "N.A.", "xxxx", "0000", "*****", "0" * 40),
    *("='0123'", '"0123"', "'0123", "5.2E+14", "5,26610e+14", " 12", "12 ", "5e14"),
    *("someone@example.com", "a@b", "@", "4111 1111 1111 1111", "4111111111111111", "1" * 15),
    *("t" * 31, "t" * 32, "t" * 128, "t" * 129, "t" * 256, "t" * 257, "=1+1", "a|b", "1,5"),
]
OF_COLUMN = {
    "instrument_type": ["card", "wallet", "account", "Card", "cards", "card|wallet"],
    "merchant_identifier_type": ["card_acceptor", "pix_key", "psp_merchant_id", "vpa", "PIX_KEY"],
    "merchant_id": [UUID, UUID.upper(), UUID[1:], f"{{{UUID}}}"],
    "amount": [
        *(
            "0",
            "0.00",
            "1",
            "12.5",
            "12.500",
            "12.505",
            "-1",
            "-0",
            "+1",
            "1e3",
            ".5",
            "5.",
            "\u0661",
        ),
        *("9" * 12, "9" * 12 + ".99", "9" * 13, "0" * 20 + "1", "0.001", "0.010", "12,50", "1 000"),
    ],
    "currency": ["GBP", "gbp", "USD", "GBX", "JPY"],
    "transacted_at": [
        *("2026-03-18T13:12:54Z", "2026-03-18 13:12:54z", "2026-03-18t13:12Z", "2026-03-18T13Z"),
        *(
            "2026-03-18T13:12:54+0100",
            "2026-03-18T13:12:54+01",
            "2026-03-18T13:12:54.123456789-02:30",
        ),
        *(
            "2026-03-18T13:12:54",
            "2026-03-18",
            "18.03.2026",
            "2026-03-18T24:00:00Z",
            "1969-12-31T23:59:59Z",
        ),
        *(
            "2026-13-18T13:12:54Z",
            "2026-02-30T13:12:54Z",
            "2026-11-03T00:00:00Z",
            "2101-01-01T00:00:00Z",
        ),
    ],
}


REFUND = {
    "refund_ref": "RF-1",
    "original_transaction_ref": "TX-0001",
    **{name: GOOD[name] for name in ("cardholder_token", "card_token", "card_acceptor_id")},
    "amount": "12.50",
    "refunded_at": "2026-03-18T13:12:54Z",
    "kind": "refund",
}
CREDIT = {
    "redemption_id": UUID,
    "transaction_ref": "TX-0001",
    "amount": "2.50",
    "status": "credited",
    "credited_at": "2026-03-18T13:12:54Z",
    "credit_ref": "CR-1",
}
EXAMPLES = {"purchases": GOOD, "refunds": REFUND, "credits": CREDIT}
OF_COLUMN |= {
    "kind": ["refund", "void", "adjustment", "Refund", "chargeback"],
    "refunded_at": OF_COLUMN["transacted_at"],
    "status": ["credited", "failed", "reversed", "Failed", "paid"],
    "credited_at": OF_COLUMN["transacted_at"],
    "redemption_id": OF_COLUMN["merchant_id"],
}
SEVERAL = {
    "purchases": [
        {"card_token": ""},
        {"card_token": "", "instrument_token": "it_1"},
        {"instrument_token": "it_1"},
        {"instrument_token": GOOD["card_token"]},
        {"card_acceptor_id": "", "merchant_identifier": "M1", "merchant_identifier_type": "codi"},
        {"merchant_identifier": "M2"},
        {"card_acceptor_id": "", "merchant_id": UUID},
        {"card_acceptor_id": ""},
    ],
    "refunds": [
        {"original_transaction_ref": ""},
        {"original_transaction_ref": "", "card_token": ""},
        {"original_transaction_ref": "", "card_acceptor_id": ""},
        {"cardholder_token": "", "card_token": "", "card_acceptor_id": ""},
    ],
    "credits": [
        {"redemption_id": ""},
        {"transaction_ref": ""},
        {"redemption_id": "", "transaction_ref": ""},
        {"status": "failed"},
        {"status": "failed", "failure_code": "R02"},
    ],
}


def rows(kind: str = "purchases") -> list[Cells]:
    """Return a good row, then rows that differ from it in one column, each with its reference."""
    columns = BY_NAME[kind].columns[:-1]
    changed = [{name: text} for name in columns for text in (*ODD, *OF_COLUMN.get(name, ()))]
    named = [
        {**EXAMPLES[kind], BY_NAME[kind].reference: f"TX-{number:05}", **each}
        for number, each in enumerate([{}, *changed, *SEVERAL[kind]])
    ]
    return [{name: each.get(name, "") for name in columns} for each in named]


def written(folder: Path, told: Sequence[Cells]) -> Path:
    path = folder / "purchases.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, [*told[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows(told)
    return path


def errors_of(path: Path, **options: Any) -> dict[int, set[str]]:
    """Return the codes of the errors in a file by line; card numbers in doubt are references."""
    reading = FileReading(now=NOW, **options)
    with open_transactions(str(path), reading) as file:
        found = pl.concat([chunk.findings for chunk in file.chunks()])
    errors = found.filter(pl.col("level") == "error").group_by("line").agg("code")
    return {line: set(codes) for line, codes in errors.iter_rows()}


def plain(document: Any) -> Any:
    """Return a document as a reader of its file has it."""
    return json.loads(dumps(document))


def refused(form: FileFormat, told: Iterable[Mapping[str, Any]], first: int = 1) -> set[int]:
    """Return the lines of the rows that a judge refuses by the schema."""
    judge = Draft202012Validator(plain(json_schema(form)))
    return {line for line, row in enumerate(told, first) if not judge.is_valid(row)}


def judged(path: Path, kind: str) -> None:
    """Hold what a judge refuses of a CSV file against the errors in it."""
    with path.open(newline="", encoding="utf-8") as file:
        told = [*csv.DictReader(file)]
    names = [name for name in told[0] if name in BY_NAME[kind].columns]
    form = format_of(kind, columns=names)
    events = (json.loads(as_event({name: row[name] for name in names})) for row in told)
    held(refused(form, events, first=2), errors_of(path), set(form.beyond_json))


@slow
@pytest.mark.parametrize("name", ["larkmere-dirty.csv", "larkmere.csv"])
def test_a_judge_agrees_on_the_sample_files(name: str, tmp_path: Path) -> None:
    lines = [line.decode("utf-8", "replace") for line in (SAMPLES / name).read_bytes().splitlines()]
    whole = [line for line in lines if line.count(",") == lines[0].count(",") and '"' not in line]
    path = tmp_path / name
    path.write_text("\n".join([*whole, ""]), "utf-8")
    judged(path, "purchases")


SHARED = Path(__file__).parents[3] / "shared" / "data"
MOST_LINES = tries(500, 4_000)


@pytest.mark.skipif(not SHARED.exists(), reason="no shared data")
@pytest.mark.parametrize("name", ["alder", "brook", "refunds", "refunds_referenced"])
def test_a_judge_agrees_on_the_files_of_a_city(name: str, tmp_path: Path) -> None:
    lines = (SHARED / "calderdale" / f"{name}.csv").read_text("utf-8").splitlines()[:MOST_LINES]
    path = tmp_path / f"{name}.csv"
    path.write_text("\n".join([*lines, ""]), "utf-8")
    judged(path, "refunds" if "refunds" in name else "purchases")


def held(refused: set[int], errors: Mapping[int, set[str]], beyond: set[str]) -> None:
    """Hold what a judge refuses against the errors: none too many, none too few."""
    can_state = {line for line, codes in errors.items() if codes - beyond}
    assert set() == refused - set(errors)
    assert set() == can_state - refused


# JSON


def as_event(cells: Cells) -> str:
    """Write a row as a JSON event: its amount is a number where it can be one."""
    texts = {name: text for name, text in cells.items() if text}
    amount = texts.get("amount", "")
    try:
        is_number = isinstance(json.loads(amount), int | float)
    except ValueError:
        is_number = False
    return json.dumps({**texts, "amount": "<>"} if is_number else texts).replace('"<>"', amount)


WRONG = [
    '{"card_token": 5}',
    '{"card_token": null, "instrument_token": "it_1"}',
    '{"amount": "12.50"}',
    '{"amount": true}',
    '{"amount": null}',
    '{"amount": 1e13}',
    '{"mcc": 5411}',
    '{"mcc": ["5411"]}',
    '{"instrument_type": false}',
    '{"merchant_id": 1}',
    '{"institution_id": 1}',
    '{"institution_id": "x"}',
    '{"transacted_at": 1773839574}',
    '{"colour": "red"}',
    '{"colour": "r\\u200bed"}',
    '{"colour": {"deep": [1, {"deeper": "a\\u0007b"}]}}',
    '{"colour": {"de\\u200bep": 1}}',
    '{"col\\u200bour": 1}',
    '{"colour": {"deep": [1, {"deeper": "b"}]}}',
]


@pytest.mark.parametrize(
    ("kind", "currency"),
    [
        *((kind, None) for kind in EXAMPLES),
        *((kind, "GBP") for kind in EXAMPLES),
        ("purchases", "JPY"),
    ],
)
def test_a_judge_refuses_what_validate_refuses(
    kind: str, currency: str | None, tmp_path: Path
) -> None:
    good = json.loads(as_event(EXAMPLES[kind]))
    more = [json.dumps({**good, **json.loads(each)}) for each in WRONG]
    texts = [*map(as_event, rows(kind)), *more]
    path = tmp_path / f"{kind}.jsonl"
    path.write_text("\n".join([*texts, ""]), "utf-8")
    form = format_of(kind, currency)
    errors = errors_of(path, currency=currency, decimals={"JPY": 0}.get(str(currency), 2))
    held(refused(form, map(json.loads, texts)), errors, set(form.beyond_json))


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        (True, [GOOD]),
        (True, []),
        (True, {"transactions": [GOOD]}),
        (False, {"transactions": GOOD}),
        (False, {"events": [GOOD]}),
        (False, [{**GOOD, "transaction_ref": ""}]),
    ],
)
def test_a_whole_file_of_json_has_a_schema_too(expected: bool, document: Any) -> None:
    schema = plain(json_schema(format_of("purchases")))
    whole = {**schema["$defs"]["file"], "$defs": {"row": schema}}
    text = (
        dumps(whole)
        .replace('"#"', '"#/$defs/row"')
        .replace("#/$defs/unknown", "#/$defs/row/$defs/unknown")
    )
    events = json.loads(json.dumps(document).replace('"12.50"', "12.5"))
    assert expected == Draft202012Validator(json.loads(text)).is_valid(events)


# The catalogue


CATALOGUE = [
    *ODD,
    "0",
    "1",
    "007",
    "-1",
    "1.5",
    "12.3456",
    "12.34567",
    "1" * 13,
    "true",
    "Yes",
    "on",
]
CATALOGUE += [
    "en",
    "en|es",
    "en|en",
    "en|fr",
    "gold|student",
    "gold|gold",
    "GBP",
    "growth",
    "1.000000",
]
CATALOGUE += ["2026-01-01", "2026-01-01T00:00:00Z", "0.05", "0.1234567", UUID, "alder", "9" * 10]
CATALOGUE += [
    "widget_view",
    "offer_impression",
    "pix_key",
    "A" * 200,
    "A" * 201,
    "b" * 2000,
    "b" * 2001,
]


def catalogue_rows(kind: str) -> list[Cells]:
    example = KINDS[kind].example
    return [
        {**dict.fromkeys(KINDS[kind].names, ""), **example, name: text}
        for name in KINDS[kind].names
        for text in CATALOGUE
    ]


def catalogue_errors(path: Path) -> dict[int, set[str]]:
    errors: dict[int, set[str]] = {}
    (file,) = catalogue_files(path)
    for page in file.pages():
        for line, code, level in page.findings.select("line", "code", "level").iter_rows():
            if level == "error":
                errors.setdefault(line, set()).add(code)
    return errors


@slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_judge_agrees_on_catalogue_rows(kind: str, tmp_path: Path) -> None:
    form = format_of(kind)
    told = catalogue_rows(kind)
    path = written(tmp_path, told).rename(tmp_path / f"{kind}.csv")
    errors, lines = catalogue_errors(path), refused(form, told, first=2)
    held(lines, errors, set(form.beyond))
    stated = {"A" * 201, "on", "007x", "a\u200bb"}
    of_form = {n for n, cells in enumerate(told, 2) if stated.intersection(cells.values())}
    assert {n for n in of_form if errors.get(n) == {"value_invalid"}} <= lines


# The format is said once


CHANGES: list[tuple[str, str, Condition, str, str]] = [
    ("merchant_id_invalid", "merchant_id", ~Matches("merchant_id", "^U[0-9]+$"), "U12", UUID),
    ("amount_invalid", "amount", ~Matches("amount", "^[0-9]+$"), "12", "12.50"),
    (
        "instrument_type_unknown",
        "instrument_type",
        Mistyped("instrument_type") | ~OneOf("instrument_type", ("card", "ring")),
        "ring",
        "wallet",
    ),
    ("token_invalid", "transaction_ref", ~Sized("transaction_ref", 0, 4), "TX-1", "TX-12"),
    ("personal_data", "card_token", Matches("card_token", "^x"), "a@b.cd", "x1"),
    ("text_invalid", "mcc", Matches("mcc", "^0666$"), "5411", "0666"),
]
"""A rule -> its column, what it asks from now on, good text, bad text."""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0])
def test_a_rule_that_changes_changes_the_schema(
    change: tuple[str, str, Condition, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, column, broken, good, bad = change
    others = [rule for rule in rules.RULES if (rule.code, rule.column) != (code, column)]
    changed = next(rule for rule in rules.RULES if (rule.code, rule.column) == (code, column))
    monkeypatch.setattr(rules, "RULES", (*others, replace(changed, broken=broken)))
    told = [{**GOOD, "amount": "1", column: text} for text in (good, bad)]
    events = [json.loads(as_event(each)) for each in told]
    is_text = column != "amount"  # in JSON it is a number, which has no pattern
    assert ({2} if is_text else set()) == refused(format_of("purchases"), events)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0])
def test_the_digest_of_the_rules_is_of_what_they_ask(
    change: tuple[str, str, Condition, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, column, broken, *_ = change
    before = rules_digest()
    place = next(
        n for n, rule in enumerate(rules.RULES) if (rule.code, rule.column) == (code, column)
    )
    table = [*rules.RULES]
    table[place] = replace(table[place], broken=broken)
    monkeypatch.setattr(rules, "RULES", tuple(table))
    assert before != rules_digest()


def test_the_digest_of_the_rules_is_the_same_in_every_process() -> None:
    words = "from cardoffers_cli.intake.schemas.formats import rules_digest; print(rules_digest())"
    told = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert f"{rules_digest()}\n" == told.stdout


def test_a_rule_that_goes_goes_from_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tuple(rule for rule in rules.RULES if rule.code != "personal_data")
    before = {each.name: each for each in format_of("purchases").fields}
    monkeypatch.setattr(rules, "RULES", kept)
    after = {each.name: each for each in format_of("purchases").fields}
    changed = {name for name, each in after.items() if each != before[name]}
    assert set(fields.TOKENS) == changed
    assert fields.E_MAIL in before["card_token"].lacks
    assert fields.E_MAIL not in after["card_token"].lacks


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_error_of_a_row_is_stated_or_said_to_be_beyond(kind: str) -> None:
    form = format_of(kind)
    named = {code.code for code in form.codes}
    of_kind = [rule for rule in rules.RULES if rule.holds_of(BY_NAME[kind])]
    assert {rule.code for rule in of_kind if CODES[rule.code].level == "error"} <= named
    of_several = {"instrument_conflict"} if BY_NAME[kind].has_tokens else set()
    assert {"card_number", "timestamp_in_future"} | of_several <= set(form.beyond)


# Files of some columns


@pytest.mark.parametrize(
    ("needs", "columns"),
    [
        (
            "card_token",
            "transacted_at,amount,cardholder_token,card_token,mcc,merchant_id,transaction_ref",
        ),
        (
            "instrument_token",
            "cardholder_token,instrument_token,card_acceptor_id,amount,transaction_ref,transacted_at",
        ),
        (
            None,
            "cardholder_token,card_token,instrument_token,merchant_id,amount,transaction_ref,transacted_at",
        ),
    ],
)
def test_columns_are_chosen_and_one_that_is_alone_is_needed(
    needs: str | None, columns: str
) -> None:
    form = format_of("purchases", columns=columns.split(","))
    assert columns.split(",") == [*json_schema(form)["properties"]]
    tokens = [
        each.name for each in form.fields if each.is_needed and each.name in fields.TOKENS[1:]
    ]
    assert ([needs] if needs else []) == tokens
    assert ("allOf" in json_schema(form)) == (needs is None)


@pytest.mark.parametrize(
    ("message", "kind", "columns"),
    [
        ("There is no kind of files 'offer'.", "offer", None),
        ("A file of purchases has no column colour.", "purchases", "colour,amount"),
        (
            "A file of purchases needs the column card_token or instrument_token.",
            "purchases",
            "cardholder_token,card_acceptor_id,amount,transaction_ref,transacted_at",
        ),
        ("A file of merchants needs the column category.", "merchants", "merchant_id,name"),
    ],
)
def test_what_is_no_format_is_refused(message: str, kind: str, columns: str | None) -> None:
    with pytest.raises((NotFound, UsageError)) as caught:
        format_of(kind, columns=columns.split(",") if columns else None)
    assert message == caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("kind", kinds())
def test_every_schema_is_one(kind: str) -> None:
    form = format_of(kind)
    Draft202012Validator.check_schema(plain(json_schema(form)))
    examples = {each.name: each.example for each in form.fields if each.example}
    judge = Draft202012Validator(plain(json_schema(form)))
    if kind in EXAMPLES:
        examples["amount"] = json.loads(examples["amount"])
    assert [] == [error.message for error in judge.iter_errors(examples)]
