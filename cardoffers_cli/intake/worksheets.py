"""Read the sheets of a workbook (.xlsx, .xlsm) row by row, as the texts that its cells stand for.

A workbook is a zip of XML, which the standard library reads by streams. fastexcel, by which polars
reads workbooks, is eight times as quick, but ends the process where a sheet has one cell far away,
counts rows from the first that is filled, rounds numbers to what is shown, and gives nothing for an
error or for a formula whose result is not kept.

Nothing in a workbook is run or followed: of formulas the results that are kept are read, macros and
other files are left alone. Shared texts lie in a temporary file, a row is forgotten when it is
handed on, and what unpacks to far more than is stored is refused.
"""

from __future__ import annotations

import posixpath
import struct
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from xml.parsers import expat

from cardoffers_cli.intake import worksheet_cells
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cardoffers_cli.intake.sources import Limits
    from cardoffers_cli.intake.worksheet_cells import CellForm
    from cardoffers_cli.kernel.words.errors import FileUnusable

_BLOCK = 64 << 10
_MOST_MARKUP = 1 << 20
_MOST_LISTED = 4 << 20
_MOST_SMALL = 16 << 20
_SHOWN = {None, "visible"}
_END_OF_ZIP = b"PK\x05\x06"
_END_BYTES = (64 << 10) + 22


def open_zip(file: BinaryIO, size: int) -> zipfile.ZipFile | None:
    """Open a zip; None where it is damaged, or lists more parts than any workbook has."""
    file.seek(max(0, size - _END_BYTES))
    tail = file.read(_END_BYTES)
    end = tail.rfind(_END_OF_ZIP)
    listed = int.from_bytes(tail[end + 12 : end + 16], "little")
    with suppress(zipfile.BadZipFile, struct.error, EOFError, ValueError, NotImplementedError):
        if end >= 0 and listed <= min(_MOST_LISTED, end + max(0, size - _END_BYTES)):
            archive = zipfile.ZipFile(file)
            if all(0 <= entry.header_offset < size for entry in archive.infolist()):
                return archive
    return None


@dataclass(frozen=True, kw_only=True)
class SheetPart:
    """A sheet of a workbook: its name, whether it is shown, and the part of the zip that it is."""

    name: str
    is_shown: bool
    part: str


class Workbook:
    """An open workbook; `sheets` in the order of their tabs. `size` is that of its zip.

    Raises `FileUnusable` for what is no workbook, or a damaged one, at the latest where it is read.
    """

    def __init__(self, archive: zipfile.ZipFile, limits: Limits, size: int) -> None:
        self._limits = limits
        self._size = size
        self._unpacked = 0
        self._zip = archive
        self.sheets: list[SheetPart] = []
        self._is_1904 = False
        self._targets: dict[str, tuple[str, str]] = {}
        self._forms: list[CellForm | None] = []
        self._texts: worksheet_cells.SharedTexts | None = None
        with _damage_named():
            self._read_book()

    def rows(self, sheet: SheetPart, *, decimal: str = ".") -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are there with their number: a text for each cell, up to the last.

        Numbers have the `decimal` mark. The texts of a row over `MAX_LINE_BYTES` end there.
        """
        with _damage_named():
            if self._texts is None:
                self._texts = self._read_texts()
            number = partial(worksheet_cells.number_text, is_1904=self._is_1904, decimal=decimal)
            cells = worksheet_cells.CellReader(self._texts, self._forms, number)
            for _ in self._parsed(sheet.part, cells.start, cells.end, cells.text):
                yield from cells.rows
                cells.rows.clear()

    def close(self) -> None:
        """Close what is kept aside; the file stays open."""
        if self._texts is not None:
            self._texts.close()
        self._zip.close()

    def _read_book(self) -> None:
        related = (part for kind, part in self._relations("").values() if kind == "officeDocument")
        book, names = next(related, ""), self._zip.namelist()
        if book not in names or book.endswith(".bin"):
            raise _no_workbook(names)
        listed: list[tuple[str, str, bool]] = []

        def start(name: str, attributes: Mapping[str, str]) -> None:
            if name == "sheet":
                part = next((attributes[key] for key in attributes if key.endswith(":id")), "")
                listed.append((attributes.get("name", ""), part, attributes.get("state") in _SHOWN))
            elif name == "workbookPr":
                self._is_1904 = attributes.get("date1904") in {"1", "true"}

        self._read(book, start)
        self._targets = self._relations(book)
        for name, identity, is_shown in listed:
            kind, part = self._targets.get(identity, ("", ""))
            if kind == "worksheet" and part in names:
                self.sheets.append(SheetPart(name=name, is_shown=is_shown, part=part))
        named = (part for kind, part in self._targets.values() if kind == "styles")
        styles = next(named, posixpath.join(posixpath.dirname(book), "styles.xml"))
        if styles in names:
            self._read_styles(styles)

    def _relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return what a part names in the workbook, by id: the kind, and the part it is."""
        folder, name = posixpath.split(part)
        by_id: dict[str, tuple[str, str]] = {}

        def start(name: str, attributes: Mapping[str, str]) -> None:
            if name == "Relationship" and attributes.get("TargetMode") != "External":
                target = posixpath.join("/", folder, attributes.get("Target", ""))
                kind = attributes.get("Type", "").rpartition("/")[2]
                by_id[attributes.get("Id", "")] = (kind, posixpath.normpath(target).lstrip("/"))

        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations in self._zip.namelist():
            self._read(relations, start)
        return by_id

    def _read_styles(self, part: str) -> None:
        """Read how the numbers of each style are written."""
        formats: dict[str, str] = {}
        group = ""

        def start(name: str, attributes: Mapping[str, str]) -> None:
            nonlocal group
            if name == "numFmt":
                formats[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
            elif name in {"cellXfs", "cellStyleXfs"}:
                group = name
            elif name == "xf" and group == "cellXfs":
                number = attributes.get("numFmtId", "0")
                self._forms.append(worksheet_cells.form_of(number, formats.get(number)))

        self._read(part, start)

    def _read_texts(self) -> worksheet_cells.SharedTexts:
        texts = worksheet_cells.SharedTexts()
        part = next((path for kind, path in self._targets.values() if kind == "sharedStrings"), "")
        if part in self._zip.namelist():
            try:
                for _ in self._parsed(part, texts.start, texts.end, texts.text):
                    pass
            except BaseException:
                texts.close()
                raise
        return texts

    def _read(self, part: str, start: Callable[[str, Mapping[str, str]], None]) -> None:
        """Read a part that says how others are to be read, and is small."""
        if self._zip.getinfo(part).file_size > _MOST_SMALL:
            raise worksheet_cells.damaged("it has too much beside its sheets")
        for _ in self._parsed(part, start, _ignored, _ignored):
            pass

    def _parsed(
        self,
        part: str,
        start: Callable[[str, Mapping[str, str]], None],
        end: Callable[[str], None],
        text: Callable[[str], None],
    ) -> Iterator[None]:
        """Parse a part block by block; elements are told without their prefix."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda name, attrs: start(name[name.find(":") + 1 :], attrs)
        parser.EndElementHandler = lambda name: end(name[name.find(":") + 1 :])
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = _refuse_entities
        fed = 0
        with self._zip.open(part) as stream:
            while block := stream.read(_BLOCK):
                fed += len(block)
                self._count(len(block))
                parser.Parse(block, False)
                if fed - parser.CurrentByteIndex > _MOST_MARKUP:
                    raise worksheet_cells.damaged("it has markup without an end")
                yield
            parser.Parse(b"", True)
        yield

    def _count(self, size: int) -> None:
        self._unpacked += size
        self._limits.check_time()
        self._limits.check_unpacked(self._unpacked, self._size)


def _no_workbook(names: list[str]) -> FileUnusable:
    """Say what a zip seems to be that is no workbook which can be read."""
    if any(name.endswith("workbook.bin") for name in names):
        what, hint = "a binary workbook (.xlsb)", "Save it as .xlsx or .csv."
    elif "mimetype" in names and "content.xml" in names:
        what, hint = "an OpenDocument spreadsheet (.ods)", "Save it as .xlsx or .csv."
    else:
        what = "a zip archive, and no workbook (.xlsx)"
        hint = "Unpack it, and name the file in it."
    return unusable("file_binary", f"The file is not text but {what}.", hint=hint)


def _ignored(_: str) -> None:
    pass


def _refuse_entities(*_: object) -> None:
    raise worksheet_cells.damaged("its XML declares a document type")


@contextmanager
def _damage_named() -> Iterator[None]:
    try:
        yield
    except (expat.ExpatError, LookupError):  # the latter of an encoding that nobody knows
        raise worksheet_cells.damaged("its XML does not parse") from None
    except RuntimeError:  # the password of a part
        raise unusable(
            "file_binary",
            "The workbook is protected by a password.",
            hint="Save it without a password.",
        ) from None
    except (
        *(zipfile.BadZipFile, zlib.error, struct.error),
        *(EOFError, UnicodeError, NotImplementedError),
    ):
        raise worksheet_cells.damaged("a part of its zip cannot be read") from None
