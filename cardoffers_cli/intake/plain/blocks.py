"""The bytes of a file as blocks of plain text, for whoever is handed them piece by piece.

What `intake/sources.py` does where it may read: gzip is unpacked and checked, the digest is of the
unpacked bytes, a byte order mark is left out, and blocks end where they end there, as what is
counted stretch by stretch must be counted in the same stretches.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.sources import (
    BLOCK_BYTES,
    BOM,
    GZIP,
    HEAD_BYTES,
    LINE_BYTES,
    refuse_binary,
)
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.kernel.words.errors import FileUnusable


class FileBlocks:
    """The blocks of one file; `head` is known when the first of them comes.

    What is not text is refused, or else what `refuse` refuses, which is handed the head and whether
    the file is compressed.
    `size_bytes` and `sha256` are of the unpacked bytes, once the end was reached.
    """

    def __init__(self, refuse: Callable[[bytes, bool], None] | None = None) -> None:
        self.head = b""
        self.size_bytes = 0
        self._refuse = refuse
        self._digest = hashlib.sha256()
        self._held = bytearray()
        self._is_headed = False
        self._unpacked: Unpacked | None = None
        self._stored: bytes | None = b""

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of the unpacked bytes, in lower-case hex."""
        return self._digest.hexdigest()

    def add(self, stored: bytes) -> Iterator[bytes]:
        """Take the next bytes as they are stored; yield the blocks that are whole with them.

        Raises `FileUnusable` for what is not text, and where compressed bytes are damaged.
        """
        if self._stored is not None:
            stored = self._stored + stored
            if len(stored) < len(GZIP):
                self._stored = stored
                return
            self._stored = None
            self._unpacked = Unpacked() if stored.startswith(GZIP) else None
        try:
            for piece in self._unpacked.add(stored) if self._unpacked else (stored,):
                self._held += piece
                if not self._is_headed and len(self._held) >= HEAD_BYTES:
                    self._take_head()
                while len(self._held) >= BLOCK_BYTES + (0 if self._unpacked else LINE_BYTES):
                    yield self._block()
        except Damaged:
            raise self._damaged() from None

    def end(self) -> Iterator[bytes]:
        """Yield what is left."""
        if self._stored:
            self._held += self._stored
        if self._unpacked and not self._unpacked.is_whole:
            raise self._damaged()
        self._take_head()
        while self._held:
            yield self._block()

    def _take_head(self) -> None:
        """Look at the first bytes, which must be text."""
        if not self._is_headed:
            self.head = bytes(self._held[:HEAD_BYTES])
            if self._refuse:
                self._refuse(self.head, self._unpacked is not None)
            else:
                refuse_binary(self.head)
            self.head, self._is_headed = self.head.removeprefix(BOM), True

    def _block(self) -> bytes:
        """Take the next block, up to the end of its last line where that is near."""
        more = 0
        if not self._unpacked:
            more = self._held[BLOCK_BYTES : BLOCK_BYTES + LINE_BYTES].find(b"\n") + 1
        block = bytes(self._held[: BLOCK_BYTES + more])
        del self._held[: len(block)]
        self._digest.update(block)
        self.size_bytes += len(block)
        return block.removeprefix(BOM) if self.size_bytes == len(block) else block

    def _damaged(self) -> FileUnusable:
        if not self._is_headed and len(self._held) >= HEAD_BYTES:
            self._take_head()
        return unusable("file_corrupt", "The compressed file is damaged or cut off.")


class Damaged(ValueError):
    """Compressed bytes that are not what they should be."""


class Unpacked:
    """What gzip has packed, one member after the other, as Python's `gzip` reads it."""

    def __init__(self) -> None:
        self._held = b""
        self._member: Any | None = None
        self._crc = self._size = 0
        self._is_first = True

    @property
    def is_whole(self) -> bool:
        """Whether the file may end here."""
        return self._member is None and not self._held and not self._is_first

    def add(self, stored: bytes) -> Iterator[bytes]:
        """Yield what the next stored bytes come to; raise `Damaged`."""
        self._held += stored
        while self._held:
            if self._member is None and not self._begin():
                return
            if self._member is not None:
                if not self._member.eof:
                    yield from self._inflate(self._member)
                if not self._member.eof or not self._ends():
                    return

    def _begin(self) -> bool:
        """Read the header of the next member, behind any zeros; False while it is not whole."""
        if not self._is_first:
            self._held = self._held.lstrip(b"\0")
        end = _header_end(self._held)
        if end is None:
            return False
        self._held = self._held[end:]
        self._member = zlib.decompressobj(-zlib.MAX_WBITS)
        self._crc = self._size = 0
        self._is_first = False
        return True

    def _inflate(self, member: Any) -> Iterator[bytes]:
        data = self._held
        try:
            while not member.eof:
                piece = member.decompress(data, BLOCK_BYTES)
                data = member.unconsumed_tail
                if not piece and not data:
                    break
                self._crc = zlib.crc32(piece, self._crc)
                self._size += len(piece)
                yield piece
        except zlib.error:
            raise Damaged from None
        self._held = member.unused_data if member.eof else b""

    def _ends(self) -> bool:
        """Read what follows a member: its checksum and length; False while it is not whole."""
        if len(self._held) < _TRAILER:
            return False
        crc, size = (int.from_bytes(self._held[at : at + 4], "little") for at in (0, 4))
        if crc != self._crc or size != self._size & 0xFFFFFFFF:
            raise Damaged
        self._held, self._member = self._held[_TRAILER:], None
        return True


_TRAILER = 8
_FIXED, _EXTRA = 10, 2
_DEFLATE = 8
_FHCRC, _FEXTRA, _FNAME, _FCOMMENT = 2, 4, 8, 16


def _header_end(text: bytes) -> int | None:
    """Return where the header of a member ends (RFC 1952), None while it is not all there."""
    if not text[: len(GZIP)] == GZIP[: len(text)]:
        raise Damaged
    if len(text) < _FIXED:
        return None
    if text[2] != _DEFLATE:
        raise Damaged
    flags, end = text[3], _FIXED
    if flags & _FEXTRA:
        if len(text) < end + _EXTRA:
            return None
        end += _EXTRA + int.from_bytes(text[end : end + _EXTRA], "little")
    for flag in (_FNAME, _FCOMMENT):
        if flags & flag:
            zero = text.find(b"\0", end)
            if zero < 0:
                return None
            end = zero + 1
    end += _EXTRA if flags & _FHCRC else 0
    return end if len(text) >= end else None
