"""What a stranger writes into a file of a bank ends in a refusal with its place, or a finding."""

from __future__ import annotations

import random
import sys
import tracemalloc
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from banks import bai2, camt, entry, listed, mt940, nacha, pain002, returned, said
from cardoffers_cli.kernel.words.errors import FileUnusable, UsageError
from cardoffers_cli.payouts.files import statements
from cardoffers_cli.payouts.files.answers import open_bank_file
from cardoffers_cli.payouts.files.messages import MOST_BYTES
from sizes import slow, tries

if TYPE_CHECKING:
    from pathlib import Path

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "other.xml">]>'
ROOT = camt()[: camt().index(b"<GrpHdr>")]


def behind_the_first_line(text: str) -> bytes:
    return camt(entry()).replace(b"?>\n", f"?>\n{text}".encode(), 1)


MT940 = mt940("D 12,50 B-1 one", "C 2, B-2 two", opening="20,", closing="9,5")
BAI2 = bai2("475 1250 B-1 A,one/", "165 200 B-2 B,two/", opening="2000", closing="950")
UNPROVED = ("balance_differs", "entries of statement 1 do not come to its balances")


def with_mt940(old: str, new: str) -> bytes:
    assert old.encode() in MT940
    return MT940.replace(old.encode(), new.encode(), 1)


def with_bai2(old: str, new: str) -> bytes:
    assert old.encode() in BAI2
    return BAI2.replace(old.encode(), new.encode(), 1)


HOSTILE = {
    "MT940 of another balance": (with_mt940("GBP9,5", "GBP9,6"), *UNPROVED),
    "MT940 with a letter in its amount": (with_mt940("D12,50", "D1O,50"), *UNPROVED),
    "MT940 with a letter before it": (
        with_mt940("D12,50", "DOO12,50"),
        *("bank_statement_invalid", "as MT940: a part of it has another form"),
    ),
    "MT940 without a line": (with_mt940(":61:2611031103C2,NTRFNONREF//B-2\n", ""), *UNPROVED),
    "MT940 with a line twice": (
        with_mt940(":62F:", ":61:2611031103C2,NTRF//B-2\n:62F:"),
        *UNPROVED,
    ),
    "MT940 without the end": (MT940[: MT940.index(b":62F")], "bank_statement_invalid", "MT940"),
    "MT940 without the beginning": (
        with_mt940(":60F:C261103GBP20,\n", ""),
        *("bank_statement_invalid", "as MT940: a part"),
    ),
    "MT940 in another currency": (with_mt940("62F:C261103GBP", "62F:C261103EUR"), *UNPROVED),
    "MT940 in no currency": (
        MT940.replace(b"GBP", b"XXX"),
        *("bank_statement_invalid", "as MT940: bank_currency_unknown"),
    ),
    "MT940 of no day": (
        with_mt940("61:261103", "61:261399"),
        *("bank_statement_invalid", "another form"),
    ),
    "MT940 of no account": (with_mt940(":25:", ":26:"), "bank_statement_invalid", "MT940"),
    "BAI2 of another total": (
        with_bai2("49,4400", "49,4401"),
        *("bank_statement_invalid", "Invalid account control total for Account. expected 4401"),
    ),
    "BAI2 of another balance": (
        with_bai2("950", "960").replace(b"4400", b"4410"),
        *UNPROVED,
    ),
    "BAI2 without a line": (
        with_bai2("16,165,200,Z,B-2,B,two/\n", ""),
        *("bank_statement_invalid", "Invalid number of records for Account"),
    ),
    "BAI2 without the end": (BAI2[: BAI2.index(b"99,")], "bank_statement_invalid", "BAI2"),
    "BAI2 cut off": (BAI2[: BAI2.index(b"16,165")], "bank_statement_invalid", "file trailer"),
    "BAI2 with more behind": (
        BAI2 + b"16,475,9,Z,B,A,/\n",
        "bank_statement_invalid",
        "file trailer",
    ),
    "BAI2 with another end behind": (
        with_bai2("99,", "99,4400,1,8/\n16,475,9,Z,B,A,/\n99,"),
        *("bank_statement_invalid", "file trailer"),
    ),
    "BAI2 with a letter in its amount": (
        with_bai2("16,475,1250", "16,475,12S0"),
        *("bank_statement_invalid", "another form"),
    ),
    "BAI2 of no direction": (
        with_bai2("16,165,200", "16,890,200"),
        *("bank_statement_invalid", "neither a credit nor a debit"),
    ),
    "BAI2 of another version": (
        with_bai2(",2/", ",3/"),
        *("bank_statement_invalid", "Only BAI version 2 supported"),
    ),
    "BAI2 that is taken back": (
        with_bai2("02,US,BANK,1", "02,US,BANK,2"),
        *("bank_statement_invalid", "no report of a whole day"),
    ),
    "BAI2 of a day that goes on": (
        with_bai2("GBP,2/", "GBP,3/"),
        *("bank_statement_invalid", "no report of a whole day"),
    ),
    "BAI2 of no group": (
        b"01,B,U,261103,0200,1,,,2/\n99,0,0,2/\n",
        "bank_statement_invalid",
        "BAI2",
    ),
    "entities": (behind_the_first_line(BOMB), "bank_xml_forbidden", "entities"),
    "a file": (behind_the_first_line(OUTSIDE), "bank_xml_forbidden", "entities"),
    "a document type": (behind_the_first_line("<!DOCTYPE x>"), "bank_xml_forbidden", "entities"),
    "depth": (ROOT + b"<a>" * 10_000, "bank_xml_forbidden", "nests over 40"),
    "a long text": (ROOT + b"<a>" + b"x" * (MOST_BYTES + 1), "bank_entry_too_large", "4 MiB"),
    "a long name": (ROOT + b"<" + b"x" * (MOST_BYTES + 1), "bank_entry_too_large", "4 MiB"),
    "many elements": (
        ROOT + (b"<a>" + b"x" * 993 + b"</a>") * (MOST_BYTES // 1000 + 1),
        "bank_entry_too_large",
        "4 MiB",
    ),
    "cut off": (camt(entry(), entry())[:-60], "bank_xml_invalid", "line 2, column"),
    "cut off in a tag": (camt(entry())[:400], "bank_xml_invalid", "line 2, column"),
    "not closed": (camt(entry()).replace(b"</Ntry>", b"</X>"), "bank_xml_invalid", "line 2"),
    "no such encoding": (camt().replace(b"UTF-8", b"KLINGON"), "bank_xml_invalid", "encoding"),
    "of many bytes": (camt().replace(b"UTF-8", b"UTF-7"), "bank_xml_invalid", "encoding"),
    "not in its encoding": (camt(entry(named="\x00\x01")), "bank_xml_invalid", "line 2"),
    "not UTF-8": (camt(entry(named="A")).replace(b">A<", b">\xff<"), "bank_xml_invalid", "line 2"),
    "another message": (
        camt().replace(b"camt.053", b"camt.055"),
        "bank_form_unknown",
        "none of camt.052",
    ),
    "no message": (b"<Document/>", "bank_form_unknown", "none of camt.052"),
    "a page": (b"<html><body>Log in</body></html>", "bank_form_unknown", "none of camt.052"),
    "nothing": (b" \n", "file_empty", "empty"),
    "another list": (b"a,b\n1,2\n", "bank_form_unknown", "lacks payment_id"),
    "a list cut off": (listed('A,"booked'), "bank_list_invalid", "line 2: a quote"),
    "fields": (listed("A,booked"), "bank_list_invalid", "line 2: it has 2 fields"),
    "a long line": (listed("A" * 70_000), "bank_list_invalid", "line 2: it is longer"),
    "another encoding": (listed("A").replace(b"\nA", b"\n\xe9"), "bank_list_invalid", "not UTF-8"),
    "bytes": (bytes(range(1, 256)), "bank_form_unknown", "lacks payment_id"),
    "NACHA cut off": (nacha()[:380], "bank_nacha_invalid", "ends before its last record"),
    "letters": (
        nacha().replace(b"0000123450", b"00001234x0", 1),
        "bank_nacha_invalid",
        "line 3: positions 30 to 39",
    ),
    "no record": (nacha().replace(b"\n5", b"\nX", 1), "bank_nacha_invalid", "line 2: no record"),
    "more behind": (nacha() + b"5200\n", "bank_nacha_invalid", "more behind the end"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    content, code, place = HOSTILE[name]
    with pytest.raises(FileUnusable) as error:
        said(tmp_path, content)
    assert code == error.value.code
    assert place in error.value.message
    assert error.value.message.startswith("bank.file: ")
    assert error.value.hint


def test_there_may_be_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileUnusable, match="There is no file"), open_bank_file(tmp_path / "x"):
        pass


@pytest.mark.parametrize("content", [MT940, BAI2], ids=["MT940", "BAI2"])
def test_a_statement_is_read_as_a_whole(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 3 == len(said(tmp_path, content))
    monkeypatch.setattr(statements, "MOST_BYTES", len(content) - 1)
    with pytest.raises(FileUnusable, match="The file has over 0 MiB"):
        said(tmp_path, content)


@pytest.mark.parametrize("content", [MT940, BAI2], ids=["MT940", "BAI2"])
def test_without_the_extra_its_name_is_said(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mt940", "bai2.parsers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match="need the extra bank") as error:
        said(tmp_path, content)
    assert ("extra_missing", "pip install 'cardoffers-cli[bank]'") == (
        error.value.code,
        error.value.hint,
    )


GOOD = {
    "mt940": MT940,
    "bai2": BAI2,
    "camt": camt(entry(), returned()),
    "pain.002": pain002(("A", "RJCT", "AC01")),
    "nacha": nacha(),
    "csv": listed("A,booked,1.00,GBP,2026-11-03,,B-1"),
}


@pytest.mark.parametrize("name", GOOD)
def test_no_damage_crashes_a_reader(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(name)  # noqa: S311 - a seeded draw of damage
    for _ in range(tries(150, 3_000)):
        damaged = bytearray(GOOD[name])
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(max(len(damaged), 1))
            match chance.randrange(4):
                case 0 if damaged:
                    damaged[place] = chance.randrange(256)
                case 1:
                    del damaged[place : place + chance.randint(1, 40)]
                case 2:
                    damaged[place:place] = damaged[: chance.randint(1, 60)]
                case _:
                    del damaged[max(place, 1) :]
        with suppress(FileUnusable):
            said(tmp_path, bytes(damaged))
    assert "" == caplog.text, "no library says what it read"


@slow
def test_memory_is_flat_in_the_size_of_the_file(tmp_path: Path) -> None:
    most = []
    for entries in (500, 2_000):
        path = tmp_path / "large.xml"
        path.write_bytes(camt(*[entry(details="<RmtInf/>" * 8)] * entries))
        tracemalloc.start()
        with open_bank_file(path) as file:
            assert entries + 1 == sum(1 for _ in file.said)
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < most[0] * 1.2
