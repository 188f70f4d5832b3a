"""Files that no export should be: each ends as decided, never with another exception."""

from __future__ import annotations

import gzip
import random
import resource
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.transactions import FileReading, open_transactions
from cardoffers_cli.kernel.words.errors import FileUnusable
from sizes import FULL, one_in, slow

if TYPE_CHECKING:
    from collections.abc import Callable

READING = FileReading(now=datetime(2026, 11, 1))  # noqa: DTZ001 - moments are naive UTC here
HEADER = b"cardholder_token,card_token,card_acceptor_id,amount,transaction_ref,transacted_at"
ROW = b"9fb6f85a8aac50e20c422cac18b44258,ct_1,M6CF4DC01F8024C,12.50,TX-%d,2026-03-18T13:12:54Z"
FILE = b"\n".join((HEADER, *(ROW % number for number in range(3)), b""))
CORPORA = Path(__file__).parents[3] / "shared" / "data" / "corpora"
LONG_LINE_BYTES = (1 << 30) if FULL else (64 << 20)


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("file_empty", b""),
        ("file_empty", b"\n \t\r\n\r"),
        ("file_empty", b"\xef\xbb\xbf"),
        ("file_empty", gzip.compress(b"", mtime=0)),
        ("file_binary", b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml"),
        ("file_binary", b"\x28\xb5\x2f\xfd\x24\x00"),
        ("file_binary", b"%PDF-1.7\n1 0 obj"),
        ("file_binary", gzip.compress(gzip.compress(FILE, mtime=0), mtime=0)),
        ("file_binary", FILE.replace(b"amount", b"am\0unt")),
        ("file_encoding", FILE.decode().encode("utf-16")),
        ("file_encoding", FILE.decode().encode("utf-16-le")),
        ("file_encoding", FILE.decode().encode("utf-16-be")),
        ("file_encoding", FILE.decode().encode("utf-32")),
        ("file_encoding", FILE.replace(b"amount", b"amount\xe9")),
        ("file_corrupt", gzip.compress(FILE, mtime=0)[:-1]),
        ("file_corrupt", gzip.compress(FILE, mtime=0)[:30]),
        ("file_corrupt", gzip.compress(FILE, mtime=0) + b"more"),
        ("header_missing", FILE.partition(b"\n")[2]),
        ("header_missing", b"x" * 70_000),
        ("header_missing", b'"amount,transaction_ref'),
        ("header_column_missing", FILE.replace(b"amount", b"Amount")),
        ("header_column_missing", FILE.replace(b"transaction_ref", b"reference")),
        ("header_column_duplicate", FILE.replace(b"card_acceptor_id", b"amount")),
        ("header_delimiter", FILE.replace(b",", b";")),
        ("header_delimiter", FILE.replace(b",", b"\t")),
        ("header_delimiter", FILE.replace(b",", b"|")),
        ("json_root", b'{\n"transaction": []\n}'),
        ("json_root", b'{"transactions": {}, \n"a": 1}'),
        ("json_root", b"12"),
        ("json_syntax", b"[" * 100_000),
        ("json_syntax", b'{"a":' * 100_000),
        ("json_syntax", b"[NaN]"),
        ("json_syntax", b"[-Infinity]"),
        ("json_syntax", b'[{"amount": 1},]'),
        ("json_syntax", b'{"transactions": [], "transactions": []}'),
        ("json_syntax", b'["\xff"]'),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_file_that_cannot_be_read(read: Callable[..., Any], code: str, content: bytes) -> None:
    assert code == read(content)


@pytest.mark.parametrize(
    ("code", "path"), [("file_missing", "nowhere.csv"), ("file_unreadable", ".")]
)
def test_a_path_that_cannot_be_opened(code: str, path: str) -> None:
    with pytest.raises(FileUnusable) as error:
        open_transactions(path, READING)
    assert code == error.value.code


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_ends_a_line(read: Callable[..., Any], end: bytes) -> None:
    outcome = read(FILE.replace(b"\n", end))
    assert [2, 3, 4] == outcome.rows["line"].to_list()


def test_mixed_line_ends_end_lines(read: Callable[..., Any]) -> None:
    lines = FILE.splitlines()
    outcome = read(b"\r\r\n".join(lines[:2]) + b"\n\r" + b"\r\n".join(lines[2:]))
    assert [3, 5, 6] == outcome.rows["line"].to_list()
    assert (3, 0, 2) == outcome.counts


def test_nul_bytes_fault_their_line_only(read: Callable[..., Any]) -> None:
    outcome = read(FILE + b"\0\0\0\n" + ROW % 9)
    assert [(5, "field_count")] == outcome.findings
    assert [2, 3, 4, 6] == outcome.rows["line"].to_list()


def test_duplicate_keys_fault_their_item_only(read: Callable[..., Any]) -> None:
    outcome = read(b'[{"a": 1}, {"amount": 1.50, "amount": 2}, {"a": {"b": 1, "b": 2}}, 7]')
    faulted = [(line, code) for line, code in outcome.findings if line]
    assert [(1, "duplicate_key"), (2, "duplicate_key"), (3, "not_an_object")] == faulted


@pytest.mark.parametrize("filler", [b"x", b",", b'"', b" ", b"\0"])
@one_in(3)
def test_a_line_of_any_length_is_one_finding_in_flat_memory(tmp_path: Path, filler: bytes) -> None:
    path = tmp_path / "long.csv"
    with path.open("wb") as file:
        file.write(FILE)
        for _ in range(LONG_LINE_BYTES >> 20):
            file.write(filler * (1 << 20))
        file.write(b"\n" + ROW % 9)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open_transactions(str(path), READING) as opened:
        chunks = list(opened.chunks())
        rejected = [line for chunk in chunks for line in chunk.rejected]
        valid = [line for chunk in chunks for line in chunk.rows["line"]]
    path.unlink()
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert ([5], [2, 3, 4, 6]) == (rejected, valid)
    assert grown_kib < 200 << 10


HEADER_LINE = HEADER + b"\n"
ENDLESS = {
    # how a file begins, what it goes on with for ever, and whether it is packed
    "brackets": (b"", b"[", False),
    "brackets in a list": (b"[", b"[[],", False),
    "members": (b"", b'{"a":', False),
    "a string": (b'["', b"x", False),
    "escapes": (b'["', b"\\\\", False),
    "line ends": (b"", b"\n", True),
    "line ends, CR": (b"", b"\r", True),
    "blank lines": (HEADER_LINE, b" \t\n", True),
    "line ends behind a header": (HEADER_LINE, b"\n", True),
    "line ends behind an object": (b'{"amount": 1}\n', b"\n", True),
    "line ends in a list": (b"[", b"\n", True),
    "short lines": (HEADER_LINE, b"a\n", True),
    "small items": (b"[", b"1,", True),
}
SLOWER = {"short lines": 8, "small items": 8}
"""Those of which every few bytes are a finding: they are tried with less."""

READ = """
import re
import resource
import sys
from datetime import datetime
from pathlib import Path
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.intake.transactions import FileReading, open_transactions

resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]),) * 2)
try:
    with open_transactions(sys.argv[1], FileReading(now=datetime(2026, 11, 1))) as file:
        for chunk in file.chunks():
            pass
except FileUnusable as error:
    pass
print(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1])
"""
SIZE_MIB = 2048 if FULL else 16


@slow
@pytest.mark.parametrize("name", ENDLESS)
@one_in(2)
def test_no_file_takes_memory_or_time_without_end(tmp_path: Path, name: str) -> None:
    """A process of its own is limited and measured, which takes its start of a second."""
    start, filler, is_packed = ENDLESS[name]
    mib = min(SIZE_MIB, 2048 if is_packed else 256) // SLOWER.get(name, 1)
    path = tmp_path / "endless"
    block = filler * ((1 << 20) // len(filler))
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
        out: Any = packed if is_packed else file
        out.write(start)
        for _ in range(mib):
            out.write(block)
    seconds = 5 + (mib * 2 if name in SLOWER else mib // 10)
    command = [sys.executable, "-c", READ, str(path), str(seconds)]
    process = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    path.unlink()
    assert 0 == process.returncode, "it took too long"
    # Its own most: what the system counts for a child is at least what its parent held.
    assert int(process.stdout) < 700 << 10


@slow
def test_no_flipped_bit_of_a_gzip_gives_other_content(read: Callable[..., Any]) -> None:
    packed = gzip.compress(FILE, mtime=0)
    expected = read(packed)
    for bit in random.Random(7).sample(range(len(packed) * 8), min(1000, len(packed) * 8)):  # noqa: S311
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        outcome = read(bytes(flipped))
        if not isinstance(outcome, str):
            assert expected.sha256 == outcome.sha256, bit


JSON_SUITE = sorted((CORPORA / "JSONTestSuite").rglob("*.json"))


@slow
@pytest.mark.skipif(not JSON_SUITE, reason="the JSON test suite is not here")
@pytest.mark.parametrize("path", JSON_SUITE, ids=lambda path: path.name)
def test_the_json_test_suite(read: Callable[..., Any], path: Path) -> None:
    outcome = read(path.read_bytes())
    codes = {outcome} if isinstance(outcome, str) else {code for _, code in outcome.findings}
    if path.name.startswith("y_"):
        # Only duplicate keys are JSON that is refused: they leave open which value is meant.
        assert not codes & {"json_syntax", "json_invalid", "header_missing", "encoding"}
    elif path.name.startswith("n_"):
        assert isinstance(outcome, str) or outcome.rows.is_empty()


CSV_SUITE = sorted((CORPORA / "csv-spectrum").rglob("*.csv"))


@pytest.mark.skipif(not CSV_SUITE, reason="the CSV test suite is not here")
@pytest.mark.parametrize("path", CSV_SUITE, ids=lambda path: path.name)
def test_the_csv_test_suite_has_no_transactions(read: Callable[..., Any], path: Path) -> None:
    assert "header_missing" == read(path.read_bytes())
