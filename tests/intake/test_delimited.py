"""The CSV reader and its rules against a slow, plain reading of the same decisions."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cardoffers_cli.intake.lines import Layout, LineFault, plain_line_ends, split_fields
from cardoffers_cli.intake.paging import read_page
from sizes import FULL, tries

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 11, 1)  # noqa: DTZ001 - moments are naive UTC inside the product
EXAMPLES = 2000 if FULL else tries(40, 250)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", [""]),
        ("a,b", ["a", "b"]),
        (",", ["", ""]),
        ('"a","b"', ["a", "b"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"say ""hi""",', ['say "hi"', ""]),
        ('"",""""', ["", '"']),
    ],
)
def test_a_line_is_split_into_fields(line: str, fields: list[str]) -> None:
    assert fields == split_fields(line, ",")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('"a', "unclosed_quote"),
        ('a,"b""', "unclosed_quote"),
        ('a"b', "stray_quote"),
        ('"a"b', "stray_quote"),
        ('a, "b"', "stray_quote"),
        ('"a""b"c,"', "stray_quote"),
    ],
)
def test_quotes_out_of_place_are_told_apart(line: str, code: str) -> None:
    with pytest.raises(LineFault) as fault:
        split_fields(line, ",")
    assert code == fault.value.code


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_page_numbers_its_rows_by_line(delimiter: str) -> None:
    text = 'a,b\n\n"x,y",\n1,2,3\n \t\nc,d'.replace(",", delimiter).encode()
    page = read_page(text, Layout(names=("one", "two"), delimiter=delimiter), first_line=5)
    assert [
        (5, "a", "b"),
        (7, f"x{delimiter}y", None),
        (10, "c", "d"),
    ] == page.frame.rows()
    assert [(8, "field_count")] == [(found.line, found.code) for found in page.findings]
    assert (6, 2) == (page.lines, page.blank_lines)


# -- the plain reading ---------------------------------------------------------------------------

PLAIN_LINES: dict[str, int | None] = {
    "": 0,
    "a;b": 0,
    "a;b\n": 1,
    "\n\na;b\n": 3,
    "a=b;1E-5;+\n": 1,
    "a b\n": None,
    "a,b\t\n": None,
    "a;b\r\n": None,
    "a;ä\n": None,
    "a;b@c\n": None,
    "a;'b\n": None,
    "a;1E+5\n": None,
    "a;1e+5\n": None,
    "=a;b\n": None,
    "a;=b\n": None,
    'a;"=b"\n': None,
    "a;b\n=c\n": None,
}


@pytest.mark.parametrize("text", PLAIN_LINES)
def test_of_plain_text_the_line_ends_are_counted(text: str) -> None:
    assert PLAIN_LINES[text] == plain_line_ends(text.encode(), ";")


@pytest.mark.parametrize("delimiter", ["\t", " ", "@"])
def test_a_delimiter_within_quotes_is_text_that_is_not_plain(delimiter: str) -> None:
    text = f'a{delimiter}b\n"a{delimiter}b"{delimiter}c\n'.encode()
    assert None is plain_line_ends(text, delimiter)
    assert 2 == plain_line_ends(text.replace(b'"', b""), delimiter)


NAMES = (
    "cardholder_token",
    "card_token",
    "card_acceptor_id",
    "merchant_identifier",
    "merchant_descriptor",
    "merchant_id",
    "amount",
    "transaction_ref",
    "transacted_at",
)
GOOD_ROWS = (
    "9fb6f85a8aac50e20c422cac18b44258,ct_527b0abbb58b57,M6CF4DC01F8024C,,,,12.50,TX-1,2026-03-18T13:12:54Z",
    "03d24dcfed09bd163677a55fd3ca366a,4111111111111112,,shop@bank,Café,,7,TX-2,2026-06-04T15:11:08.25Z",
    'b3d24dcfed09bd163677a55fd3ca366a,ct-1,"M,1",,"say ""x""",,0.99,TX-3,2026-06-04 15:11+02:00',
    "c3d24dcfed09bd163677a55fd3ca366a,ct-2,,,,0f8fad5b-d9cb-469f-a165-70867728950e,100,TX-4,2026-01-01T00:00:00Z",
)
GOOD_FILE = "\n".join((",".join(NAMES), *GOOD_ROWS, *GOOD_ROWS, "")).encode()
INVISIBLE = {*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x180E, 0x2060, 0xFEFF} | {
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
}
MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"([Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)


def plain_lines(content: bytes) -> list[bytes]:
    lines, line, at = [], b"", 0
    while at < len(content):
        byte = content[at : at + 1]
        at += 1
        if byte not in b"\r\n":
            line += byte
            continue
        if byte == b"\r" and content[at : at + 1] == b"\n":
            at += 1
        lines.append(line)
        line = b""
    return [*lines, line] if line else lines


def plain_fields(line: str) -> list[str] | str:
    fields, field, state = [], "", "start"
    for char in line:
        if state == "start" and char == '"':
            state = "quoted"
        elif state == "quoted":
            if char == '"':
                state = "quote"
            else:
                field += char
        elif state == "quote" and char == '"':
            field, state = field + '"', "quoted"
        elif char == ",":
            fields, field, state = [*fields, field], "", "start"
        elif char == '"' or state == "quote":
            return "stray_quote"
        else:
            field, state = field + char, "bare"
    return "unclosed_quote" if state == "quoted" else [*fields, field]


def plain_luhn(digits: str) -> bool:
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def plain_holder(text: str) -> str | None:
    verdict = plain_token(text, 256)
    return "token_placeholder" if verdict is None and NOBODY.fullmatch(text) else verdict


def plain_token(text: str, limit: int) -> str | None:  # noqa: PLR0911 - one for each verdict
    digits = re.sub(r"[ -]", "", text)
    # Of the issuers only those that start with 4, which is all a mutation of the rows can reach.
    if re.fullmatch(r"4[0-9]{12,18}", digits) and plain_luhn(digits):
        return "card_number" if limit == 256 else None
    if limit == 256 and re.fullmatch(r"\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*", text):
        return "personal_data"
    if not text:
        return "required_missing"
    if any(ord(char) in INVISIBLE for char in text):
        return "control_character"
    if PLACEHOLDER.fullmatch(text):
        return "token_placeholder"
    if is_damaged(text) or (limit == 128 and TURNED.fullmatch(text)):
        return "spreadsheet_damage"
    return "token_invalid" if len(text) > limit or re.search("[^!-~]", text) else None


PLACEHOLDER = re.compile(
    r"(?i:null|n/a|#n/a|na|nil|none|nan|true)|FALSE|False|false|[-?.*_#/]{1,4}|#[A-Z][A-Z/0]*[!?]?|#+"
)
TURNED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00|[0-9]{1,2}[/.]\d{1,2}[/.]\d{4}")
"""Dates that a spreadsheet makes; the names of months are nothing a mutation can reach."""

NOBODY = re.compile(r"(?i:unknown|missing|n\.a\.|[(<\[]null[)>\]]|0{1,31}|x{1,31})")


def is_damaged(text: str) -> bool:
    """Whether a spreadsheet has quoted a text, rounded it, or put blanks to it."""
    rounded = re.fullmatch(r"-?[0-9]([.,][0-9]+)?[Ee]\+[0-9]+", text, re.ASCII)
    return bool(rounded) or text != text.strip() or text.startswith(("'", '"', "="))


def plain_amount(text: str) -> str | None:
    if not text:
        return "required_missing"
    if any(ord(char) in INVISIBLE for char in text):
        return "control_character"
    match = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?", text, re.ASCII)
    if not match:
        is_day = TURNED.fullmatch(text) or re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
        return "date_turned" if is_day else "amount_invalid"
    sign, whole, decimals = match.groups()
    if sign or not (whole + (decimals or "")).strip("0"):
        return "amount_not_positive"
    return "amount_too_large" if len(whole.lstrip("0")) > 12 else None


def plain_precision(text: str) -> str | None:
    match = re.fullmatch(r"-?[0-9]+\.([0-9]+)", text, re.ASCII)
    return "amount_precision" if match and len(match[1].rstrip("0")) > 2 else None


def plain_moment(text: str) -> str | None:  # noqa: PLR0911 - one return for each verdict
    if not text:
        return "required_missing"
    if any(ord(char) in INVISIBLE for char in text):
        return "control_character"
    match = MOMENT.fullmatch(text)
    if re.fullmatch(r"[2-7][0-9]{4}([.,][0-9]+)?", text, re.ASCII):
        return "date_turned"
    if not match or not 1970 <= int(match[1]) <= 2100:
        return "timestamp_invalid"
    year, month, day, hour, minute, second, _, offset = match.groups()
    try:
        at = datetime(
            *map(int, (year, month, day, hour or 0, minute or 0, second or 0)), tzinfo=UTC
        )
    except ValueError:
        return "timestamp_invalid"
    if offset is None:
        return "timestamp_no_offset"
    if offset not in "Zz":
        hours, minutes = int(offset[1:3]), int(offset[3:].lstrip(":") or 0)
        if hours > 23 or minutes > 59:
            return "timestamp_invalid"
        shift = timedelta(hours=hours, minutes=minutes)
        at += shift if offset[0] == "-" else -shift
    ahead = at.replace(tzinfo=None) > NOW + timedelta(hours=24)
    return "timestamp_in_future" if ahead else None


def plain_text(text: str) -> str | None:
    return "control_character" if any(ord(char) in INVISIBLE for char in text) else None


def plain_descriptor(text: str) -> str | None:
    # One that is joined to letters is none by itself (rules.md#card-numbers).
    alone = re.findall(r"(?<![0-9A-Za-z])[0-9][0-9 -]{11,}[0-9](?![0-9A-Za-z])", text)
    numbers = (re.sub(r"[ -]", "", found) for found in alone)
    are_cards = (re.fullmatch(r"4[0-9]{15,18}", each) and plain_luhn(each) for each in numbers)
    if any(are_cards):
        return "card_number"
    is_error = re.fullmatch(r"#([A-Z][A-Z0-9/]*[!?]|N/A|#+)", text)
    return plain_text(text) or ("spreadsheet_error" if is_error else None)


def plain_identifier(text: str) -> str | None:
    # A number that may be a card's is judged at the end of the file, as in a reference.
    if PLACEHOLDER.fullmatch(text):
        return "token_placeholder"
    is_changed = is_damaged(text) or TURNED.fullmatch(text)
    return plain_text(text) or ("spreadsheet_damage" if is_changed else None)


def plain_row(fields: list[str]) -> set[str]:
    row = dict(zip(NAMES, fields, strict=True))
    codes = {
        plain_holder(row["cardholder_token"]),
        plain_token(row["card_token"], 256),
        plain_token(row["transaction_ref"], 128),
        plain_amount(row["amount"]),
        plain_precision(row["amount"]),
        plain_moment(row["transacted_at"]),
        plain_identifier(row["card_acceptor_id"]),
        plain_descriptor(row["merchant_descriptor"]),
    }
    acceptor, identifier, merchant = (
        row[name] for name in ("card_acceptor_id", "merchant_identifier", "merchant_id")
    )
    codes.add(
        plain_identifier(identifier)
        or (acceptor and identifier and acceptor != identifier and "merchant_conflict")
        or None
    )
    if merchant and not re.fullmatch(
        r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", merchant
    ):
        codes.add(plain_text(merchant) or "merchant_id_invalid")
    if not (acceptor or identifier or merchant):
        codes.add("merchant_missing")
    holder = row["cardholder_token"]
    if holder and plain_holder(holder) is None and len(holder) < 32:
        codes.add("token_weak")
    return {code for code in codes if code}


def plain_verdict(line: bytes) -> set[str] | None:
    if not line.strip(b" \t"):
        return None
    try:
        fields = plain_fields(line.decode())
    except UnicodeDecodeError:
        return {"encoding"}
    if isinstance(fields, str):
        return {fields}
    return plain_row(fields) if len(fields) == len(NAMES) else {"field_count"}


# -- mutations -----------------------------------------------------------------------------------

HEADER_END = GOOD_FILE.index(b"\n") + 1
PIECES = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'",\r\n\0 \t@-.+:#0149TZeEa\x1b\x7f\xff\xc3\xa9'),
        b"\r\n",
        b'""',
        b',"""',
        b",#REF!,",
        b"\nNULL,",
        b"\xc2\x85",
        b"\xe2\x80\xae",
        b"\xe2\x80\x8b",
        b"\xef\xbb\xbf",
        "é".encode(),
        "٣".encode(),
        b"x@y.zz",
        b"4111111111111111",
        b"\n \t\n",
    ]
)
MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, len(GOOD_FILE) - HEADER_END - 1),
        st.sampled_from([0, 0, 1, 1, 4, 40]),
        PIECES | st.just(b""),
    ),
    min_size=1,
    max_size=8,
)


def mutated(mutations: list[tuple[int, int, bytes]]) -> bytes:
    body = GOOD_FILE[HEADER_END:]
    for at, removed, inserted in mutations:
        body = body[:at] + inserted + body[at + removed :]
    return GOOD_FILE[:HEADER_END] + body


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(mutations=MUTATIONS)
@example(mutations=[(163, 0, b"4111111111111111")])  # joined to the letters behind it
def test_every_line_gets_the_verdict_of_a_plain_reading(
    read: Callable[..., Any], mutations: list[tuple[int, int, bytes]]
) -> None:
    content = mutated(mutations)
    expected = [
        (number, code)
        for number, line in enumerate(plain_lines(content)[1:], start=2)
        for code in sorted(plain_verdict(line) or ())
    ]
    outcome = read(content)
    assert expected == sorted(set(outcome.findings))
    blank = sum(plain_verdict(line) is None for line in plain_lines(content)[1:])
    assert blank == outcome.counts[2]
    received = {*outcome.rows["line"].to_list(), *outcome.rejected}
    assert outcome.counts[0] == len(received) == outcome.rows.height + len(outcome.rejected)
