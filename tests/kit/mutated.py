"""Files and rows with something changed by chance: what both readings of a file are held by."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.layout_model import Profile, parse_profile
from layouts import LAYOUTS, MadeLayout

if TYPE_CHECKING:
    import random

HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
ROW = "9fb6f85a8aac50e20c422cac18b44258,ct_1,M6CF4DC01F8024C,12.50,TX-{},2026-03-18T13:12:54Z"

WORDS = """
4111111111111111|4111 1111 1111 1111|498750000000129|378282246310005|5555-5555-5555-4444
5.2E+14|="0123"|'0001|NULL|n/a|#REF!|unknown|-|é|\u200b|\x07|a@b.cc|  |\t|"|""|"a,b"|a""b|"x
0|0.00|-1|12.505|12.500|1e3|999999999999|1000000000000|.5|5.|00012.50|1,5
2026-03-18T13:12:54|2026-03-18|2026-02-30T00:00:00Z|2026-03-18t13:12z|2026-03-18 13:12:54,5+0200
2026-03-29T01:30:00|2026-10-25T01:30:00|2099-01-01T00:00:00Z|2026-06-02T12:00:00Z|2026-06-02T12:00:01Z
2026-03-18T13:12:54.123456789-03|1969-12-31T23:59:59Z|2100-12-31T23:59:59Z|2026-06-02T12:00:00.0000001Z
card_acceptor|pix_key|card|wallet|GBP|EUR|XXX|0f8fad5b-d9cb-469f-a165-70867728950e|123456789012345
"""
ALL_WORDS = [word for line in WORDS.strip("\n").split("\n") for word in line.split("|")]
COLUMN_SETS = [
    HEADER,
    HEADER.replace("card_acceptor_id", "merchant_id,merchant_identifier,card_acceptor_id"),
    f"{HEADER},instrument_token,merchant_identifier_type,merchant_identifier,mcc",
    f"{HEADER},currency,merchant_descriptor,network,instrument_type,colour,institution_id",
    HEADER.replace("card_token", "instrument_token"),
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"currency": "GBP"},
    {"currency": "JPY"},
    {"assume_timezone": "Europe/London"},
    {"currency": "BHD", "raw_rejected": True},
    {"kind": "refunds"},
    {"kind": "credits"},
]


REFUND_HEADER = (
    "refund_ref,original_transaction_ref,cardholder_token,card_token,amount,refunded_at,kind"
)
REFUND = "RF-{},TX-1,9fb6f85a8aac50e20c422cac18b44258,ct_1,12.50,2026-03-18T13:12:54Z,refund"
COLUMN_SETS += [REFUND_HEADER, f"{REFUND_HEADER},card_acceptor_id,currency"]
CREDIT_HEADER = "redemption_id,transaction_ref,amount,status,credited_at,failure_code,credit_ref"
CREDIT = "0b7f5a62-6d1e-5c38-9f20-3d4c8e1a7b95,TX-1,2.50,failed,2026-03-18T13:12:54Z,R2,CR-{}"
COLUMN_SETS += [CREDIT_HEADER, CREDIT_HEADER.replace("redemption_id,", "")]
USUAL_ROWS = {
    "refund_ref": (REFUND_HEADER, REFUND),
    **dict.fromkeys(("redemption_id", "transaction_ref"), (CREDIT_HEADER, CREDIT)),
}
"""A header and a row to fill in, by the first column of a file; of others those of purchases."""
LISTS = {"refund_ref": "refunds", "redemption_id": "credits"}
JSON_WORDS = [None, True, 12.5, -0, "", [], {"amount": "1"}, "12.50", "é\u0007", "a\nb", 10**30]


def _objects(header: str, rows: list[list[str]], chance: random.Random) -> list[str]:
    """Return rows as JSON objects, in which some values are of another type."""
    objects = []
    for cells in rows:
        value: dict[str, Any] = dict(zip(header.split(","), cells, strict=False))
        for name in chance.sample([*value], k=chance.choice([0, 0, 1, 2])):
            value[name] = chance.choice(JSON_WORDS)
        text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
        objects.append(re.sub(r'"amount": "(-?[0-9.]+[0-9])"', r'"amount": \1', text))
    return objects


def as_json(text: str, chance: random.Random) -> str:
    """Return a CSV file as JSON, in one of the forms that are read."""
    header, *lines = text.splitlines() or [""]
    objects = _objects(header, [line.split(",") for line in lines], chance)
    form = chance.choice(["lines", "lines", "list", "object"])
    if form == "lines":
        return "\n".join([*objects, chance.choice(["", "", " ", "{}"])])
    key = LISTS.get(header.partition(",")[0], "transactions")
    between = chance.choice([",", ",\n", " ,\n\n"])
    listed = f"[{between.join(objects)}]"
    return listed if form == "list" else f'{{"a": 1, "{key}": {listed}, "z": []}}'


def made_file(chance: random.Random) -> bytes:
    """Return a file of a few rows in which some cells are what they should not be."""
    header = chance.choice(COLUMN_SETS)
    names = header.split(",")
    usual_row = USUAL_ROWS.get(header.partition(",")[0], (HEADER, ROW))
    usual = dict(zip(*(line.split(",") for line in usual_row), strict=True))
    lines = [header]
    share = chance.choice([0.0, 0.02, 0.1, 0.5])
    for number in range(chance.randrange(12)):
        cells = [usual.get(name, "").format(number % 9) for name in names]
        cells = [chance.choice(ALL_WORDS) if chance.random() < share else cell for cell in cells]
        lines.append(",".join(cells))
    if chance.random() < 0.4:
        return as_json("\n".join(lines), chance).encode()
    end = chance.choice(["\n", "\n", "\r\n", "\r"])
    return (end.join(lines) + chance.choice([end, end, ""])).encode()


def mutated(chance: random.Random) -> bytes:
    """Return a file with something changed that is anywhere in it."""
    text = made_file(chance)
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        at, more = chance.randrange(len(text) + 1), chance.randrange(8)
        put = chance.choice(
            [
                b"",
                b"\n",
                b'"',
                b",",
                b"\r",
                b"\0",
                b" ",
                b"{",
                b"]",
                b"\\u",
                bytes([chance.randrange(256)]),
            ]
        )
        text = text[:at] + put + text[at + more :]
    return gzip.compress(text, mtime=0) if chance.random() < 0.03 else text


TOKENS = {"cardholder_token": "9fb6f85a8aac50e20c422cac18b44258", "card_token": "ct_1"}


def profile_for(text: str) -> Profile:
    """Return a profile, with tokens and references where it has none, as every event has them."""
    fields = parse_profile(text, "P.toml").fields.given()
    more = [
        f'[fields.{name}]\nconstant = "{value}"\n'
        for name, value in TOKENS.items()
        if name not in fields
    ]
    if "transaction_ref" not in fields:
        more = [*more, '[fields.transaction_ref]\ncolumn = "#line"\n']
    return parse_profile("".join([text, "\n", *more]), "P.toml")


# Layouts whose fields are many, and whose lines are odd

TOKENED = """
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
"""
WHOLE = MadeLayout(
    "every field, each in its own way",
    """
form = {delimiter = ";", quote = "'"}
negatives = "refund"
drop_where = [
  {column = "Art", is_not = ["K", "E"]},
  {column = "Text", starts_with = ["SALDO", "ZINS"]},
]
[fields]
amount = {column = "Betrag", decimal = ",", thousands = ".", currency = "€", parentheses = true}
transacted_at = {columns = ["Tag", "Zeit"], format = "%d.%m.%y %H:%M", zone = "Europe/Berlin"}
transaction_ref = {columns = ["Beleg", "#line"], join = "/"}
merchant_identifier = {column = "VU", pad = 15, empty = ["-1", "0"]}
merchant_identifier_type = {constant = "card_acceptor"}
merchant_descriptor = {column = "Text"}
mcc = {column = 3, pad = 4}
currency = {constant = "EUR"}
"""
    + TOKENED,
    f"""
Beleg;Art;MCC;VU;Text;Tag;Zeit;Betrag;Kunde;Karte
B1;K;5411;498750000000129;Café;05.03.26;18:30;12,50;{TOKENS["cardholder_token"]};ct_1
B2;E;742;49875;'Café; "am Markt"';06.03.26;08:05;€ 1.234,56;{TOKENS["cardholder_token"]};ct_2
B3;K;5411;-1;Rückgabe;07.03.26;08:05;(9,99);{TOKENS["cardholder_token"]};4111111111111111
B4;K;5411;0;SALDO 3;07.03.26;08:05;9,99;{TOKENS["cardholder_token"]};ct_1
B5;X;5411;0;Café;07.03.26;08:05;9,99;{TOKENS["cardholder_token"]};ct_1
B6;K;5411;;a@b.example;25.10.26;02:30;-0,01;;4111111111111111
B7;K;5411;;Café;25.10.26;02:30;9,99;k;4111111111111111
;K;5411;;Café;29.03.26;02:30;9,99;{TOKENS["cardholder_token"]};ct_1
""",
    "",
)
MADE = [*LAYOUTS, WHOLE]


PUT = [
    *(b"", b"", b"\n", b"\r", b"\r\n", b'"', b"'", b",", b";", b"|", b"\t", b"\0", b"\x01", b" "),
    *(b"-", b"(", b")", b".", b"0", b"9", b"\xff", b"\xc3", b"\xee\x80\x80", b"\xe2\x80\x83"),
    *(b"4111111111111111", b"a@b.example", b"46099,5", b"\n\n", b"T", b"\x1c", b"\x85", b"=1+1"),
]


OPTIONS_OF_LAYOUTS: list[dict[str, object]] = [
    {},
    {"currency": "EUR"},
    {"currency": "JPY"},
    {"assume_timezone": "America/Sao_Paulo"},
    {"currency": "BHD", "raw_rejected": True},
]

PUT_IN_A_ROW = [put for put in PUT if b"\n" not in put and b"\r" not in put]


def changed_text(text: str, chance: random.Random) -> str:
    """Return what a field holds, or something near it."""
    at = chance.randrange(len(text) + 1)
    return chance.choice(
        [
            chance.choice(ALL_WORDS),
            text[:at] + chance.choice("0123456789-.:TZ+e =,;'\"\u200b\u00a0\u0663é\t") + text[at:],
            text[:at] + text[at + chance.choice([1, 1, 2, 9]) :],
            text + text[:at],
            text.swapcase(),
            f" {text}",
            f"{chance.randrange(10**16)}",
            f"{chance.choice([4111, 498750000000000, 20260318]) + at * 7}",
        ]
    )


def changed_line(line: bytes, chance: random.Random) -> bytes:
    """Return the bytes of a row with some of them changed; it stays one line."""
    at = chance.randrange(len(line) + 1)
    put = chance.choice([*PUT_IN_A_ROW, bytes([chance.randrange(14, 256)])])
    return line[:at] + put + line[at + chance.choice([0, 0, 1, 1, 2, 40]) :]


def rows_of(header: str, count: int, chance: random.Random) -> list[str]:
    """Return lines of these columns, each with something changed, or what another has."""
    usual_row = USUAL_ROWS.get(header.partition(",")[0], (HEADER, ROW))
    usual = dict(zip(*(line.split(",") for line in usual_row), strict=True))
    names = header.split(",")
    lines = list[str]()
    for number in range(count):
        cells = [usual.get(name, "").format(number) for name in names]
        for at in chance.sample(range(len(cells)), k=chance.choice([1, 1, 1, 2, 4])):
            cells[at] = changed_text(cells[at], chance)
        again = chance.random() < 0.1 and lines
        lines.append(chance.choice(lines) if again else ",".join(cells))
    return lines


def file_of_rows(count: int, chance: random.Random) -> bytes:
    """Return a file in our own layout of so many rows, none of them as it should be."""
    header = chance.choice(COLUMN_SETS)
    lines = rows_of(header, count, chance)
    if chance.random() < 0.3:
        first, *others = as_json("\n".join([header, *lines]), chance).encode().split(b"\n")
    else:
        first, *others = (line.encode() for line in (header, *lines))
    share = chance.choice([0.0, 0.2, 1.0])
    others = [changed_line(each, chance) if chance.random() < share else each for each in others]
    return b"\n".join([first, *others, b""])


def file_of_layout(layout: MadeLayout, count: int, chance: random.Random) -> bytes:
    """Return an export of so many rows, each with some bytes changed."""
    header = profile_for(layout.profile).header
    lines = layout.content.splitlines(keepends=True)
    above, rows = lines[:header], lines[header:]
    made = list[bytes]()
    for row in chance.choices(rows, k=count):
        line = row.rstrip(b"\r\n")
        for _ in range(chance.choice([1, 1, 2])):
            line = changed_line(line, chance)
        made.append(line + row[len(row.rstrip(b"\r\n")) :])
    return b"".join([*above, *made])
