"""The verdict of the page is the command's, byte for byte: verdict, report, rejected rows."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.intake.layout_model import parse_profile
from cardoffers_cli.intake.pack.building import BuiltInLayout, PageCheck
from commands import in_a_pipe
from mutated import file_of_rows
from packs import (
    AS_OF,
    CHECKOUT,
    HEADER,
    ROW,
    TRANSACTIONS,
    Opened,
    Verdict,
    built,
    ready,
)
from sizes import FULL, at_the_gate, tries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARED = CHECKOUT.parent / "shared" / "data"
FILES: dict[str, bytes] = {
    "empty.csv": b"",
    "header.csv": HEADER,
    "one.csv": HEADER + ROW % 1,
    "cut.csv": HEADER + ROW % 1 + (ROW % 2)[:-1],
    "twice.csv": HEADER + ROW % 1 + ROW % 1 + (ROW % 1).replace(b"12.50", b"12.51"),
    "blank.csv": b"\n" + HEADER + b"\r\n \n" + (ROW % 1).replace(b"\n", b"\r\n"),
    "mark.csv": b"\xef\xbb\xbf" + HEADER + ROW % 1,
    "bytes.csv": HEADER + b"\xff" + ROW % 1 + ROW % 2,
    "quotes.csv": HEADER + b'"a""b",c,d,1,e,f\n"a,b\n' + ROW % 3,
    "card.csv": HEADER + (ROW % 1).replace(b"ct_527b0abb", b"4111111111111111"),
    "mail.csv": HEADER + (ROW % 1).replace(b"ct_527b0abb", b"a@b.example"),
    "columns.csv": HEADER[:-1] + b",Betrag,institution_id\n" + (ROW % 1)[:-1] + b",1,x\n",
    "semicolon.csv": HEADER.replace(b",", b";"),
    "foreign.csv": b"Datum;Betrag\n01.02.2026;12,50\n",
    "future.csv": HEADER + (ROW % 1).replace(b"2026-03", b"2027-03"),
    "zone.csv": HEADER + (ROW % 1).replace(b"Z\n", b"\n") + (ROW % 2).replace(b"Z\n", b"+01:00\n"),
    "formula.csv": HEADER + (ROW % 1).replace(b"TX-1", b"=1+1") + b"=cmd,,,,,\n",
    "a.jsonl": b'{"amount": 1}\n[]\n{"amount": 1, "amount": 2}\nnull\n',
    "a.json": b'{"transactions": [{"amount": "1"}, 2, {"cardholder_token": "a@b.example"}]}',
    "half.json": b'[{"amount": 1}, ',
    "binary.csv": b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml",
    "wide.csv": HEADER.decode().encode("utf-16"),
    "long.csv": HEADER + b"x" * 70_000 + b"\n" + ROW % 1,
    "\u202ename<b>.csv": HEADER + ROW % 1,
}


def gzipped(content: bytes) -> Iterator[tuple[str, bytes]]:
    packed = gzip.compress(content, mtime=0)
    yield "whole.csv.gz", packed
    yield "two.csv.gz", packed + gzip.compress(ROW % 7, mtime=0)
    yield "cut.csv.gz", packed[:-5]
    yield "more.csv.gz", packed + b"more"
    yield "flipped.csv.gz", packed[:40] + bytes([packed[40] ^ 1]) + packed[41:]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_odd(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert_equal(used, tmp_path / name, FILES[name], monkeypatch)


@pytest.mark.parametrize("name", ["larkmere-dirty.csv", "larkmere.csv", "tarnhollow.csv"])
def test_a_file_of_the_sample(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert_equal(used, tmp_path / name, (TRANSACTIONS / name).read_bytes(), monkeypatch)


def test_a_file_that_is_compressed(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (TRANSACTIONS / "larkmere-dirty.csv").read_bytes()
    for name, packed in gzipped(content):
        assert_equal(used, tmp_path / name, packed, monkeypatch)


def assert_equal(
    used: Opened, path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch, *more: str
) -> None:
    path.write_bytes(content)
    expected = by_command(path, monkeypatch, *more)
    assert expected == used.check(path), path.name


def test_a_page_checks_as_it_was_built_to(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is another page, in which Python starts once more."""
    check = PageCheck(currency="JPY", delimiter=";", assume_timezone="America/Sao_Paulo")
    words = ("--currency", "JPY", "--delimiter", ";", "--assume-timezone", "America/Sao_Paulo")
    rows = [ROW % 1, (ROW % 2).replace(b"12.50", b"12"), (ROW % 3).replace(b"12.50", b"12.0")]
    local = [
        (ROW % 4).replace(b"2026-03-18T13:12:54Z", moment).replace(b"12.50", b"12")
        for moment in (b"2026-03-18T13:12:54", b"2018-11-04T00:30:00", b"2018-02-17T23:30:00")
    ]
    content = b"".join([HEADER, *rows, *local]).replace(b",", b";")
    with ready(opened, built(tmp_path, check)) as used:
        assert_equal(used, tmp_path / "a.csv", content, monkeypatch, *words)
        assert "America/Sao_Paulo" in used.text("#about")


PROFILE = """
encoding = "cp1252"
form = {delimiter = ";"}
negatives = "refund"
trailer = {starts_with = "Summe", count = 2, sum = 3}
[fields]
cardholder_token = {column = "Kunde"}
card_token = {column = "Karte"}
transacted_at = {column = "Datum", format = "%d.%m.%Y %H:%M", zone = "Europe/Berlin"}
amount = {column = "Betrag (€)", decimal = ",", thousands = "."}
transaction_ref = {columns = ["Beleg", "#line"], join = "/"}
"""
EXPORT = """Kunde;Karte;Datum;Betrag (€);Beleg
9fb6f85a8aac50e20c422cac18b44258;ct_1;05.03.2026 18:30;1.012,50;B1
9fb6f85a8aac50e20c422cac18b44258;ct_1;25.10.2026 02:30;12,50;B2
9fb6f85a8aac50e20c422cac18b44258;4111111111111111;29.03.2026 02:30;-2,50;B3
a@b.example;4111111111111111;06.03.2026;12.50;B4
"""


def test_a_page_reads_an_export_by_the_profile_in_it(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is another page, in which Python starts once more."""
    (tmp_path / "bank.toml").write_text(PROFILE)
    profile = parse_profile(PROFILE, "bank.toml")
    check = PageCheck(layout=BuiltInLayout(profile=profile, name="bank.toml"))
    files = {
        "good.csv": f"{EXPORT}Summe;4;1.022,50\n".encode("cp1252"),
        "sum.csv": f"{EXPORT}Summe;4;1\n".encode("cp1252"),
        "other.csv": HEADER + ROW % 1,
        "book.xlsx": FILES["binary.csv"],
    }
    with ready(opened, built(tmp_path, check)) as used:
        for name, content in files.items():
            assert_equal(used, tmp_path / name, content, monkeypatch, "--profile", "bank.toml")
        assert profile.digest in used.text("#about")


@pytest.mark.parametrize("name", ["alder.csv", "brook.csv", "refunds.csv"])
def test_a_file_of_real_purchases(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = shared("calderdale") / name
    assert_equal(used, tmp_path / name, path.read_bytes(), monkeypatch)


@at_the_gate
@pytest.mark.parametrize("corpus", ["JSONTestSuite", "csv-spectrum"])
def test_every_file_of_a_corpus(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpus: str
) -> None:
    found = [each for each in shared("corpora", corpus).rglob("*") if each.is_file()]
    assert len(found) > 10
    for path in found:
        assert_equal(used, tmp_path / path.name, path.read_bytes(), monkeypatch)


def shared(*names: str) -> Path:
    folder = SHARED.joinpath(*names)
    if not folder.is_dir():
        pytest.skip("the data beside the checkout is not there")
    return folder


def test_files_that_were_changed_by_chance(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte, line or field of a file is changed; many of them are enough for any rule."""
    chance = random.Random(4)  # noqa: S311
    lines = (TRANSACTIONS / "larkmere-dirty.csv").read_bytes().splitlines(keepends=True)
    for number in range(5_000 if FULL else tries(20, 100)):
        assert_equal(used, tmp_path / f"{number}.csv", changed(lines, chance), monkeypatch)


ROWS_OF_A_FILE = 250


def test_rows_that_were_changed_by_chance(
    used: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row of a file is changed: 100,000 rows take a fraction of as many files."""
    chance = random.Random(5)  # noqa: S311
    for number in range(400 if FULL else tries(2, 16)):
        content = file_of_rows(ROWS_OF_A_FILE, chance)
        assert_equal(used, tmp_path / f"{number}.csv", content, monkeypatch)


NASTY = [b"\0", b'"', b"\r", b"\n", b",", b"\xc3", b"\xe2\x80\x8b", b" ", b"=", b"-", b"e", b"@"]
CELLS = [b"", b"NULL", b"1e5", b"12,5", b"-1", b"0", b"4111111111111111", b'""', b"a@b.example"]


def changed(lines: list[bytes], chance: random.Random) -> bytes:
    """Return some lines of a file with the header, of which some are damaged."""
    found = [lines[0], *chance.sample(lines[1:], 12)]
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(found))
        line = found[place]
        at = chance.randrange(len(line))
        cells = line.split(b",")
        cells[chance.randrange(len(cells))] = chance.choice(CELLS)
        found[place] = chance.choice(
            [
                line[:at] + chance.choice(NASTY) + line[at:],
                line[:at] + chance.choice(NASTY) + line[at + 1 :],
                line[:at],
                b",".join(cells),
                found[-1] + line,
            ]
        )
    return b"".join(found)


def by_command(path: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> Verdict:
    """Return what the command says of the same file."""
    monkeypatch.chdir(path.parent)
    outputs = {name: path.parent / f"{name}.out" for name in ("errors", "rejected")}
    for each in outputs.values():
        each.unlink(missing_ok=True)
    files = [word for name, each in outputs.items() for word in (f"--{name}", str(each))]
    words = ["validate", path.name, "--format", "json", "--as-of", AS_OF, *files, *more]
    ended = in_a_pipe([*words])
    assert ended.exit_code in {0, 3, 14}, ended
    written = {name: each.read_bytes() if each.exists() else b"" for name, each in outputs.items()}
    return Verdict(verdict=ended.stdout.encode(), **written)
