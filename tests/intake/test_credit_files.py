"""A credited file is read as one of purchases is: by the same rules, though it names nobody."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.chunks import valid_schema
from cardoffers_cli.intake.headers import is_of_other_kind, row_kind_of
from cardoffers_cli.intake.rules import RULES
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.row_kinds import CREDITS, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

CALLER = "7c9a1745-303f-576b-af43-a4367a33b2ad"
REDEMPTION = "0b7f5a62-6d1e-5c38-9f20-3d4c8e1a7b95"
GOOD: dict[str, Any] = {
    "redemption_id": REDEMPTION,
    "transaction_ref": "TX-1",
    "amount": "2.50",
    "status": "credited",
    "credited_at": "2026-03-18T13:12:54Z",
    "credit_ref": "CR-1",
}
NAMES = (*GOOD, "currency", "failure_code")
HEADER = ",".join(NAMES)
NO_REDEMPTION = {"redemption_id": "", "transaction_ref": ""}


def csv_line(**changes: str) -> str:
    row = {**GOOD, **changes}
    return ",".join(row.get(name, "") for name in NAMES)


def json_row(**changes: Any) -> str:
    row = {**GOOD, "amount": "<amount>", **changes}
    text = json.dumps({name: value for name, value in row.items() if value is not None})
    return text.replace('"<amount>"', "2.50")


CSV_FAULTS = [
    # code, column, the line that has it
    ("field_count", None, csv_line() + ","),
    ("control_character", "status", csv_line(status="cre\u200bdited")),
    ("control_character", "failure_code", csv_line(status="failed", failure_code="R\t02")),
    *(("required_missing", name, csv_line(**{name: ""})) for name in CREDITS.required),
    ("redemption_missing", "redemption_id", csv_line(**NO_REDEMPTION)),
    ("redemption_id_invalid", "redemption_id", csv_line(redemption_id="0b7f5a62")),
    ("redemption_id_invalid", "redemption_id", csv_line(redemption_id="4111111111111111")),
    ("credit_status_unknown", "status", csv_line(status="paid")),
    ("credit_status_unknown", "status", csv_line(status="Credited")),
    ("failure_code_missing", "failure_code", csv_line(status="failed")),
    ("failure_code_unexpected", "failure_code", csv_line(failure_code="R02")),
    ("spreadsheet_error", "failure_code", csv_line(status="failed", failure_code="#N/A")),
    *(
        (code, name, csv_line(**{name: text}))
        for name in ("credit_ref", "transaction_ref")
        for code, text in (
            ("token_placeholder", "NULL"),
            ("spreadsheet_damage", "5.2E+14"),
            ("spreadsheet_damage", "'0123456789"),
            ("token_invalid", "C R"),
            ("token_invalid", "C" * 129),
        )
    ),
    ("amount_invalid", "amount", csv_line(amount="1e3")),
    ("amount_precision", "amount", csv_line(amount="2.505")),
    ("amount_not_positive", "amount", csv_line(amount="-2.50")),
    ("amount_not_positive", "amount", csv_line(status="reversed", amount="0.00")),
    ("amount_too_large", "amount", csv_line(amount="1000000000000")),
    ("date_turned", "amount", csv_line(amount="03-Dec")),
    ("currency_mismatch", "currency", csv_line(currency="USD")),
    ("timestamp_invalid", "credited_at", csv_line(credited_at="18/03/2026")),
    ("timestamp_no_offset", "credited_at", csv_line(credited_at="2026-03-18")),
    ("date_turned", "credited_at", csv_line(credited_at="46099.55")),
    ("timestamp_in_future", "credited_at", csv_line(credited_at="2026-11-02T00:00:01Z")),
]

JSON_FAULTS = [
    # code, column, the line that has it
    ("text_invalid", "failure_code", json_row(status="failed", failure_code=17)),
    ("token_invalid", "credit_ref", json_row(credit_ref=17)),
    ("token_invalid", "transaction_ref", json_row(transaction_ref=["TX-1"])),
    ("redemption_id_invalid", "redemption_id", json_row(redemption_id=17)),
    ("redemption_missing", "redemption_id", json_row(redemption_id=None, transaction_ref=None)),
    ("credit_status_unknown", "status", json_row(status=True)),
    ("amount_invalid", "amount", json_row(amount="2.50")),
    ("timestamp_invalid", "credited_at", json_row(credited_at=1773839574)),
    ("institution_mismatch", "institution_id", json_row(institution_id=CALLER[::-1])),
]


def test_every_rule_of_credited_rows_has_a_line_here() -> None:
    shown = {code for code, _, _ in (*CSV_FAULTS, *JSON_FAULTS)}
    assert {rule.code for rule in RULES if rule.holds_of(CREDITS)} <= shown


@pytest.mark.parametrize(("code", "column", "line"), CSV_FAULTS, ids=lambda value: str(value)[:60])
def test_a_csv_line_has_one_finding_and_stops_only_itself(
    read: Callable[..., Any], code: str, column: str | None, line: str
) -> None:
    content = "\n".join((HEADER, csv_line(), "", line, csv_line(credit_ref="CR-2"), ""))
    outcome = read(content.encode(), currency="GBP")
    assert [(4, column, code)] == outcome.columns
    is_error = CODES[code].level == "error"
    assert ([2, 5] if is_error else [2, 4, 5]) == outcome.rows["line"].to_list()
    assert (3, int(is_error), 1) == outcome.counts


@pytest.mark.parametrize(("code", "column", "line"), JSON_FAULTS, ids=lambda value: str(value)[:60])
def test_a_json_line_has_one_finding_and_stops_only_itself(
    read: Callable[..., Any], code: str, column: str, line: str
) -> None:
    content = "\n".join((json_row(), line, json_row(credit_ref="CR-2")))
    outcome = read(content.encode(), institution_id=CALLER, currency="GBP")
    assert [(2, column, code)] == outcome.columns
    assert [1, 3] == outcome.rows["line"].to_list()


ACCEPTED = [
    # what a row may lack, or have besides
    {"transaction_ref": ""},
    {"redemption_id": ""},
    {"redemption_id": REDEMPTION.upper()},
    {"status": "failed", "failure_code": "R02"},
    {"status": "reversed"},
    {"status": "reversed", "failure_code": "recalled"},
    {"currency": "GBP"},
    {"transaction_ref": "CR-1"},  # references of credited rows are apart from those of purchases
]


@pytest.mark.parametrize("changes", ACCEPTED, ids=str)
def test_a_credited_row_names_its_redemption_or_its_purchase(
    read: Callable[..., Any], changes: dict[str, str]
) -> None:
    outcome = read(f"{HEADER}\n{csv_line(**changes)}\n".encode(), currency="GBP")
    assert [] == outcome.findings
    (row,) = outcome.rows.rows(named=True)
    kept = {"failure_code": "", **GOOD, **changes}
    assert [
        kept["redemption_id"].lower() or None,
        *(kept[name] or None for name in ("transaction_ref", "status", "failure_code")),
    ] == [row[name] for name in ("redemption_id", "redeemed_ref", "status", "failure_code")]


def _array(rows: list[str]) -> bytes:
    return f"[{','.join(rows)}]".encode()


FORMS = {
    "csv": lambda _: f"{HEADER}\n{csv_line()}\n{csv_line(credit_ref='CR-2')}\n".encode(),
    "array": _array,
    "object": lambda rows: b'{"credits": ' + _array(rows) + b"}",
    "lines": lambda rows: "".join(f"{row}\n" for row in rows).encode(),
    "gzip": lambda rows: gzip.compress(_array(rows)),
}


@pytest.mark.parametrize("form", FORMS)
def test_credited_rows_of_each_form_come_to_the_same(read: Callable[..., Any], form: str) -> None:
    outcome = read(FORMS[form]([json_row(), json_row(credit_ref="CR-2")]))
    assert valid_schema(CREDITS) == dict(outcome.rows.schema)
    assert [
        ("CR-1", REDEMPTION, "TX-1", "2.5000", "credited"),
        ("CR-2", REDEMPTION, "TX-1", "2.5000", "credited"),
    ] == [
        (
            *(row["transaction_ref"], row["redemption_id"], row["redeemed_ref"]),
            *(str(row["amount"]), row["status"]),
        )
        for row in outcome.rows.rows(named=True)
    ]


OTHER_HEADER = "cardholder_token,card_token,merchant_id,amount,transaction_ref,transacted_at"
BEGINNINGS = [
    # how a file begins, and the kind of its rows
    (HEADER, "credits"),
    ("Credit Ref;Amount;Credited At\n", "credits"),
    ("transaction_ref,amount,status,credited_at,credit_ref", "credits"),
    ("transaction_ref,amount,credit_ref", "credits"),
    ("redemption_id,amount,transaction_ref", "purchases"),
    (f"{OTHER_HEADER},credit_ref", "purchases"),
    ("refund_ref,original_transaction_ref,amount,refunded_at,credited_at", "refunds"),
    (json_row(), "credits"),
    (f"[{json_row(redemption_id=None)}", "credits"),
    ('{"credits": [{"transaction_ref": "x"}]}', "credits"),
]


@pytest.mark.parametrize(("beginning", "expected"), BEGINNINGS)
def test_the_names_in_a_file_tell_that_its_rows_were_credited(
    beginning: str, expected: str
) -> None:
    assert {expected} == {row_kind_of(beginning.encode(), kind).name for kind in KINDS}


@pytest.mark.parametrize(
    ("is_other", "header"),
    [
        (True, HEADER),
        (True, "transaction_ref,amount,status,credited_at,credit_ref"),
        (False, "transaction_ref,amount,status,credited_at,Referenz"),
        (False, "amount,status,credited_at,credit_ref"),
    ],
)
def test_only_a_whole_header_is_surely_of_our_layout(is_other: bool, header: str) -> None:
    assert is_other == is_of_other_kind(header.encode())


def test_a_header_that_names_nothing_credited_is_told_what_it_lacks(
    read: Callable[..., Any],
) -> None:
    assert "header_column_missing" == read(b"amount,status,credited_at,credit_ref\n")


def test_columns_of_other_kinds_are_not_known(read: Callable[..., Any]) -> None:
    content = f"{HEADER},cardholder_token,kind\n{csv_line()},abc,refund\n"
    assert ["column_unknown", "column_unknown"] == read(content.encode()).warnings
