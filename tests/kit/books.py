"""Workbooks from the XML of their sheets, so that a test says what stands in one letter for letter.

`book({"tx": [...]})` makes a workbook whose sheets are lists of rows, each a list of cells: a text
is text, a number a number, `None` no cell at all, and what `xml` makes stands there as it is.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

FORMATS = ("General", "yyyy-mm-dd", "dd.mm.yyyy hh:mm", "hh:mm:ss", "00000000", '#,##0.00 "days"')
DATE, MOMENT, CLOCK, ZEROS, MONEY = range(1, 6)
"""The styles of `FORMATS` by their numbers, as `xml` takes them."""

HEADER = (
    *("cardholder_token", "card_token", "card_acceptor_id"),
    *("amount", "transaction_ref", "transacted_at"),
)
HOLDER = "9fb6f85a8aac50e20c422cac18b44258"


@dataclass(frozen=True)
class Xml:
    """A cell without its place: its value, type and style, and a formula before the value."""

    value: str = ""
    kind: str = "n"
    style: int = 0
    inside: str = ""


Cell = str | float | Xml | None


def purchase(**given: Cell) -> list[Cell]:
    """Return a row of `HEADER` in which nothing is wrong but what is given."""
    good: dict[str, Cell] = {
        "cardholder_token": HOLDER,
        "card_token": "ct_1",
        "card_acceptor_id": "M6CF4DC01F8024C",
        "amount": 12.5,
        "transaction_ref": "TX-1",
        "transacted_at": "2026-03-18T13:12:54Z",
    }
    return [*(good | given).values()]


def column(number: int) -> str:
    """Return the letters of a column, counted from 1."""
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def sheet(rows: Sequence[Sequence[Cell]], *, first: int = 1) -> str:
    """Return the XML of a sheet whose first row has a number."""
    lines = []
    for number, cells in enumerate(rows, first):
        filled = [
            _cell(f"{column(place)}{number}", cell)
            for place, cell in enumerate(cells, 1)
            if cell is not None
        ]
        lines.append(f'<row r="{number}">{"".join(filled)}</row>')
    return data("".join(lines))


def data(rows: str) -> str:
    """Return the XML of a sheet with these rows."""
    return f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def _cell(place: str, cell: Cell) -> str:
    if isinstance(cell, Xml):
        value = f"<v>{escape(cell.value)}</v>" if cell.value else ""
        style = f' s="{cell.style}"' if cell.style else ""
        return f'<c r="{place}" t="{cell.kind}"{style}>{cell.inside}{value}</c>'
    if isinstance(cell, str):
        return (
            f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{_text(cell)}</t></is></c>'
        )
    return f'<c r="{place}"><v>{cell!r}</v></c>'


def _text(text: str) -> str:
    """Escape a text, control characters as spreadsheets do."""
    controls = {chr(code): f"_x{code:04X}_" for code in range(32)}
    return escape(text, controls)


def book(
    sheets: Mapping[str, Sequence[Sequence[Cell]] | str],
    *,
    hidden: Sequence[str] = (),
    shared: Sequence[str] = (),
    is_1904: bool = False,
    others: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Return a workbook; a sheet may be XML, `shared` are the insides of shared texts."""
    states = dict.fromkeys(hidden, " state='hidden'")
    listed = "".join(
        f"<sheet name={quoteattr(name)} sheetId='{n}' r:id='rId{n}'{states.get(name, '')}/>"
        for n, name in enumerate(sheets, 1)
    )
    dates = '<workbookPr date1904="1"/>' if is_1904 else ""
    targets = {
        f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)
    }
    texts = "".join(f"<si>{each}</si>" for each in shared)
    codes = "".join(
        f'<numFmt numFmtId="{164 + n}" formatCode={quoteattr(code)}/>'
        for n, code in enumerate(FORMATS)
    )
    styles = "".join(f'<xf numFmtId="{164 + n}"/>' for n in range(len(FORMATS)))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f"{_HEAD}<Types/>",
        "_rels/.rels": _relations({"rId1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{dates}'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            {**targets, "s": ("sharedStrings", "sharedStrings.xml"), "f": ("styles", "styles.xml")}
        ),
        "xl/sharedStrings.xml": f'{_HEAD}<sst xmlns="{_MAIN}">{texts}</sst>',
        "xl/styles.xml": f'{_HEAD}<styleSheet xmlns="{_MAIN}"><numFmts>{codes}</numFmts>'
        f'<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>{styles}</cellXfs></styleSheet>',
        **{
            f"xl/worksheets/sheet{number}.xml": rows if isinstance(rows, str) else sheet(rows)
            for number, rows in enumerate(sheets.values(), 1)
        },
    }
    return zipped({**parts, **(others or {})})


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip of parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    each = "".join(
        f'<Relationship Id="{identity}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for identity, (kind, target) in targets.items()
    )
    return f"{_HEAD}<Relationships>{each}</Relationships>"
