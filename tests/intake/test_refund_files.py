"""A file of refunds is read as one of purchases is: by the same rules, to the same shape."""

# ruff: noqa: S106 - the tokens here are those of the domain, no passwords
from __future__ import annotations

import gzip
import io
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.chunks import valid_schema
from cardoffers_cli.intake.headers import is_of_other_kind, row_kind_of
from cardoffers_cli.intake.rules import RULES
from cardoffers_cli.intake.transactions import FileReading, open_transactions
from cardoffers_cli.kernel.words.card_forms import NumberForm
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.row_kinds import KINDS, PURCHASES, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.words.row_kinds import RowKind

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product
HOLDER = "9fb6f85a8aac50e20c422cac18b44258"
CALLER = "7c9a1745-303f-576b-af43-a4367a33b2ad"
GOOD: dict[str, Any] = {
    "refund_ref": "RF-1",
    "original_transaction_ref": "TX-1",
    "cardholder_token": HOLDER,
    "card_token": "ct_527b0abbb58b57705447ea2f567d7e3c",
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "refunded_at": "2026-03-18T13:12:54Z",
}
NAMES = (*GOOD, *(name for name in REFUNDS.columns if name not in {*GOOD, "institution_id"}))
HEADER = ",".join(NAMES)
NO_ORIGINAL = {"original_transaction_ref": ""}


def csv_line(**changes: str) -> str:
    row = {**GOOD, **changes}
    return ",".join(row.get(name, "") for name in NAMES)


def json_row(**changes: Any) -> str:
    row = {**GOOD, "amount": "<amount>", **changes}
    text = json.dumps({name: value for name, value in row.items() if value is not None})
    return text.replace('"<amount>"', "12.50")


CSV_FAULTS = [
    # code, column, the line that has it
    ("field_count", None, csv_line() + ","),
    ("encoding", None, csv_line(kind="refund\udce9")),
    ("control_character", "kind", csv_line(kind="re\u200bfund")),
    ("control_character", "original_transaction_ref", csv_line(original_transaction_ref="T\tX")),
    ("required_missing", "refund_ref", csv_line(refund_ref="")),
    ("required_missing", "amount", csv_line(amount="")),
    ("required_missing", "refunded_at", csv_line(refunded_at="")),
    ("original_missing", "original_transaction_ref", csv_line(**NO_ORIGINAL, cardholder_token="")),
    ("original_missing", "original_transaction_ref", csv_line(**NO_ORIGINAL, card_token="")),
    ("original_missing", "original_transaction_ref", csv_line(**NO_ORIGINAL, card_acceptor_id="")),
    ("refund_kind_unknown", "kind", csv_line(kind="return")),
    ("refund_kind_unknown", "kind", csv_line(kind="Refund")),
    *(
        (code, name, csv_line(**{name: text}))
        for name in ("refund_ref", "original_transaction_ref")
        for code, text in (
            ("token_placeholder", "NULL"),
            ("token_placeholder", "#REF!"),
            ("spreadsheet_damage", "5.2E+14"),
            ("spreadsheet_damage", "'0123456789"),
            ("spreadsheet_damage", " 0123456789"),
            ("token_invalid", "R F"),
            ("token_invalid", "R" * 129),
        )
    ),
    ("token_invalid", "cardholder_token", csv_line(cardholder_token=HOLDER + " x")),
    ("token_weak", "cardholder_token", csv_line(cardholder_token="customer-1")),
    ("card_number", "card_token", csv_line(card_token="4111 1111-1111 1111")),
    ("personal_data", "cardholder_token", csv_line(cardholder_token="jo.doe@example.com")),
    ("instrument_conflict", "instrument_token", csv_line(instrument_token="ct_other")),
    (
        "merchant_identifier_type_unknown",
        "merchant_identifier_type",
        csv_line(merchant_identifier_type="vpa"),
    ),
    ("merchant_conflict", "merchant_identifier", csv_line(merchant_identifier="M1")),
    ("merchant_id_invalid", "merchant_id", csv_line(merchant_id="0f8fad5b")),
    ("amount_invalid", "amount", csv_line(amount="1e3")),
    ("amount_precision", "amount", csv_line(amount="12.505")),
    ("amount_not_positive", "amount", csv_line(amount="-12.50")),
    ("amount_not_positive", "amount", csv_line(amount="0.00")),
    ("amount_too_large", "amount", csv_line(amount="1000000000000")),
    ("currency_mismatch", "currency", csv_line(currency="USD")),
    ("timestamp_invalid", "refunded_at", csv_line(refunded_at="18/03/2026")),
    ("timestamp_no_offset", "refunded_at", csv_line(refunded_at="2026-03-18")),
    ("date_turned", "refunded_at", csv_line(refunded_at="46099.55")),
    ("date_turned", "amount", csv_line(amount="03-Dec")),
    ("timestamp_in_future", "refunded_at", csv_line(refunded_at="2026-11-02T00:00:01Z")),
]

JSON_FAULTS = [
    # code, column, the line that has it
    ("text_invalid", "card_acceptor_id", json_row(card_acceptor_id=5411)),
    ("token_invalid", "refund_ref", json_row(refund_ref=["RF-1"])),
    ("token_invalid", "original_transaction_ref", json_row(original_transaction_ref=17)),
    ("refund_kind_unknown", "kind", json_row(kind=1)),
    ("original_missing", "original_transaction_ref", json_row(**NO_ORIGINAL, card_token=None)),
    ("amount_invalid", "amount", json_row(amount="12.50")),
    ("timestamp_invalid", "refunded_at", json_row(refunded_at=1773839574)),
    ("institution_mismatch", "institution_id", json_row(institution_id=CALLER[::-1])),
]


def test_every_rule_of_refunds_has_a_line_here() -> None:
    shown = {code for code, _, _ in (*CSV_FAULTS, *JSON_FAULTS)}
    assert {rule.code for rule in RULES if rule.holds_of(REFUNDS)} <= shown


@pytest.mark.parametrize(("code", "column", "line"), CSV_FAULTS, ids=lambda value: str(value)[:60])
def test_a_csv_line_has_one_finding_and_stops_only_itself(
    read: Callable[..., Any], code: str, column: str | None, line: str
) -> None:
    content = "\n".join((HEADER, csv_line(), "", line, csv_line(refund_ref="RF-2"), ""))
    outcome = read(content.encode(errors="surrogateescape"), currency="GBP")
    assert [(4, column, code)] == outcome.columns
    is_error = CODES[code].level == "error"
    assert ([2, 5] if is_error else [2, 4, 5]) == outcome.rows["line"].to_list()
    assert (3, int(is_error), 1) == outcome.counts


@pytest.mark.parametrize(("code", "column", "line"), JSON_FAULTS, ids=lambda value: str(value)[:60])
def test_a_json_line_has_one_finding_and_stops_only_itself(
    read: Callable[..., Any], code: str, column: str, line: str
) -> None:
    content = "\n".join((json_row(), line, json_row(refund_ref="RF-2")))
    outcome = read(content.encode(), institution_id=CALLER, currency="GBP")
    assert [(2, column, code)] == outcome.columns
    assert [1, 3] == outcome.rows["line"].to_list()


ACCEPTED = [
    # what a row may lack, or have besides
    {"cardholder_token": "", "card_token": "", "card_acceptor_id": ""},
    {"card_token": ""},
    {"cardholder_token": ""},
    NO_ORIGINAL,
    {**NO_ORIGINAL, "card_token": "", "instrument_token": "ct_1"},
    {**NO_ORIGINAL, "card_acceptor_id": "", "merchant_id": "0f8fad5b-d9cb-469f-a165-70867728950e"},
    {"kind": "void"},
    {"kind": "adjustment", "currency": "GBP"},
    {"original_transaction_ref": "RF-1"},  # references of refunds are apart from those of purchases
]


@pytest.mark.parametrize("changes", ACCEPTED, ids=str)
def test_a_refund_names_its_purchase_or_where_to_look_for_it(
    read: Callable[..., Any], changes: dict[str, str]
) -> None:
    outcome = read(f"{HEADER}\n{csv_line(**changes)}\n".encode(), currency="GBP")
    assert [] == outcome.findings
    (row,) = outcome.rows.rows(named=True)
    kept = {"original_transaction_ref": "TX-1", "kind": "refund", **changes}
    assert (kept["original_transaction_ref"] or None, kept["kind"]) == (
        row["original_transaction_ref"],
        row["kind"],
    )


def _array(rows: list[str]) -> bytes:
    return f"[{','.join(rows)}]".encode()


FORMS = {
    "csv": lambda _: f"{HEADER}\n{csv_line()}\n{csv_line(refund_ref='RF-2')}\n".encode(),
    "array": _array,
    "object": lambda rows: b'{"refunds": ' + _array(rows) + b"}",
    "lines": lambda rows: "".join(f"{row}\n" for row in rows).encode(),
    "gzip": lambda rows: gzip.compress(_array(rows)),
}


@pytest.mark.parametrize("form", FORMS)
def test_refunds_of_each_form_come_to_the_same_rows(read: Callable[..., Any], form: str) -> None:
    outcome = read(FORMS[form]([json_row(), json_row(refund_ref="RF-2")]))
    assert valid_schema(REFUNDS) == dict(outcome.rows.schema)
    assert [
        ("RF-1", HOLDER, "TX-1", "12.5000", "refund"),
        ("RF-2", HOLDER, "TX-1", "12.5000", "refund"),
    ] == [
        (
            *(row["transaction_ref"], row["cardholder_token"], row["original_transaction_ref"]),
            *(str(row["amount"]), row["kind"]),
        )
        for row in outcome.rows.rows(named=True)
    ]


PURCHASE_HEADER = (
    "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
)
BEGINNINGS = [
    # how a file begins, and the kind of its rows; None: it does not say
    (HEADER, "refunds"),
    ("\n \nRefund Ref;Amount;Refunded At\n", "refunds"),
    ("refund_ref,cardholder_token,amount,refunded_at", "refunds"),
    (PURCHASE_HEADER, "purchases"),
    (f"{PURCHASE_HEADER},refund_ref", "purchases"),
    (f"{HEADER},transaction_ref", "refunds"),
    ("Buchungstag;Betrag;kind", None),
    ("original_transaction_ref,amount", None),
    ("", None),
    (json_row(), "refunds"),
    (f"[{json_row()}", "refunds"),
    ('{"refunds": []}', "refunds"),
    ('{"transactions": []}', "purchases"),
    ('{"transactions": [{"refund_ref": "x"}]}', "purchases"),
    ('[{"transaction_ref": "\\"refund_ref\\":"}]', "purchases"),
    ("[]", None),
]


@pytest.mark.parametrize(("beginning", "expected"), BEGINNINGS)
def test_the_names_in_a_file_tell_the_kind_of_its_rows(
    beginning: str, expected: str | None
) -> None:
    found = {row_kind_of(beginning.encode(), kind).name for kind in KINDS}
    assert ({expected} if expected else {kind.name for kind in KINDS}) == found


def test_only_a_whole_header_is_surely_of_our_layout() -> None:
    assert is_of_other_kind(HEADER.encode())
    assert not is_of_other_kind(b"refund_ref,refunded_at,Betrag")
    assert not is_of_other_kind(PURCHASE_HEADER.encode())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_that_is_given_is_not_asked_of_the_file(
    read: Callable[..., Any], kind: RowKind
) -> None:
    other = {PURCHASES: HEADER}.get(kind, PURCHASE_HEADER)
    found = read(f"{other}\n".encode(), kind=kind, is_kind_given=True)
    assert "header_column_missing" == found


def test_every_name_of_another_kind_is_not_known(read: Callable[..., Any]) -> None:
    content = f"{HEADER},mcc,transaction_ref\n{csv_line()},5411,TX-1\n"
    outcome = read(content.encode())
    assert ["column_unknown", "column_unknown"] == outcome.warnings


def test_rows_are_copied_apart_under_their_own_list(tmp_path: Path) -> None:
    path = tmp_path / "refunds.json"
    path.write_bytes(FORMS["object"]([json_row(), json_row(kind="x"), json_row(refund_ref="R2")]))
    good, bad = io.BytesIO(), io.BytesIO()
    with open_transactions(str(path), FileReading(now=NOW)) as file:
        (chunk,) = file.chunks()
        file.split(chunk.rejected, good, bad)
    assert ["RF-1", "R2"] == [row["refund_ref"] for row in json.loads(good.getvalue())]
    assert ["x"] == [row["kind"] for row in json.loads(bad.getvalue())]


def test_original_references_that_look_like_cards_by_chance_are_references(
    tmp_path: Path,
) -> None:
    path = tmp_path / "refunds.csv"
    lines = (
        csv_line(refund_ref=f"RF-{n}", original_transaction_ref=str(4111111111111100 + n))
        for n in range(200)
    )
    path.write_text("\n".join((HEADER, *lines, "")))
    with open_transactions(str(path), FileReading(now=NOW)) as file:
        doubts = sum(chunk.doubts.height for chunk in file.chunks())
        assert 20 == doubts
        assert ["reference_like_card"] == [found.code for found in file.file_findings]
        form = NumberForm("original_transaction_ref", 16, "alone")
        assert not file.numbers.is_refused(form)
