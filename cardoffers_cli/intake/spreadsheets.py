"""Sheets of workbooks as delimited text, so that nothing behind this knows of workbooks.

A sheet becomes UTF-8 with commas in a temporary file: line for row, so that the line of a finding
is the row that a spreadsheet shows, an empty row a blank line, and every row as long as the header,
as a sheet does not keep empty cells at the end of a row. Which sheet it is, somebody says by its
name or its number; else it is the first whose first filled row is a header of ours, and, where none
is, the first that seems to hold purchases in another layout. Hidden sheets are read only if they
are named.
"""

from __future__ import annotations

import re
import sys
import tempfile
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO, cast

from cardoffers_cli.intake.lines import QUOTE
from cardoffers_cli.intake.profiles.guessing import guess_layout
from cardoffers_cli.intake.sources import HEAD_BYTES, WORKBOOKS, Limits, SheetText, sha256_of
from cardoffers_cli.intake.worksheets import Workbook, open_zip
from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cardoffers_cli.intake.headers import Names
    from cardoffers_cli.intake.sources import Source
    from cardoffers_cli.intake.worksheets import SheetPart

Row = tuple[int, list[str]]

_ZIP, _OLD = WORKBOOKS
_PASSWORD = "EncryptedPackage".encode("utf-16-le")
_SPECIAL = re.compile(r'[",]')
_FIRST = 100
"""Rows that are looked at to find the header, or how long rows are where there is none."""

_BOUNDS = Limits(
    stored_bytes=sys.maxsize, unpacked_bytes=sys.maxsize, ratio=200, check_time=lambda: None
)
"""What a workbook may unpack to where nobody says so."""


def read_workbook(
    source: Source,
    *,
    named: str | int | None,
    header: int | None,
    decimal: str,
    names: Sequence[Names],
) -> None:
    """Let a workbook be read as one of its sheets, as `read_sheet` of `paging.py` says."""
    if source.start == _OLD:
        # A file of the form before .xlsx is old, or has a password.
        file = source.stored
        file.seek(0)
        if _PASSWORD in file.read(HEAD_BYTES):
            what, hint = "a workbook that is protected by a password", "Save it without a password."
        else:
            what, hint = "an old spreadsheet (.xls)", "Save it as .xlsx or .csv."
        raise unusable("file_binary", f"The file is not text but {what}.", hint=hint)
    archive = open_zip(source.stored, source.size_hint)
    if archive is None:
        return  # no text either, as whoever reads it will say
    with closing(Workbook(archive, source.limits or _BOUNDS, source.size_hint)) as book:
        sheets = [part for part in book.sheets if part.is_shown] or book.sheets
        sheet = _fitting(book, sheets, names) if named is None else _named(book, named)
        source.sheet = SheetText(
            text=_text_of(book.rows(sheet, decimal=decimal), header, source),
            name=sheet.name,
            others=[part.name for part in sheets if part != sheet],
            sha256=sha256_of(source.stored),
        )


def _named(book: Workbook, named: str | int) -> SheetPart:
    """Return the sheet of a name, in capitals or not, or of a number."""
    by_name = {part.name.casefold(): part for part in reversed(book.sheets)}
    sheet = by_name.get(named.casefold()) if isinstance(named, str) else None
    number = int(named) if str(named).isdecimal() else 0
    if sheet is None and 0 < number <= len(book.sheets):
        sheet = book.sheets[number - 1]
    if sheet is None:
        names = ", ".join(visible(part.name) for part in book.sheets)
        raise unusable(
            "sheet_missing",
            f"There is no sheet {visible(str(named))} in the workbook.",
            hint=f"Its sheets are: {names}." if names else "It has no sheets of cells.",
        )
    return sheet


def _fitting(book: Workbook, sheets: Sequence[SheetPart], names: Sequence[Names]) -> SheetPart:
    """Return the first sheet with a header of ours, or else with purchases, or else with rows."""
    best: tuple[int, SheetPart] | None = None
    for sheet in sheets:
        rows = list(islice(_filled(book.rows(sheet)), _FIRST))
        if not rows:
            continue
        share = max((expected.met_in(rows[0][1]) for expected in names), default=0.0)
        if share == 1:
            return sheet
        guess = guess_layout(b"".join(_lines(rows, _widest(rows))), sheet=sheet.name)
        rank = 2 * bool(guess and guess.is_transactions) + bool(share)
        if best is None or rank > best[0]:
            best = rank, sheet
    if best is None:
        raise unusable("file_empty", "The sheets of the workbook are empty.")
    return best[1]


def _text_of(rows: Iterator[Row], header: int | None, source: Source) -> BinaryIO:
    """Write the rows of a sheet as text into a temporary file; refuse what grows beyond measure."""
    limits = source.limits or _BOUNDS
    filled = _filled(rows)
    first = list(islice(filled, _FIRST))
    if header:
        width = next((len(cells) for number, cells in first if number == header), 0)
    else:
        width = len(first[0][1]) if first and header is None else _widest(first)
    size, text = 0, cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - the Source closes it
    try:
        for line in _lines(chain(first, filled), width):
            size += len(line)
            limits.check_unpacked(size, source.size_hint)
            text.write(line)
    except BaseException:
        text.close()
        raise
    text.seek(0)
    return text


def _filled(rows: Iterable[Row]) -> Iterator[Row]:
    return ((number, cells) for number, cells in rows if any(map(str.strip, cells)))


def _widest(rows: Iterable[Row]) -> int:
    return max((len(cells) for _, cells in rows), default=0)


def _lines(rows: Iterable[Row], width: int) -> Iterator[bytes]:
    """Yield each row as a line that has its number, blank ones for those that are not there."""
    line = 1
    for number, cells in rows:
        if number > line:
            yield b"\n" * (number - line)
        quoted = (
            f'"{cell.replace(QUOTE, QUOTE * 2)}"' if _SPECIAL.search(cell) else cell
            for cell in (cells + [""] * (width - len(cells)))
        )
        yield (",".join(quoted) + "\n").encode(errors="replace")
        line = number + 1
