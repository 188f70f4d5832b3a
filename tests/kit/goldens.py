"""What was shown, held against files; and files that no eye can read, as text."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDENS = Path(__file__).parents[1] / "goldens"
MADE_ANEW = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
"""Ids that are drawn, not derived: RFC 9562, version 4."""

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def held(name: str, shown: str) -> None:
    """Hold what was shown against its golden, or make it that with UPDATE_GOLDENS=1."""
    golden, text = GOLDENS / name, MADE_ANEW.sub("…", shown)
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_bytes(text.encode())
    assert golden.read_bytes().decode() == text


def parquet_text(path: Path) -> str:
    """Return the columns of a Parquet file with their types, then its rows."""
    frame = pl.read_parquet(path)
    columns = [f"{name}: {kind}" for name, kind in frame.schema.items()]
    rows = ["  ".join(map(_value, row)) for row in frame.rows()]
    return "\n".join([*columns, "", *rows, ""])


def _value(value: object) -> str:
    return "-" if value is None else repr(value) if isinstance(value, str) else str(value)


def workbook_text(path: Path) -> str:
    """Return the worksheets of a workbook, each cell as what it is: text quoted, numbers bare.

    A number comes with its format if it has one; a moment is a number of days.
    """
    with zipfile.ZipFile(path) as book:
        names = [each.get("name") for each in _xml(book, "xl/workbook.xml").iter(f"{_MAIN}sheet")]
        formats = _formats(_xml(book, "xl/styles.xml"))
        parts = [
            f"{name}\n" + "\n".join(_lines(_xml(book, f"xl/worksheets/sheet{n}.xml"), formats))
            for n, name in enumerate(names, 1)
        ]
    return "\n\n".join(parts) + "\n"


def _xml(book: zipfile.ZipFile, name: str) -> ET.Element:
    return ET.fromstring(book.read(name))  # noqa: S314 - our own file


def _formats(styles: ET.Element) -> list[str]:
    """Return the number format of each style."""
    codes = {each.get("numFmtId"): each.get("formatCode") for each in styles.iter(f"{_MAIN}numFmt")}
    used = styles.find(f"{_MAIN}cellXfs")
    assert used is not None
    return [codes.get(style.get("numFmtId")) or "" for style in used]


def _lines(page: ET.Element, formats: list[str]) -> Iterator[str]:
    frozen = page.find(f".//{_MAIN}pane[@state='frozen']")
    if frozen is not None:
        yield f"frozen rows: {frozen.get('ySplit')}"
    for row in page.iter(f"{_MAIN}row"):
        yield "  ".join(f"{cell.get('r')} {_cell(cell, formats)}" for cell in row)


def _cell(cell: ET.Element, formats: list[str]) -> str:
    text = "".join(cell.itertext())
    if cell.get("t") == "inlineStr":
        return repr(text)
    if cell.get("t") == "b":
        return "true" if text == "1" else "false"
    kind = formats[int(cell.get("s", "0"))]
    return f"{text} [{kind}]" if kind else text
