"""A file checked in plain Python is told as `validate` tells it, byte for byte.

The documents, the reports of rows and the rows sorted apart of both readings are compared, over
hostile files, public data and dirty samples; `tests/test_doors.py` has files with something changed
by chance. Each file is checked in a store of its own, which takes most of the time here.
"""

from __future__ import annotations

import gzip
import random
from functools import cache
from pathlib import Path

import pytest

from cardoffers_cli.intake import sources
from cardoffers_cli.intake.plain import blocks
from hostile import CODES, LET_IN, REFUSED
from mutated import COLUMN_SETS, HEADER, ROW
from readings import check, in_plain_python
from sizes import FULL, slow, tries
from test_every_door import GOOD, all_of_them, csv_of, json_of, lines_of

CHECKOUT = Path(__file__).parents[2]
SAMPLES = sorted((CHECKOUT / "sample_data" / "transactions").iterdir())
CORPORA = CHECKOUT.parent / "shared" / "data" / "corpora"

SUFFIXES = {".csv", ".json"}
STEP = tries(10, 1)
"""One in so many of the public files: each is read by both, in a store of its own."""

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


@slow
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_counted_stretch_by_stretch(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sources, blocks):
        monkeypatch.setattr(module, "BLOCK_BYTES", 2_000)
        monkeypatch.setattr(module, "LINE_BYTES", 100)
        monkeypatch.setattr(module, "HEAD_BYTES", 300)
    for seed in range(60 if FULL else tries(6, 20)):
        chance = random.Random(seed)  # noqa: S311
        lines = [HEADER]
        for number in range(200):
            reference = 4000000000000000 + number * 7 if chance.random() < 0.3 else f"TX-{number}"
            row = ROW.replace("TX-{}", str(reference))
            lines.append(row if seed % 2 else row.replace("M6CF4DC01F8024C", f"{number * 997}"))
        text = "\n".join([*lines, "x" * 150, *lines[1:20]]).encode()
        check(gzip.compress(text, mtime=0) if packed else text, tmp_path, 700)


@slow
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


@slow
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
    *(
        b'{"mcc": ' + b"4" * digits + b', "transaction_ref": ' + b"4" * digits + b"}\n"
        for digits in (18, 19, 20, 38, 39, 40, 4_300, 4_301)
    ),
    b'\xef\xbb\xbf[{"mcc": 5411, "colour": {"\xc3\xa9": ["\\u0007"]}}]',
]


@pytest.mark.parametrize("content", JSONS, ids=lambda value: f"{value[:20]!r} {len(value)}")
def test_unusual_json(content: bytes, tmp_path: Path) -> None:
    check(content, tmp_path)
    check(gzip.compress(content, mtime=0), tmp_path)
