# ruff: noqa: S106 - the tokens here are those of the domain, no passwords
from __future__ import annotations

import gzip
import io
import json
import sys
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from cardoffers_cli.intake.transactions import (
    FINDING_SCHEMA,
    VALID_SCHEMA,
    FileReading,
    open_transactions,
)
from cardoffers_cli.kernel.words.findings import CODES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product
HOLDER = "9fb6f85a8aac50e20c422cac18b44258"
CARD = "ct_527b0abbb58b57705447ea2f567d7e3c"
CALLER = "7c9a1745-303f-576b-af43-a4367a33b2ad"
OTHER = "9157705f-fd17-57ae-b6e4-9929a3cc8648"
GOOD: dict[str, Any] = {
    "cardholder_token": HOLDER,
    "card_token": CARD,
    "card_acceptor_id": "M6CF4DC01F8024C",
    "amount": "12.50",
    "transaction_ref": "TX-1",
    "transacted_at": "2026-03-18T13:12:54Z",
}
EXTRAS = (
    "instrument_token",
    "instrument_type",
    "merchant_identifier",
    "merchant_identifier_type",
    "merchant_id",
    "mcc",
    "merchant_descriptor",
    "network",
    "currency",
)
HEADER = ",".join((*GOOD, *EXTRAS))
CARD_NUMBER = "4111 1111-1111 1111"
ADDRESS = "jo.doe@example.com"


def csv_line(**changes: str) -> str:
    event = {**GOOD, **changes}
    return ",".join(event.get(name, "") for name in (*GOOD, *EXTRAS))


def json_event(**changes: Any) -> str:
    event = {**GOOD, "amount": "<amount>", **changes}
    text = json.dumps({name: value for name, value in event.items() if value is not None})
    return text.replace('"<amount>"', "12.50")


CSV_FAULTS = [
    # code, the line that has it
    ("field_count", csv_line() + ","),
    ("field_count", "a,b"),
    ("unclosed_quote", csv_line(mcc='"5411')),
    ("stray_quote", csv_line(mcc='54"11')),
    ("stray_quote", csv_line(mcc='"54"11')),
    ("encoding", csv_line(merchant_descriptor="Caf\udce9")),
    ("control_character", csv_line(merchant_descriptor="a\tb")),
    ("control_character", csv_line(transaction_ref="TX\x001")),
    ("control_character", csv_line(network="vi\x85sa")),
    ("control_character", csv_line(network="\u202evisa")),
    ("control_character", csv_line(network="vi\u200bsa")),
    ("control_character", csv_line(network="visa\x7f")),
    ("line_too_long", csv_line(merchant_descriptor="x" * 65536)),
    ("required_missing", csv_line(cardholder_token="")),
    ("required_missing", csv_line(card_token="")),
    ("required_missing", csv_line(amount="")),
    ("required_missing", csv_line(transaction_ref="")),
    ("required_missing", csv_line(transacted_at="")),
    ("token_invalid", csv_line(cardholder_token=HOLDER + " x")),
    ("token_invalid", csv_line(card_token="carté")),
    ("token_invalid", csv_line(card_token="c" * 257)),
    ("token_invalid", csv_line(transaction_ref="T" * 129)),
    ("card_number", csv_line(card_token=CARD_NUMBER)),
    ("card_number", csv_line(card_token="", instrument_token="4111111111111111")),
    ("card_number", csv_line(cardholder_token="5555555555554444")),
    ("personal_data", csv_line(cardholder_token=ADDRESS)),
    *(
        ("token_placeholder", csv_line(**{name: text}))
        for name in ("cardholder_token", "card_token", "transaction_ref", "card_acceptor_id")
        for text in (
            *("NULL", "null", "N/A", "none", "nan", "-", "--", "\\N", "?", "..."),
            *("#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#BEZUG!", "##########"),
            *("TRUE", "False"),
        )
    ),
    *(
        ("token_placeholder", csv_line(cardholder_token=text))
        for text in ("unknown", "Undefined", "MISSING", "(null)", "<null>", "n.a.", "0", "0" * 16)
    ),
    *(
        ("spreadsheet_damage", csv_line(**{name: text}))
        for name in ("cardholder_token", "card_token", "transaction_ref", "card_acceptor_id")
        for text in (
            *("5.2E+14", "5.26610E+14", "-5.2E+14"),
            '"""0123456789"""',
            "5,2e+14".join('""'),
            '="0123456789"',
            '"=""0123456789"""',
            "'0123456789",
            " 0123456789",
            "0123456789 ",
            "0123456789\u00a0",
        )
    ),
    ("date_turned", csv_line(transacted_at="46099.55")),
    ("date_turned", csv_line(amount="03-Dec")),
    ("spreadsheet_error", csv_line(merchant_descriptor="#N/A")),
    ("instrument_conflict", csv_line(instrument_token="ct_other")),
    ("instrument_type_unknown", csv_line(instrument_type="Card")),
    ("merchant_identifier_type_unknown", csv_line(merchant_identifier_type="vpa")),
    ("merchant_conflict", csv_line(merchant_identifier="M1")),
    (
        "merchant_conflict",
        csv_line(merchant_identifier="M1", merchant_identifier_type="card_acceptor"),
    ),
    ("merchant_id_invalid", csv_line(merchant_id="0f8fad5b")),
    *(
        ("amount_invalid", csv_line(amount=text))
        for text in (
            "+5",
            "1e3",
            '"1,000"',
            ".5",
            "5.",
            " 5",
            "5 ",
            "£5",
            "-",
            "--5",
            "1.2.3",
            "\u0665",
        )
    ),
    ("amount_precision", csv_line(amount="12.505")),
    ("amount_precision", csv_line(amount="12.5001000")),
    ("amount_precision", csv_line(amount="0.001")),
    ("currency_mismatch", csv_line(currency="USD")),
    ("currency_mismatch", csv_line(currency="gbp")),
    ("currency_mismatch", csv_line(currency="pounds")),
    ("amount_not_positive", csv_line(amount="-12.50")),
    ("amount_not_positive", csv_line(amount="0")),
    ("amount_not_positive", csv_line(amount="0.00")),
    ("amount_too_large", csv_line(amount="1000000000000")),
    ("amount_too_large", csv_line(amount="9" * 40)),
    *(
        ("timestamp_invalid", csv_line(transacted_at=text))
        for text in (
            "18/03/2026",
            "2026-02-30T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-03-18T24:00:00Z",
            "2026-03-18T23:59:60Z",
            "2026-03-18T10:60:00Z",
            "1969-12-31T10:00:00Z",
            "2101-01-01T00:00:00Z",
            "2026-03-18T10:00:00.Z",
            "2026-03-18T10:00:00.1234567890Z",
            "2026-03-18T10:00:00+24:00",
            "2026-03-18T10:00:00+2",
            "2026-03-18T10:00:00+02:0",
            "2026-03-18T10:00:00;5Z",
            "2026-03-18T10Z",
            "2026-03-18Z",
            "2026-02-30",
            "1773839574",
            "infinity",
        )
    ),
    ("timestamp_no_offset", csv_line(transacted_at="2026-03-18T10:00:00")),
    ("timestamp_no_offset", csv_line(transacted_at="2026-03-18 10:00")),
    ("timestamp_no_offset", csv_line(transacted_at="2026-03-18")),
    ("timestamp_in_future", csv_line(transacted_at="2026-11-02T00:00:01Z")),
    ("token_weak", csv_line(cardholder_token="customer-1")),
    ("merchant_missing", csv_line(card_acceptor_id="")),
]

JSON_FAULTS = [
    ("json_invalid", '{"amount": NaN}'),
    ("json_invalid", '{"amount": 1,}'),
    ("json_invalid", "[" * 100_00),
    ("encoding", '{"amount": "\udce9"}'),
    ("not_an_object", "[]"),
    ("not_an_object", "12"),
    ("duplicate_key", json_event()[:-1] + ', "amount": 12.50}'),
    ("line_too_long", json_event(merchant_descriptor="x" * 65536)),
    ("required_missing", json_event(card_token=None)),
    ("required_missing", json_event(cardholder_token="")),
    ("control_character", json_event(network="vi\u0000sa")),
    ("token_invalid", json_event(card_token=17)),
    ("token_invalid", json_event(transaction_ref=["TX-1"])),
    ("text_invalid", json_event(mcc=5411)),
    ("text_invalid", json_event(merchant_descriptor={})),
    ("instrument_type_unknown", json_event(instrument_type=True)),
    ("merchant_id_invalid", json_event(merchant_id=1.5)),
    ("timestamp_invalid", json_event(transacted_at=1773839574)),
    ("card_number", json_event(card_token=4111111111111111)),
    ("amount_invalid", json_event(amount="12.50")),
    ("amount_invalid", json_event(amount=True)),
    ("amount_invalid", json_event(amount=[1])),
    ("amount_precision", json_event().replace("12.50", "12.505")),
    ("currency_mismatch", json_event(currency="USD")),
    ("currency_mismatch", json_event(currency=826)),
    ("token_placeholder", json_event(cardholder_token="NULL")),
    ("spreadsheet_damage", json_event(card_acceptor_id=" M6CF4DC01F8024C")),
    ("control_character", json_event(colour="r\u0007d")),
    ("control_character", json_event(**{"col\u202eour": 1})),
    ("control_character", json_event(colours=[{"first": "r\u200bd"}])),
    ("amount_precision", json_event().replace("12.50", "1e-400")),
    ("amount_too_large", json_event().replace("12.50", "1e400")),
    ("amount_too_large", json_event().replace("12.50", "1" * 400)),
    ("amount_not_positive", json_event().replace("12.50", "-1e2")),
    ("amount_not_positive", json_event().replace("12.50", "-0.0e7")),
    ("institution_mismatch", json_event(institution_id=OTHER)),
    ("institution_mismatch", json_event(institution_id=7)),
    ("token_weak", json_event(cardholder_token="customer-1")),
]


def test_every_code_of_a_row_has_a_line_here() -> None:
    of_the_whole_file = {
        "last_line_unterminated",
        *("column_unknown", "column_ignored", "rows_missing"),
        *("leading_zeros_lost", "reference_like_card", "file_short"),
    }
    of_the_import = {"tokens_unstable", "duplicate", "duplicate_conflict", "look_alike"}
    of_a_profile = {
        *("timestamp_ambiguous", "timestamp_skipped"),
        *("refunds_among", "refund_left_out"),
    }
    of_refunds = {"original_missing", "refund_kind_unknown"}
    of_credits = {
        *("redemption_missing", "redemption_id_invalid", "credit_status_unknown"),
        *("failure_code_missing", "failure_code_unexpected"),
    }
    shown = {code for code, _ in CSV_FAULTS} | {code for code, _ in JSON_FAULTS}
    others = of_the_whole_file | of_the_import | of_a_profile | of_refunds | of_credits
    assert set(CODES) - others == shown


@pytest.mark.parametrize(("code", "line"), CSV_FAULTS, ids=lambda value: value[:60])
def test_a_csv_line_has_one_finding_and_stops_only_itself(
    read: Callable[..., Any], code: str, line: str
) -> None:
    content = "\n".join((HEADER, csv_line(), "", line, csv_line(transaction_ref="TX-2"), ""))
    outcome = read(content.encode(errors="surrogateescape"), currency="GBP")
    is_error = CODES[code].level == "error"
    assert [(4, code)] == outcome.findings
    assert ([2, 5] if is_error else [2, 4, 5]) == outcome.rows["line"].to_list()
    assert ([4] if is_error else []) == outcome.rejected
    assert (3, len(outcome.rejected), 1) == outcome.counts


@pytest.mark.parametrize(("code", "line"), JSON_FAULTS, ids=lambda value: value[:60])
def test_a_json_line_has_one_finding_and_stops_only_itself(
    read: Callable[..., Any], code: str, line: str
) -> None:
    content = "\n".join((json_event(), line, json_event(transaction_ref="TX-2")))
    outcome = read(content.encode(errors="surrogateescape"), institution_id=CALLER, currency="GBP")
    assert "jsonl" == outcome.kind
    assert [(2, code)] == outcome.findings
    assert 3 - len(outcome.rejected) == outcome.rows.height


@pytest.mark.parametrize("hidden", ["\x07", "\x85", "\u202e", "\u200b"])
@pytest.mark.parametrize("column", ["colour", "institution_id"])
def test_a_column_that_is_ignored_holds_no_control_characters_either(
    read: Callable[..., Any], column: str, hidden: str
) -> None:
    lines = [f"{HEADER},{column}", f"{csv_line()},red", f"{csv_line()},r{hidden}d", ""]
    assert [(3, None, "control_character")] == read("\n".join(lines).encode()).columns


def test_a_number_in_quotes_is_told_to_be_without(read: Callable[..., Any]) -> None:
    assert "without quotes" in read(json_event(amount="12.50").encode()).text


def test_one_row_can_have_several_causes(read: Callable[..., Any]) -> None:
    line = csv_line(cardholder_token="", amount="x", transacted_at="y", instrument_type="z")
    outcome = read(f"{HEADER}\n{line}\n".encode())
    assert [
        (2, "cardholder_token", "required_missing"),
        (2, "instrument_type", "instrument_type_unknown"),
        (2, "amount", "amount_invalid"),
        (2, "transacted_at", "timestamp_invalid"),
    ] == outcome.columns


@pytest.mark.parametrize(
    ("decimals", "valid"),
    [
        (0, ["12", "12.0", "1200.00"]),
        (2, ["12", "12.0", "1200.00", "12.5", "12.50", "12.500", "12.5000000"]),
        (3, ["12", "12.0", "1200.00", "12.5", "12.50", "12.500", "12.5000000", "12.505"]),
    ],
)
def test_decimals_are_the_currencys(
    read: Callable[..., Any], decimals: int, valid: list[str]
) -> None:
    amounts = ("12", "12.0", "1200.00", "12.5", "12.50", "12.500", "12.5000000", "12.505")
    lines = "\n".join(csv_line(amount=amount) for amount in amounts)
    outcome = read(f"{HEADER}\n{lines}".encode(), decimals=decimals)
    assert [Decimal(text) for text in valid] == outcome.rows["amount"].to_list()


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-18T13:12:54Z", "2026-03-18 13:12:54"),
        ("2026-03-18 13:12:54Z", "2026-03-18 13:12:54"),
        ("2026-03-18T13:12Z", "2026-03-18 13:12:00"),
        ("2026-03-18T13:12:54+05:30", "2026-03-18 07:42:54"),
        ("2026-03-18T23:12:54-08:00", "2026-03-19 07:12:54"),
        ("2026-03-18T13:12:54.5Z", "2026-03-18 13:12:54.500000"),
        ("2026-03-18T13:12:54.123456999Z", "2026-03-18 13:12:54.123456"),
        ("2026-03-18t13:12:54z", "2026-03-18 13:12:54"),
        ("2026-03-18T13:12:54+0530", "2026-03-18 07:42:54"),
        ("2026-03-18T13:12:54-08", "2026-03-18 21:12:54"),
        ("2026-03-18 13:12+01", "2026-03-18 12:12:00"),
        ('"2026-03-18T13:12:54,5Z"', "2026-03-18 13:12:54.500000"),
        ('"2026-03-18t13:12:54,123456999-0030"', "2026-03-18 13:42:54.123456"),
        ("2024-02-29T00:00:00Z", "2024-02-29 00:00:00"),
        ("2026-11-02T00:00:00Z", "2026-11-02 00:00:00"),
    ],
)
def test_moments_are_read_as_utc(read: Callable[..., Any], text: str, utc: str) -> None:
    outcome = read(f"{HEADER}\n{csv_line(transacted_at=text)}".encode())
    assert [utc] == [str(moment) for moment in outcome.rows["transacted_at"].to_list()]


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-07-01T12:00:00", "2026-07-01 10:00:00"),
        ("2026-07-01", "2026-06-30 22:00:00"),
        ("2026-10-25T02:30:00", "2026-10-25 00:30:00"),  # happens twice: the first
    ],
)
def test_a_time_zone_can_be_assumed(read: Callable[..., Any], text: str, utc: str) -> None:
    content = f"{HEADER}\n{csv_line(transacted_at=text)}".encode()
    outcome = read(content, assume_timezone="Europe/Madrid")
    assert [utc] == [str(moment) for moment in outcome.rows["transacted_at"].to_list()]
    assert outcome.assumed_timezone


def test_a_local_time_that_was_skipped_is_no_moment(read: Callable[..., Any]) -> None:
    content = f"{HEADER}\n{csv_line(transacted_at='2026-03-29T02:30:00')}".encode()
    outcome = read(content, assume_timezone="Europe/Madrid")
    assert [(2, "timestamp_invalid")] == outcome.findings
    assert not outcome.assumed_timezone


@pytest.mark.parametrize(
    ("changes", "identifier"),
    [
        ({}, ("card_acceptor", "M6CF4DC01F8024C")),
        ({"card_acceptor_id": "", "merchant_identifier": "M1"}, ("card_acceptor", "M1")),
        (
            {"merchant_identifier": "shop@bank", "merchant_identifier_type": "upi_vpa"},
            ("upi_vpa", "shop@bank"),
        ),
        ({"merchant_identifier": "M6CF4DC01F8024C"}, ("card_acceptor", "M6CF4DC01F8024C")),
        ({"card_acceptor_id": "", "merchant_id": OTHER.upper()}, (None, None)),
    ],
)
def test_a_row_keeps_one_merchant_identifier(
    read: Callable[..., Any], changes: dict[str, str], identifier: tuple[str | None, str | None]
) -> None:
    rows = read(f"{HEADER}\n{csv_line(**changes)}".encode()).rows
    assert [identifier] == rows.select("merchant_identifier_type", "merchant_identifier").rows()
    assert [OTHER if "merchant_id" in changes else None] == rows["merchant_id"].to_list()


def test_a_valid_row_has_every_field_with_its_type(read: Callable[..., Any]) -> None:
    line = csv_line(mcc="5411", network="visa", instrument_type="card", merchant_descriptor="Café")
    outcome = read(f"{HEADER}\n{line}\n".encode())
    assert VALID_SCHEMA == dict(outcome.rows.schema)
    columns = ("amount", "merchant_descriptor", "instrument_token", "mcc")
    assert [(Decimal("12.50"), "Café", CARD, "5411")] == outcome.rows.select(columns).rows()


GOOD_LINES = [csv_line(transaction_ref=f"TX-{n}", amount=f"{n}.5") for n in range(1, 9)]
BAD_LINE = csv_line(transaction_ref="TX-9", amount="-1")


def _as_kinds() -> dict[str, bytes]:
    names = HEADER.split(",")
    events = [
        "{"
        + ", ".join(
            f'"{name}": {value if name == "amount" else json.dumps(value)}'
            for name, value in zip(names, line.split(","), strict=True)
            if value
        )
        + "}"
        for line in (*GOOD_LINES, BAD_LINE)
    ]
    csv = "\n".join((HEADER, *GOOD_LINES, BAD_LINE)).encode()
    quoted = "\r\n".join(
        ",".join(f'"{field}"' for field in line.split(",")) for line in csv.decode().splitlines()
    ).encode()
    return {
        "csv": csv,
        "quoted csv, crlf": quoted,
        "csv, cr": csv.replace(b"\n", b"\r"),
        "csv, byte order mark": b"\xef\xbb\xbf" + csv,
        "jsonl": "\n".join(events).encode(),
        "json": f"[{', '.join(events)}]".encode(),
        "json, indented": json.dumps({"transactions": "<>"}, indent=1)
        .replace('"<>"', "[\n" + ",\n".join(events) + "\n]")
        .encode(),
        "csv.gz": gzip.compress(csv, mtime=0),
        "jsonl.gz": gzip.compress("\n".join(events).encode(), mtime=0),
    }


UNTERMINATED = [
    # content, and the line that has no end
    (f"{HEADER}\n{csv_line()}", 2),
    (f"{HEADER}\n{csv_line()}\n\n{csv_line()[:-3]}", 4),
    (f"{HEADER}\n{csv_line()}\r\n", None),
    (f"{HEADER}\r{csv_line()}\r", None),
    (f"{HEADER}\n{csv_line()}\n \t", None),
    (HEADER, None),
    (f'{HEADER}\n{csv_line()}\n{csv_line()[:40]},"', 3),
    (f"{HEADER}\n{csv_line()}\n{'x' * 70_000}", 3),
    (json_event(), 1),
    (f"{json_event()}\n{json_event()[:-9]}", 2),
    (f"{json_event()}\n", None),
    (f"[{json_event()}]", None),
]


@pytest.mark.parametrize(("content", "line"), UNTERMINATED, ids=lambda value: str(value)[-40:])
@pytest.mark.parametrize("level", ["error", "warning", None])
def test_a_last_line_without_its_end_is_told(
    read: Callable[..., Any], content: str, line: int | None, level: str | None
) -> None:
    outcome = read(content.encode(), unterminated=level)
    found = [each for each, code in outcome.findings if code == "last_line_unterminated"]
    assert ([line] if line and level else []) == found
    assert not line or level != "error" or line in outcome.rejected
    assert len(set(outcome.rejected)) == len(outcome.rejected) == outcome.counts[1]


@pytest.mark.parametrize("kind", _as_kinds())
def test_all_kinds_give_the_same_rows(read: Callable[..., Any], kind: str) -> None:
    expected = read(_as_kinds()["csv"])
    actual = read(_as_kinds()[kind])
    assert expected.rows.drop("line").rows() == actual.rows.drop("line").rows()
    assert ["amount_not_positive"] == [code for _, code in actual.findings]
    assert (9, 1, 0) == actual.counts


@pytest.mark.parametrize(
    ("header", "warnings"),
    [
        (HEADER, ["rows_missing"]),
        (HEADER + ",institution_id", ["column_ignored", "rows_missing"]),
        (HEADER + ",colour", ["column_unknown", "rows_missing"]),
    ],
)
def test_the_file_as_a_whole_can_have_warnings(
    read: Callable[..., Any], header: str, warnings: list[str]
) -> None:
    outcome = read(header.encode())
    assert warnings == outcome.warnings
    assert (0, 0, 0) == outcome.counts


def test_what_is_personal_is_printed_nowhere(read: Callable[..., Any]) -> None:
    lines = [
        csv_line(card_token=CARD_NUMBER),
        csv_line(cardholder_token=ADDRESS),
        csv_line(transaction_ref="4111111111111111", amount="x"),
        csv_line(transaction_ref=ADDRESS, amount="x"),
    ]
    outcome = read("\n".join((HEADER + ",4111111111111111", *(f"{n}," for n in lines))).encode())
    assert ["column_unknown"] == outcome.warnings
    for secret in (CARD_NUMBER, ADDRESS, "4111111111111111", HOLDER, CARD):
        assert secret not in outcome.text


def test_findings_have_their_schema(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{HEADER}\n{BAD_LINE}\n")
    with open_transactions(str(path), FileReading(now=NOW)) as file:
        (chunk,) = file.chunks()
    assert FINDING_SCHEMA == dict(chunk.findings.schema)
    assert ("TX-9", "amount", "amount_not_positive", "error") == chunk.findings.row(0)[1:5]
    assert pl.UInt64 == chunk.rejected.dtype


def test_standard_input_can_be_read_and_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = "\n".join((HEADER, *GOOD_LINES, BAD_LINE, "")).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    valid, rejected = io.BytesIO(), io.BytesIO()
    with open_transactions("-", FileReading(now=NOW)) as file:
        lines = pl.concat([chunk.rejected for chunk in file.chunks()])
        file.split(lines, valid, rejected)
    assert "\n".join((HEADER, *GOOD_LINES, "")).encode() == valid.getvalue()
    assert f"{HEADER}\n{BAD_LINE}\n".encode() == rejected.getvalue()
