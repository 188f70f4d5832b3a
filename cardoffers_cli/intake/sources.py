"""Open an input: a path, a gzip file or `-` for standard input, as blocks of plain bytes.

Everything about the bytes before they mean anything: decompression with its checks, size and
SHA-256 of the decompressed bytes, and the refusal of what is not text. An input that cannot be read
twice (a pipe) is first copied to an unnamed temporary file.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar, cast

from cardoffers_cli.kernel.disk.inputs import copy_of, open_input
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")

BLOCK_BYTES = 8 << 20
HEAD_BYTES = 256 << 10
LINE_BYTES = 4 << 10
BOM = b"\xef\xbb\xbf"

RATIO_FROM_BYTES = 64 << 20
"""Up to here a file may unpack to as much as it likes, beside what it has stored."""

GZIP = b"\x1f\x8b"
_BINARY = {
    b"PK\x03\x04": "a zip archive or a workbook (.xlsx)",
    b"PK\x05\x06": "an empty zip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"BZh": "a bzip2 archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (.xls)",
    b"%PDF-": "a PDF document",
    b"PAR1": "a Parquet file",
    GZIP: "compressed twice",
}
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""How text in UTF-16 begins."""

WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How workbooks begin, new ones and old ones."""

_WIDE = (*WIDE_MARKS, b"\x00\x00\xfe\xff")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one file may come to; each check raises `FileUnusable`.

    `ratio` is of the decompressed bytes to those stored, once there are over `RATIO_FROM_BYTES`.
    `check_time` is called again and again while the file is read.
    """

    stored_bytes: int
    unpacked_bytes: int
    ratio: int
    check_time: Callable[[], None]

    def check_stored(self, size: int) -> None:
        """Refuse a file for its size as stored."""
        if size > self.stored_bytes:
            raise unusable(
                "file_too_large",
                f"The file has {size:,} bytes; {self.stored_bytes:,} are the most.",
            )

    def check_unpacked(self, size: int, stored: int) -> None:
        """Refuse a file for what it has unpacked to by now."""
        if size > self.unpacked_bytes:
            raise unusable(
                "file_unpacks_too_large",
                f"The file unpacks to over {self.unpacked_bytes:,} bytes, which is the most.",
            )
        if size > max(RATIO_FROM_BYTES, self.ratio * stored):
            raise unusable(
                "file_unpacks_too_large",
                f"The {stored:,} bytes of the file unpack to over {self.ratio} times as many.",
            )


class _Timed:
    """A file whose every reading is preceded by a check of the time."""

    def __init__(self, file: BinaryIO, check_time: Callable[[], None]) -> None:
        self._file = file
        self._check_time = check_time

    def read(self, size: int = -1) -> bytes:
        self._check_time()
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@dataclass(frozen=True, kw_only=True)
class SheetText:
    """A sheet of a workbook as text (`spreadsheets.py`): its name, and those of the others shown.

    `sha256` is the digest of the workbook.
    """

    text: BinaryIO
    name: str
    others: Sequence[str]
    sha256: str


class Source:
    """An open input that can be read from its beginning more than once.

    `sha256` and `size_bytes` are those of the decompressed bytes, known once `blocks()` has been
    read to its end. `size_hint` is the size as stored, and `bytes_read` how far into it reading is.
    Of a workbook the text of its `sheet` is read; digest and size are those of the workbook.
    """

    def __init__(self, name: str, file: BinaryIO, limits: Limits | None = None) -> None:
        self.name = name
        self.size_hint = os.fstat(file.fileno()).st_size
        self.bytes_read = 0
        self.sha256 = ""
        self.size_bytes = 0
        self.limits = limits
        self.stored = cast("BinaryIO", _Timed(file, limits.check_time)) if limits else file
        self.start = file.read(4)
        self._compressed = self.start.startswith(GZIP)
        self._sheet: SheetText | None = None

    @property
    def sheet(self) -> SheetText | None:
        """The sheet that is read, where this is a workbook."""
        return self._sheet

    @sheet.setter
    def sheet(self, sheet: SheetText) -> None:
        self._sheet, self.size_hint = sheet, os.fstat(sheet.text.fileno()).st_size

    @property
    def _file(self) -> BinaryIO:
        return self._sheet.text if self._sheet else self.stored

    def head(self) -> bytes:
        """Return the first bytes without a byte order mark; refuse what is not text."""
        head = self.first_bytes()
        refuse_binary(head)
        return head.removeprefix(BOM)

    def first_bytes(self) -> bytes:
        """Return the first bytes, whatever they are."""
        with _damage_named(), self._open() as stream:
            return stream.read(HEAD_BYTES)

    def begins_with(self, taken_bytes: int, taken_sha256: str) -> bool:
        """Whether its first bytes, so many, have this digest."""
        with self._open() as stream:
            return sha256_of(stream, taken_bytes) == taken_sha256

    def blocks(self) -> Iterator[bytes]:
        """Read all of it in blocks, the byte order mark left out; one block is read ahead.

        Where that is cheap a block ends with a line, so that nobody needs to put it together.

        Raises `FileUnusable` (`file_corrupt`) where a compressed file is damaged: only a reading
        that came to its end is to be trusted.
        """
        return ahead(self._blocks())

    def _blocks(self) -> Iterator[bytes]:
        digest, size = hashlib.sha256(), 0
        with _damage_named(), self._open() as stream:
            while block := stream.read(BLOCK_BYTES + self._to_line_end()):
                digest.update(block)
                self.bytes_read = self._file.tell()
                if self.limits and self._compressed:
                    self.limits.check_unpacked(size + len(block), self.size_hint)
                yield block.removeprefix(BOM) if size == 0 else block
                size += len(block)
        self.sha256, self.size_bytes = digest.hexdigest(), size
        if self._sheet:
            self.sha256 = self._sheet.sha256
            self.size_bytes = os.fstat(self.stored.fileno()).st_size

    def _to_line_end(self) -> int:
        """Return how many bytes behind the next block the line ends; 0 where none is found."""
        if self._compressed:
            return 0
        begin = self._file.tell()
        self._file.seek(begin + BLOCK_BYTES)
        end = self._file.read(LINE_BYTES).find(b"\n") + 1
        self._file.seek(begin)
        return end

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        self._file.seek(0)
        if self._compressed:
            with gzip.GzipFile(fileobj=self._file, mode="rb") as stream:
                yield cast("BinaryIO", stream)
        else:
            yield self._file

    def close(self) -> None:
        """Close the input."""
        self._file.close()
        self.stored.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def sha256_of(file: BinaryIO, size_bytes: int = sys.maxsize) -> str:
    """Return the SHA-256 of a file, or of its first bytes, in hex."""
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(min(BLOCK_BYTES, size_bytes)):
        digest.update(block)
        size_bytes -= len(block)
    return digest.hexdigest()


def open_source(source: str) -> Source:
    """Open a path, or standard input for `-`; raise `FileUnusable` if that is not possible."""
    if source == "-":
        return Source("-", copy_of(sys.stdin.buffer))
    try:
        file = open_input(source)
    except FileNotFoundError:
        raise unusable("file_missing", f"There is no file {source}.") from None
    except IsADirectoryError:
        hint = "Name the files in it."
        raise unusable("file_unreadable", f"{source} is a folder.", hint=hint) from None
    except OSError as error:
        raise unusable("file_unreadable", f"{source} cannot be opened: {error.strerror}.") from None
    return Source(source, file)


@contextmanager
def aside(source: str) -> Iterator[str | Source]:
    """Copy a pipe aside for a `with` block; any other source is left as it was named.

    To be done before the store is opened: who writes into a pipe may take hours, and others wait.
    """
    if source == "-" or Path(source).is_fifo():
        with open_source(source) as opened:
            yield opened
    else:
        yield source


@contextmanager
def _damage_named() -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise unusable("file_corrupt", "The compressed file is damaged or cut off.") from None


def refuse_binary(head: bytes) -> None:
    """Refuse a file that begins as no text does."""
    start, pairs = head[:64], len(head[:64]) // 2
    # ASCII text stored as UTF-16 without a mark has NUL in every second byte
    halves = (start[0 : 2 * pairs : 2], start[1 : 2 * pairs : 2])
    if head.startswith(_WIDE) or (pairs > 1 and b"\0" * pairs in halves):
        raise unusable("file_encoding", "The file is UTF-16 or UTF-32, not UTF-8.")
    for magic, what in _BINARY.items():
        if head.startswith(magic):
            raise unusable("file_binary", f"The file is not text but {what}.")


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Pass the items on while a second thread already makes the next one.

    Who reads no further does not wait for that one: what is left unread may be thrown away at any
    moment of any thread, even one that holds what the second needs to come to its end.
    """
    thread = ThreadPoolExecutor(max_workers=1)
    try:
        pending = thread.submit(next, items, None)
        while (item := pending.result()) is not None:
            pending = thread.submit(next, items, None)
            yield item
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
