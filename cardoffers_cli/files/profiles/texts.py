"""From the bytes of a file to its lines as UTF-8, in the encoding and frame a profile says.

What comes before the rows and the header are left out here, the trailer is taken off, and lines
keep their numbers.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.files.lines import in_parts, is_blank, whole_lines, with_lf
from cardoffers_cli.files.sources import HEAD_BYTES, unusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.domain.profiles import Profile
    from cardoffers_cli.files.sources import Source

WIDE = frozenset({"utf-16", "utf-16-le", "utf-16-be"})
"""Encodings in which a line end is more than one byte."""

_UTF_8 = "utf-8"
_BOM = "\ufeff"


@dataclass(frozen=True, kw_only=True)
class RowLines:
    """Whole lines of rows, LF-ended, of which the first has the number `first_line`."""

    text: bytes
    first_line: int


class Texts:
    """The lines of a file as a profile frames them; `trailer` is known when they are read."""

    def __init__(self, source: Source, profile: Profile) -> None:
        self._source = source
        self._profile = profile
        self.trailer: str | None = None
        self.trailer_line = 0

    def head(self) -> list[str]:
        """Return the first lines, as many as are whole in the head of the file."""
        encoding = self._profile.encoding
        if encoding in WIDE:
            head = b""
            for block in self._source.blocks():
                head += block
                if len(head) >= HEAD_BYTES:
                    break
        else:
            head = self._source.head()
        text = codecs.getincrementaldecoder(encoding)("replace").decode(head).lstrip(_BOM)
        lines = with_lf(text.encode()).decode().split("\n")
        return lines if len(head) < HEAD_BYTES else lines[:-1]

    def __iter__(self) -> Iterator[RowLines]:
        """Yield the rows; raise `FileUnusable` where the trailer is not the last line."""
        line, self.trailer = 1, None
        decoded = transcoded(self._source.blocks(), self._profile.encoding)
        for block in whole_lines(decoded):
            for text in in_parts(with_lf(block)):
                count = text.count(b"\n")
                if self.trailer is not None:
                    self._refuse_more(text)
                else:
                    yield self._rows(text, line)
                line += count

    def _rows(self, text: bytes, line: int) -> RowLines:
        profile = self._profile
        while line <= profile.skip_lines or line == profile.header:
            _, end, text = text.partition(b"\n")
            if not end:
                return RowLines(text=b"", first_line=line)
            line += 1
        if profile.header > line and (place := _start_of(text, profile.header - line)) is not None:
            _, _, rest = text[place:].partition(b"\n")
            text = text[:place] + b"\n" + rest
        return RowLines(text=self._without_trailer(text, line), first_line=line)

    def _without_trailer(self, text: bytes, line: int) -> bytes:
        if self._profile.trailer is None:
            return text
        prefix = self._profile.trailer.starts_with.encode()
        start = 0 if text.startswith(prefix) else text.find(b"\n" + prefix) + 1
        if not start and not text.startswith(prefix):
            return text
        trailer, _, rest = text[start:].partition(b"\n")
        self.trailer = trailer.decode(errors="replace")
        self.trailer_line = line + text.count(b"\n", 0, start)
        self._refuse_more(rest)
        return text[:start]

    def _refuse_more(self, text: bytes) -> None:
        if not is_blank(text.strip(b"\n")):
            raise unusable(
                "trailer_mismatch",
                f"The trailer is on line {self.trailer_line}, and lines follow it.",
                hint="Check starts_with of the trailer in the profile, and that the file is one.",
                line=self.trailer_line,
            )


def transcoded(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Turn blocks of an encoding into UTF-8; raise `FileUnusable` where they are not in it."""
    if encoding == _UTF_8:
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    is_first = True
    try:
        for block in blocks:
            text = decoder.decode(block)
            yield (text.removeprefix(_BOM) if is_first else text).encode()
            is_first = False
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise unusable(
            "file_encoding",
            f"The file is not {encoding}: {error.reason}.",
            hint="Name its encoding in the profile, such as cp1252, latin-1 or utf-8.",
        ) from None


def _start_of(text: bytes, index: int) -> int | None:
    """Return where the line of an index begins, if it is in the text."""
    place = 0
    for _ in range(index):
        place = text.find(b"\n", place) + 1
        if not place:
            return None
    return place if place < len(text) else None
