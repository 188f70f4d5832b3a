"""Workbooks are read as files of text are: the same rules, lines that are rows of the sheet."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
import xlsxwriter

from books import (
    CLOCK,
    DATE,
    HEADER,
    HOLDER,
    MOMENT,
    ZEROS,
    Xml,
    book,
    column,
    data,
    purchase,
    sheet,
    zipped,
)
from cardoffers_cli.intake.chunks import FileReading
from cardoffers_cli.intake.paging import read_sheet
from cardoffers_cli.intake.sources import Limits, Source, open_source
from cardoffers_cli.intake.transactions import open_transactions
from cardoffers_cli.kernel.words.errors import FileUnusable
from sizes import slow

if TYPE_CHECKING:
    from pathlib import Path

    from books import Cell

NOW = datetime(2026, 12, 31)  # noqa: DTZ001 - moments are naive UTC inside the product


def text_of(folder: Path, content: bytes, **how: Any) -> list[str]:
    """Return the lines that a sheet is read as."""
    path = folder / "book.xlsx"
    path.write_bytes(content)
    with open_source(str(path)) as source:
        read_sheet(source, **how)
        return b"".join(source.blocks()).decode().splitlines()


def found_in(folder: Path, content: bytes, **how: Any) -> list[tuple[int | None, str | None, str]]:
    """Return line, column and code of what is found in a workbook of purchases."""
    path = folder / "book.xlsx"
    path.write_bytes(content)
    with open_transactions(str(path), FileReading(now=NOW, **how)) as file:
        rows = [row for chunk in file.chunks() for row in chunk.findings.rows()]
        whole = [(each.line, each.column, each.code) for each in file.file_findings]
    return [*whole, *((line, column, code) for line, _, column, code, *_ in rows)]


def refused(folder: Path, content: bytes, **how: Any) -> FileUnusable:
    with pytest.raises(FileUnusable) as error:
        found_in(folder, content, **how)
    return error.value


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("Café, bar", '"Café, bar"'),
        ('12" inch', '"12"" inch"'),
        ('="0123"', '"=""0123"""'),
        (12.5, "12.5"),
        (Xml("12.300000000000001"), "12.3"),
        (Xml("46099.5", style=MOMENT), "2026-03-18 12:00:00"),
        (Xml("46099", style=DATE), "2026-03-18"),
        (Xml("0.75", style=CLOCK), "18:00:00"),
        (Xml("123", style=ZEROS), "00000123"),
        (Xml("1", "b"), "TRUE"),
        (Xml("0", "b"), "FALSE"),
        (Xml("#N/A", "e"), "#N/A"),
        (Xml("2026-03-18T12:00:00", "d"), "2026-03-18T12:00:00"),
        (Xml("0", "s"), "shared text"),
        (Xml("1", "s"), "bold part"),
        (Xml("12.5", inside="<f>A1*2</f>"), "12.5"),
        (Xml("TX", "str", inside="<f>[1]Other!A1</f>"), "TX"),
        (Xml("", "str", inside="<f>IF(1,&quot;&quot;)</f><v></v>"), ""),
        (Xml(inside="<f>A1*2</f>"), "#FORMULA!"),
        (Xml(inside="<f>A1*2</f><v></v>"), "#FORMULA!"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_cell_becomes_its_text(tmp_path: Path, cell: Cell, text: str) -> None:
    shared = [
        '<t>shared text</t><rPh sb="0" eb="1"><t>sound</t></rPh>',
        "<r><t>bold </t></r><r><t>part</t></r>",
    ]
    assert [f"a,{text},z"] == text_of(tmp_path, book({"s": [["a", cell, "z"]]}, shared=shared))


def test_lines_are_rows_and_all_as_long_as_the_header(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [[], ["a", "b", "c"], ["1"], [None, " "], [None, None, "3"], []]
    expected = ["", "a,b,c", "1,,", "", ",,3"]
    assert expected == text_of(tmp_path, book({"s": rows}))
    assert expected == text_of(tmp_path, book({"s": rows}), header=2)
    assert ["", "a,b,c,", "1,,,x"] == text_of(
        tmp_path, book({"s": [*rows[:2], ["1", None, None, "x"]]}), header=0
    )


def test_cells_and_rows_may_leave_out_where_they_stand(tmp_path: Path) -> None:
    rows = (
        "<row><c><v>1</v></c><c r='D1'><v>4</v></c><c><v>5</v></c></row><row><c><v>2</v></c></row>"
    )
    assert ["1,,,4,5", "2,,,,"] == text_of(tmp_path, book({"s": data(rows)}))
    assert ["1"] == text_of(
        tmp_path,
        book(
            {
                "s": data("<x:row><x:c><x:v>1</x:v></x:c></x:row>").replace(
                    "<worksheet", '<worksheet xmlns:x="m"'
                )
            }
        ),
    )


SHEETS = {
    "Summary": [["Report"], [None, "of March"]],
    "Other": [["Datum", "Betrag"], ["18.03.2026", "12,50"], ["19.03.2026", "9,99"]],
    "tx": [[*HEADER], purchase()],
    "more": [[*HEADER], purchase(transaction_ref="TX-2"), purchase()],
}


@pytest.mark.parametrize(
    ("how", "hidden", "expected"),
    [
        ({}, [], 2),
        ({}, ["tx"], 3),
        ({"sheet": "more"}, [], 3),
        ({"sheet": "MORE"}, ["more"], 3),
        ({"sheet": "4"}, [], 3),
        (
            {"sheet": "5"},
            [],
            "sheet_missing There is no sheet 5 in the workbook. Its sheets are: Summary, Other,",
        ),
        ({"sheet": "Summary"}, [], "header_missing"),
        ({"sheet": "Other"}, [], "header_missing"),
    ],
)
def test_a_sheet_is_named_or_the_first_that_fits(
    tmp_path: Path, how: dict[str, str], hidden: list[str], expected: int | str
) -> None:
    content = book(SHEETS, hidden=hidden)
    if isinstance(expected, str):
        error = refused(tmp_path, content, **how)
        assert f"{error.code} {error.message} {error.hint}".startswith(expected)
        return
    path = tmp_path / "book.xlsx"
    path.write_bytes(content)
    with open_transactions(str(path), FileReading(now=NOW, **how)) as file:
        assert expected == sum(chunk.rows.height for chunk in file.chunks()) + 1
        assert (expected - 1, "xlsx", hashlib.sha256(content).hexdigest(), len(content)) == (
            file.received,
            file.told_kind,
            file.sha256,
            file.size_bytes,
        )


def test_a_sheet_of_another_layout_says_what_it_seems_to_be_and_what_comes_next(
    tmp_path: Path,
) -> None:
    content = book({"Umsatz": SHEETS["Other"], "Notizen": [["nichts"]]})
    hint = refused(tmp_path, content).hint or ""
    assert "2 columns of the sheet Umsatz, the header on line 1; amount in Betrag" in hint
    assert f"`cardoffers profile new {tmp_path / 'book.xlsx'} -o layout.toml`." in hint
    error = refused(tmp_path, content, sheet="Notizen")
    assert error.message.startswith("In the sheet Notizen: The first line")
    assert "To read another sheet add --sheet with one of: Umsatz." in (error.hint or "")


def test_text_has_no_sheets(tmp_path: Path) -> None:
    error = refused(tmp_path, ",".join(HEADER).encode() + b"\n", sheet="tx")
    assert ("sheet_missing", "Leave --sheet out.") == (error.code, error.hint)


FAULTS = [
    # what stands in a row, and the code that it has
    ({}, None),
    ({"amount": "12.50"}, None),
    ({"amount": 12.125}, "amount amount_precision"),
    ({"amount": Xml("36.900000000000006")}, "amount amount_precision"),
    ({"amount": -12.5}, "amount amount_not_positive"),
    ({"amount": Xml("#N/A", "e")}, "amount amount_invalid"),
    ({"amount": Xml("46099", style=DATE)}, "amount date_turned"),
    ({"amount": Xml(inside="<f>B2</f>")}, "amount amount_invalid"),
    ({"amount": Xml("1", "b")}, "amount amount_invalid"),
    ({"amount": None}, "amount required_missing"),
    ({"transaction_ref": 4123456789012345}, "transaction_ref spreadsheet_damage"),
    ({"transaction_ref": Xml("#REF!", "e")}, "transaction_ref token_placeholder"),
    ({"transaction_ref": Xml(inside="<f>B2</f>")}, "transaction_ref token_placeholder"),
    ({"transaction_ref": " TX-1"}, "transaction_ref spreadsheet_damage"),
    ({"transaction_ref": "TX\n1"}, "transaction_ref token_invalid"),
    ({"transaction_ref": "TX_x0007_1"}, "transaction_ref control_character"),
    ({"card_acceptor_id": 1234567890123456}, "card_acceptor_id spreadsheet_damage"),
    ({"card_acceptor_id": "M" * 70_000}, "- line_too_long"),
    ({"transacted_at": Xml("46099.5", style=MOMENT)}, "transacted_at timestamp_no_offset"),
    ({"transacted_at": "18.03.2026 12:00"}, "transacted_at timestamp_invalid"),
]


@pytest.mark.parametrize(("given", "found"), FAULTS, ids=lambda each: repr(each)[:60])
def test_what_is_wrong_in_a_row_is_found_there(
    tmp_path: Path, given: dict[str, Cell], found: str | None
) -> None:
    expected = []
    if found:
        name, code = found.split()
        expected = [(4, None if name == "-" else name, code)]
    rows = [[*HEADER], purchase(transaction_ref="TX-0"), [], purchase(**given)]
    assert expected == found_in(tmp_path, book({"tx": rows}))


def test_a_date_cell_is_a_local_time_and_counts_with_a_zone(tmp_path: Path) -> None:
    rows = [[*HEADER], purchase(transacted_at=Xml("46099.5", style=MOMENT))]
    path = tmp_path / "book.xlsx"
    path.write_bytes(book({"tx": rows}))
    reading = FileReading(now=NOW, assume_timezone="Europe/Berlin")
    with open_transactions(str(path), reading) as file:
        (chunk,) = file.chunks()
    assert [datetime(2026, 3, 18, 11)] == chunk.rows["transacted_at"].to_list()  # noqa: DTZ001


def test_lost_zeros_are_warned_of(tmp_path: Path) -> None:
    rows = [
        [*HEADER],
        *(
            purchase(card_acceptor_id=f"00000000000{n}", transaction_ref=f"T-{n}")
            for n in range(1000, 1009)
        ),
        purchase(card_acceptor_id=1009),
    ]
    assert [(None, "card_acceptor_id", "leading_zeros_lost")] == found_in(
        tmp_path, book({"tx": rows})
    )


def test_rows_are_copied_apart_as_text(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(book({"tx": [[*HEADER], purchase(), purchase(amount="x")]}))
    valid, rejected = BytesIO(), BytesIO()
    with open_transactions(str(path), FileReading(now=NOW)) as file:
        (chunk,) = file.chunks()
        file.split(chunk.rejected, valid, rejected)
    row = f"{HOLDER},ct_1,M6CF4DC01F8024C,{{}},TX-1,2026-03-18T13:12:54Z\n"
    header = ",".join(HEADER) + "\n"
    assert (header + row.format("12.5")).encode() == valid.getvalue()
    assert (header + row.format("x")).encode() == rejected.getvalue()


def test_what_a_library_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    made = xlsxwriter.Workbook(str(path))
    page = made.add_worksheet("tx")
    for place, cells in enumerate([[*HEADER], purchase(), purchase(amount=9999999.99)]):
        page.write_row(place, 0, cells)
    made.close()
    with open_transactions(str(path), FileReading(now=NOW)) as file:
        (chunk,) = file.chunks()
    assert ["12.5000", "9999999.9900"] == chunk.rows["amount"].cast(str).to_list()


GOOD = book({"tx": [[*HEADER], purchase()]})
ENTITY = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
TX = "xl/worksheets/sheet1.xml"


def with_part(name: str, content: str) -> bytes:
    return book({"tx": [[*HEADER], purchase()]}, others={name: content})


HOSTILE = [
    # code, what is said or "", what is there
    ("file_binary", "a zip archive or a workbook", GOOD[: len(GOOD) // 2]),
    ("file_binary", "no workbook", zipped({"a.csv": "amount"})),
    ("file_binary", ".xlsb", zipped({"xl/workbook.bin": b"\0"})),
    ("file_binary", ".ods", zipped({"mimetype": "x", "content.xml": "<x/>"})),
    ("file_binary", "old spreadsheet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)),
    ("file_binary", "password", b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le")),
    ("file_corrupt", "does not parse", with_part(TX, "<worksheet><sheetData><row>")),
    ("file_corrupt", "document type", with_part(TX, f"{ENTITY}<worksheet>&b;</worksheet>")),
    ("file_corrupt", "document type", with_part("xl/workbook.xml", f"{ENTITY}<workbook/>")),
    ("file_corrupt", "in order", with_part(TX, data('<row r="2"/><row r="1"/>'))),
    ("file_corrupt", "in order", with_part(TX, data('<row r="1048577"/>'))),
    ("file_corrupt", "in order", with_part(TX, data('<row r="1"><c r="XFE1"/></row>'))),
    ("file_corrupt", "in order", with_part(TX, data('<row r="1"><c r="B1"/><c r="A1"/></row>'))),
    ("file_corrupt", "nowhere", with_part(TX, data('<row r="1"><c r="é1"/></row>'))),
    ("file_corrupt", "nowhere", with_part(TX, data(f'<row r="1"><c r="{"A" * 99}1"/></row>'))),
    ("file_corrupt", "a number", with_part(TX, data('<row r="-1"/>'))),
    ("file_corrupt", "a number", with_part(TX, data('<row r="99999999999999999999"/>'))),
    ("file_corrupt", "not there", with_part(TX, data('<row><c t="s"><v>7</v></c></row>'))),
    ("file_corrupt", "without an end", with_part(TX, f'<worksheet a="{"x" * (3 << 20)}"/>')),
    ("file_corrupt", "beside its sheets", with_part("xl/styles.xml", "<a>" + " " * (17 << 20))),
    ("file_empty", "", book({"tx": [], "more": [[" "], []]})),
    ("file_empty", "", book({})),
    ("file_unpacks_too_large", "", with_part(TX, data(" " * (70 << 20)))),
    (
        "file_unpacks_too_large",
        "",
        book(
            {"tx": data('<row><c t="s"><v>0</v></c></row>' * 3000)},
            shared=[f"<t>{'x' * 65_000}</t>"],
        ),
    ),
    ("header_missing", "", book({"tx": data(f'<row><c r="{column(16384)}1"><v>1</v></c></row>')})),
]


@slow
@pytest.mark.parametrize(("code", "said", "content"), HOSTILE, ids=lambda each: repr(each)[:30])
def test_a_hostile_workbook_is_refused_with_a_code(
    tmp_path: Path, code: str, said: str, content: bytes
) -> None:
    error = refused(tmp_path, content)
    assert (code, True) == (error.code, said in error.message), error.message


def test_a_damaged_byte_is_never_another_exception(tmp_path: Path) -> None:
    """The sums of the zip find most of it; what comes through is read or refused."""
    chance = random.Random(7)  # noqa: S311
    for _ in range(300):
        damaged = bytearray(GOOD)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(4, len(GOOD))] = chance.randrange(256)
        try:
            found_in(tmp_path, bytes(damaged))
        except FileUnusable:
            continue


def test_a_protected_part_is_said_to_have_a_password(tmp_path: Path) -> None:
    marked = bytearray(GOOD)
    place = marked.rfind(b"PK\x01\x02", 0, marked.find(b"xl/workbook.xml", len(GOOD) // 2))
    marked[place + 8] |= 1
    assert "password" in refused(tmp_path, bytes(marked)).message


def test_macros_and_links_to_other_files_are_left_alone(tmp_path: Path) -> None:
    others = {
        "xl/vbaProject.bin": bytes(range(256)),
        "xl/externalLinks/externalLink1.xml": "<externalLink>",
        "xl/externalLinks/_rels/externalLink1.xml.rels": "<Relationships>",
    }
    rows = [[*HEADER], purchase(amount=Xml("12.5", inside="<f>[1]Other!A1</f>"))]
    assert [] == found_in(tmp_path, book({"tx": rows}, others=others))


READ = """
import re, resource, sys
from datetime import datetime
from pathlib import Path
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.intake.transactions import FileReading, open_transactions

resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
try:
    with open_transactions(sys.argv[1], FileReading(now=datetime(2026, 11, 1))) as file:
        for chunk in file.chunks():
            pass
except FileUnusable as error:
    print(error.code, end=" ")
print(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1])
"""
EMPTY_ROW = '<row r="{}" spans="1:6" s="1" customFormat="1"><c r="A{}" s="1"/></row>'
LARGE = {
    "rows of nothing": lambda: sheet([[*HEADER], purchase()]).replace(
        "</sheetData>",
        "".join(EMPTY_ROW.format(n, n) for n in range(3, 100_000))
        + '<row r="1048576"><c r="XFD1048576" s="1"/></row></sheetData>',
    ),
    "a last cell far away": lambda: sheet([[*HEADER], purchase()]).replace(
        "</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    ),
    "an attribute without an end": lambda: '<worksheet a="' + "x" * (40 << 20),
}


@slow
@pytest.mark.parametrize("name", LARGE)
def test_no_workbook_takes_memory_or_time_without_end(tmp_path: Path, name: str) -> None:
    """A process of its own is limited and measured, which takes its start of a second."""
    path = tmp_path / "book.xlsx"
    path.write_bytes(with_part(TX, LARGE[name]()))
    command = [sys.executable, "-c", READ, str(path)]
    process = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert 0 == process.returncode, "it took too long"
    assert int(process.stdout.split()[-1]) < 300 << 10


def test_a_workbook_unpacks_within_the_limits_of_its_reading(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(book({"tx": [[*HEADER], *([purchase()] * 2000)]}))

    def limits(unpacked: int) -> Limits:
        return Limits(
            stored_bytes=1 << 30, unpacked_bytes=unpacked, ratio=500, check_time=lambda: None
        )

    with Source("book.xlsx", path.open("rb"), limits(10 << 20)) as source:
        read_sheet(source)
    with (
        Source("book.xlsx", path.open("rb"), limits(100 << 10)) as source,
        pytest.raises(FileUnusable) as error,
    ):
        read_sheet(source)
    assert "file_unpacks_too_large" == error.value.code
