"""A file checked in plain Python is told as `validate` tells it, byte for byte.

The documents, the reports of rows and the rows sorted apart of both readings are compared, over
hostile files, public data, dirty samples, and files with something changed by chance. Each file is
checked in a store of its own, which takes most of the time here.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cardoffers_cli.files import sources
from cardoffers_cli.files.plain import blocks
from hostile import CODES, LET_IN, REFUSED
from readings import check, in_plain_python
from sizes import FULL, tries
from test_every_door import GOOD, all_of_them, csv_of, json_of, lines_of

CHECKOUT = Path(__file__).parents[2]
SAMPLES = sorted((CHECKOUT / "sample_data" / "transactions").iterdir())
CORPORA = CHECKOUT.parent / "shared" / "data" / "corpora"
MUTATIONS = 100_000 if FULL else tries(100, 2_000)

SUFFIXES = {".csv", ".json"}
STEP = tries(10, 1)
"""One in so many of the public files: each is read by both, in a store of its own."""

HEADER = "cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
ROW = "9fb6f85a8aac50e20c422cac18b44258,ct_1,M6CF4DC01F8024C,12.50,TX-{},2026-03-18T13:12:54Z"
FILE = "\n".join((HEADER, *map(ROW.format, range(3)), "")).encode()


def test_a_good_file(tmp_path: Path) -> None:
    assert '"ok": true' in str(check(FILE, tmp_path)["document"])


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("step", [777, 1 << 20])
def test_sample_files(path: Path, step: int, tmp_path: Path) -> None:
    check(path.read_bytes(), tmp_path, step, currency="GBP")


UNUSUAL = [
    b"",
    b"\n \t\r\n\r",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf" + FILE,
    FILE.replace(b"\n", b"\n\xef\xbb\xbf", 2),
    FILE[:-1],
    FILE[:-10],
    b"\n\n" + FILE + b"\n  \n\n",
    HEADER.encode(),
    HEADER.encode() + b"\n",
    *(FILE.replace(b"\n", end) for end in (b"\r", b"\r\n", b"\r\r\n")),
    b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml",
    b"%PDF-1.7\n1 0 obj",
    FILE.replace(b"amount", b"am\0unt"),
    FILE.replace(b"amount", b"amount\xe9"),
    FILE.replace(b"12.50", b"12.50\xe9", 1),
    *(FILE.decode().encode(code) for code in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")),
    "Datum\tBetrag\n01.02.2026\t1,50\n13.02.2026\t2,50\n".encode("utf-16"),
    FILE.partition(b"\n")[2],
    b"x" * 70_000,
    b'"amount,transaction_ref',
    FILE.replace(b"amount", b"Amount"),
    FILE.replace(b"card_acceptor_id", b"acceptor"),
    FILE.replace(b"card_acceptor_id", b"amount"),
    *(FILE.replace(b",", delimiter) for delimiter in (b";", b"\t", b"|", b"@")),
    FILE.replace(b"card_token", b"card_token,institution_id,colour,", 1).replace(
        b"ct_1", b"ct_1,i,c\x07,"
    ),
    FILE + b"\0\0\0\n" + ROW.format(9).encode(),
    FILE + b"x" * 70_000 + b"\n" + ROW.format(9).encode(),
    FILE + b'"' * 70_000 + b"\n",
    FILE + FILE.partition(b"\n")[2] + ROW.format(1).replace("12.50", "12.51").encode() + b"\n",
]
DELIMITERS = ["\t", " ", "@", ";", "'"]


@pytest.mark.parametrize("delimiter", DELIMITERS)
@pytest.mark.parametrize("quoted", ["ct_1", '"ct{}_1"', '="ct{}_1"'])
def test_files_with_another_delimiter(quoted: str, delimiter: str, tmp_path: Path) -> None:
    text = FILE.decode().replace("TX-", "TX-00000").replace(",", delimiter)
    content = text.replace("ct_1", quoted.format(delimiter)).encode()
    told = str(check(content, tmp_path, delimiter=delimiter)["document"])
    assert ('"ok": true' in told) == (quoted == "ct_1" or (quoted[0] == '"' and delimiter in ";'@"))


PACKED = gzip.compress(FILE, mtime=0)
UNUSUAL += [
    PACKED,
    gzip.compress(b"", mtime=0),
    gzip.compress(PACKED, mtime=0),
    PACKED + PACKED,
    PACKED + b"\0" * 9,
    PACKED + b"\0" * 9 + PACKED,
    *(PACKED[:at] for at in (1, 2, 3, 9, 10, 11, 30, -9, -8, -1)),
    *(PACKED + more for more in (b"more", b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0")),
    PACKED[:-8] + b"\0" * 8,
    PACKED[:2] + b"\x07" + PACKED[3:],
    PACKED[:3] + b"\x1c" + PACKED[4:10] + b"\x02\0abname\0comment\0" + PACKED[10:],
    PACKED[:3] + b"\x02" + PACKED[4:10] + b"ab" + PACKED[10:],
]


@pytest.mark.parametrize("content", UNUSUAL, ids=lambda value: f"{value[:20]!r} {len(value)}")
def test_unusual_files(content: bytes, tmp_path: Path) -> None:
    check(content, tmp_path)
    assert in_plain_python(content, tmp_path) == in_plain_python(content, tmp_path, step=1)


@cache
def _lines() -> list[bytes]:
    """Return lines of the samples, whose columns are the same, and dirty ones among them."""
    dirty = [line for path in SAMPLES for line in path.read_bytes().splitlines(keepends=True)[1:]]
    return [*dirty, *(f"{ROW}\n".format(number).encode() for number in range(50))]


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


def _as_json(text: str, chance: random.Random) -> str:
    """Return a CSV file as JSON, in one of the forms that are read."""
    header, *lines = text.splitlines() or [""]
    objects = _objects(header, [line.split(",") for line in lines], chance)
    form = chance.choice(["lines", "lines", "list", "object"])
    if form == "lines":
        return "\n".join([*objects, chance.choice(["", "", " ", "{}"])])
    lists = {"refund_ref": "refunds", "redemption_id": "credits"}
    key = lists.get(header.partition(",")[0], "transactions")
    between = chance.choice([",", ",\n", " ,\n\n"])
    listed = f"[{between.join(objects)}]"
    return listed if form == "list" else f'{{"a": 1, "{key}": {listed}, "z": []}}'


def _made_file(chance: random.Random) -> bytes:
    """Return a file of a few rows in which some cells are what they should not be."""
    header = chance.choice(COLUMN_SETS)
    names = header.split(",")
    usual_row = USUAL_ROWS.get(names[0], (HEADER, ROW))
    usual = dict(zip(*(line.split(",") for line in usual_row), strict=True))
    lines = [header]
    share = chance.choice([0.0, 0.02, 0.1, 0.5])
    for number in range(chance.randrange(12)):
        cells = [usual.get(name, "").format(number % 9) for name in names]
        cells = [chance.choice(ALL_WORDS) if chance.random() < share else cell for cell in cells]
        lines.append(",".join(cells))
    if chance.random() < 0.4:
        return _as_json("\n".join(lines), chance).encode()
    end = chance.choice(["\n", "\n", "\r\n", "\r"])
    return (end.join(lines) + chance.choice([end, end, ""])).encode()


def _mutated(chance: random.Random) -> bytes:
    """Return a file with something changed that is anywhere in it."""
    text = _made_file(chance)
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


PARTS = 20


@pytest.mark.parametrize("part", range(PARTS))
def test_files_with_something_changed_by_chance(part: int, tmp_path: Path) -> None:
    for number in range(MUTATIONS // PARTS):
        chance = random.Random(part * 1_000_000 + number)  # noqa: S311
        check(
            _mutated(chance), tmp_path, chance.choice([1, 100, 1 << 20]), **chance.choice(OPTIONS)
        )


@pytest.mark.parametrize("names", COLUMN_SETS)
def test_files_of_many_rows(names: str, tmp_path: Path) -> None:
    chance = random.Random(names)  # noqa: S311
    lines = [names]
    usual = dict(zip(HEADER.split(","), ROW.split(","), strict=True))
    for number in range(1_500):
        cells = {**usual, "transaction_ref": f"{4000000000000000 + number * 7}"}
        cells["cardholder_token"] = f"{chance.randrange(1300):032d}"
        cells["card_acceptor_id"] = f"{chance.choice([49875, 4987500, 498750000000129 + number])}"
        lines.append(",".join(cells.get(name, "") for name in names.split(",")))
    check("\n".join(lines).encode(), tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_counted_stretch_by_stretch(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sources, blocks):
        monkeypatch.setattr(module, "BLOCK_BYTES", 2_000)
        monkeypatch.setattr(module, "LINE_BYTES", 100)
        monkeypatch.setattr(module, "HEAD_BYTES", 300)
    for seed in range(tries(6, 60)):
        chance = random.Random(seed)  # noqa: S311
        lines = [HEADER]
        for number in range(200):
            reference = 4000000000000000 + number * 7 if chance.random() < 0.3 else f"TX-{number}"
            row = ROW.replace("TX-{}", str(reference))
            lines.append(row if seed % 2 else row.replace("M6CF4DC01F8024C", f"{number * 997}"))
        text = "\n".join([*lines, "x" * 150, *lines[1:20]]).encode()
        check(gzip.compress(text, mtime=0) if packed else text, tmp_path, 700)


@pytest.mark.skipif(not CORPORA.exists(), reason="the public corpora are not here")
def test_public_corpora(tmp_path: Path) -> None:
    for path in sorted(each for each in CORPORA.rglob("*") if each.suffix in SUFFIXES)[::STEP]:
        check(path.read_bytes(), tmp_path)


FORMS = {"csv": csv_of, "json": json_of, "json lines": lines_of}


@pytest.mark.parametrize("form", FORMS)
def test_what_no_event_should_be(form: str, tmp_path: Path) -> None:
    _, events = all_of_them()
    check(FORMS[form](events), tmp_path, currency="GBP")
    texts = [*LET_IN.values(), *REFUSED.values(), *CODES.values()]
    for field in ("merchant_descriptor", "card_acceptor_id", "transaction_ref", "colour"):
        hostile: list[dict[str, str | None]] = [{**GOOD, field: text} for text in texts]
        check(FORMS[form](hostile), tmp_path, raw_rejected=field == "colour")


SHARED = CHECKOUT.parent / "shared" / "data"
PUBLIC = sorted(
    each
    for folder in ("calderdale", "drift", "layouts")
    for each in (SHARED / folder).rglob("*")
    if each.is_file() and each.stat().st_size < (1 << 20 if not FULL else 1 << 30)
)


@pytest.mark.skipif(not SHARED.exists(), reason="the public data are not here")
def test_public_files(tmp_path: Path) -> None:
    for path in PUBLIC[::STEP]:
        check(path.read_bytes(), tmp_path, assume_timezone="Europe/London")


JSONS = [
    b"12",
    b"[",
    b"[]",
    b"{}",
    b"[NaN]",
    b"[-Infinity]",
    b'["\xff"]',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"[" * 250 + b"]" * 250,
    b'[{"amount": 1},]',
    b'{"transactions": [], "transactions": []}',
    b'{\n"transaction": []\n}',
    b'{"transactions": {}, \n"a": 1}',
    b'[{"a": 1}, {"amount": 1.50, "amount": 2}, {"a": {"b": 1, "b": 2}}, 7]',
    b'{"amount": 1}\n{"amount": \n\n{"amount": 1e400}\n{"amount": -0.0}\n{"amount": 1e-400}',
    b'{"cardholder_token": "\\ud800"}\n{"cardholder_token": "\\ud83d\\ude00"}\n7\n\xff\n',
    b'{"refunds": [{"refund_ref": "R1", "amount": 5, "refunded_at": "2026-03-18"}]}',
    b'{"amount": ' + b"9" * 5_000 + b"}\n{}",
    b'\xef\xbb\xbf[{"mcc": 5411, "colour": {"\xc3\xa9": ["\\u0007"]}}]',
]


@pytest.mark.parametrize("content", JSONS, ids=lambda value: f"{value[:20]!r} {len(value)}")
def test_unusual_json(content: bytes, tmp_path: Path) -> None:
    check(content, tmp_path)
    check(gzip.compress(content, mtime=0), tmp_path)
