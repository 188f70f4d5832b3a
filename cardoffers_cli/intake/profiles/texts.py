"""From the bytes of a file to its lines as UTF-8, in the encoding and frame a profile says.

What comes before the rows and the header are left out here, the trailer is taken off, and lines
keep their numbers.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.intake.lines import (
    has_long_line,
    in_parts,
    is_blank,
    split_lines,
    whole_lines,
    with_lf,
)
from cardoffers_cli.intake.sources import HEAD_BYTES
from cardoffers_cli.kernel.words.findings import make_finding, unusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.sources import Source
    from cardoffers_cli.kernel.words.errors import FileUnusable
    from cardoffers_cli.kernel.words.findings import Finding

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
        self._frame = Frame(profile)

    @property
    def trailer(self) -> TrailerLine | None:
        """The trailer, once it was read."""
        return self._frame.trailer

    def head(self) -> list[str]:
        """Return the first lines, as many as are whole in the head of the file."""
        is_wide = self._profile.encoding in WIDE
        head = self._source.first_bytes() if is_wide else self._source.head()
        return first_lines(head, self._profile.encoding)

    def __iter__(self) -> Iterator[RowLines]:
        """Yield the rows; raise `FileUnusable` where the trailer is not the last line."""
        self._frame = Frame(self._profile)
        decoded = transcoded(self._source.blocks(), self._profile.encoding)
        for block in whole_lines(decoded):
            yield from self._frame.rows(block)


def first_lines(head: bytes, encoding: str) -> list[str]:
    """Return the lines that are whole in the first bytes of a file."""
    try:
        text = codecs.getincrementaldecoder(encoding)("replace").decode(head).lstrip(_BOM)
    except UnicodeError as error:
        raise _not_in(encoding, error) from None
    lines = with_lf(text.encode()).decode().split("\n")
    return lines if len(head) < HEAD_BYTES else lines[:-1]


@dataclass(frozen=True, kw_only=True)
class TrailerLine:
    """The last line of a file, which says what the others come to."""

    text: str
    line: int


class Frame:
    """What of the lines of a file are rows, for whoever is handed whole lines in their order."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._line = 1
        self.trailer: TrailerLine | None = None

    def rows(self, lines: bytes) -> Iterator[RowLines]:
        """Yield the rows among whole lines; raise `FileUnusable` for one behind the trailer."""
        for text in in_parts(with_lf(lines)):
            line = self._line
            self._line += text.count(b"\n")
            if self.trailer is None:
                yield self._rows(text, line)
            else:
                self._refuse_more(self.trailer, text)

    def _rows(self, text: bytes, line: int) -> RowLines:
        profile = self._profile
        while line <= profile.skip_lines or line == profile.header:
            _, end, text = text.partition(b"\n")
            if not end:
                return RowLines(text=b"", first_line=line)
            line += 1
        if profile.header > line and (place := _start_of(text, profile.header - line)) is not None:
            _, _, tail = text[place:].partition(b"\n")
            text = text[:place] + b"\n" + tail
        return RowLines(text=self._without_trailer(text, line), first_line=line)

    def _without_trailer(self, text: bytes, line: int) -> bytes:
        if self._profile.trailer is None:
            return text
        prefix = self._profile.trailer.starts_with.encode()
        start = 0 if text.startswith(prefix) else text.find(b"\n" + prefix) + 1
        if not start and not text.startswith(prefix):
            return text
        trailer, _, tail = text[start:].partition(b"\n")
        self.trailer = TrailerLine(
            text=trailer.decode(errors="replace"), line=line + text.count(b"\n", 0, start)
        )
        self._refuse_more(self.trailer, tail)
        return text[:start]

    def _refuse_more(self, trailer: TrailerLine, text: bytes) -> None:
        if not is_blank(text.strip(b"\n")):
            raise unusable(
                "trailer_mismatch",
                f"The trailer is on line {trailer.line}, and lines follow it.",
                hint="Check starts_with of the trailer in the profile, and that the file is one.",
                line=trailer.line,
            )


def transcoded(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Turn blocks of an encoding into UTF-8; raise `FileUnusable` where they are not in it."""
    transcoder = Transcoder(encoding)
    for block in blocks:
        yield transcoder.add(block)
    yield transcoder.end()


class Transcoder:
    """What `transcoded` does, for whoever is handed the blocks; `end` comes behind the last."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding != _UTF_8 else None
        self._is_first = True

    def add(self, block: bytes) -> bytes:
        """Return a block in UTF-8."""
        text = self._decoded(block)
        self._is_first = False
        return text

    def end(self) -> bytes:
        """Return what is left."""
        return self._decoded(b"", final=True)

    def _decoded(self, block: bytes, *, final: bool = False) -> bytes:
        if self._decoder is None:
            return block
        try:
            text = self._decoder.decode(block, final=final)
        except UnicodeError as error:
            raise _not_in(self._encoding, error) from None
        return (text.removeprefix(_BOM) if self._is_first else text).encode()


def _not_in(encoding: str, error: UnicodeError) -> FileUnusable:
    """Return the error of a file in another encoding; UTF-16 without its mark has no reason."""
    reason = error.reason if isinstance(error, UnicodeDecodeError) else error
    return unusable(
        "file_encoding",
        f"The file is not {encoding}: {reason}.",
        hint="Name its encoding in the profile, such as cp1252, latin-1 or utf-8.",
    )


def decoded_lines(text: bytes, first_line: int) -> tuple[list[str], list[Finding]]:
    """Decode line by line: a line that is not UTF-8, or too long, is empty and has a finding."""
    lines, findings = [], []
    for number, line in enumerate(split_lines(text), first_line):
        try:
            lines.append(line.decode() if not has_long_line(line) else "")
            if has_long_line(line):
                message = "the line is longer than 64 KiB"
                findings.append(make_finding("line_too_long", message, line=number))
        except UnicodeDecodeError as error:
            lines.append("")
            message = f"byte {error.start} of the line is not UTF-8"
            findings.append(make_finding("encoding", message, line=number))
    return lines, findings


def workbook_refused() -> FileUnusable:
    """Return the error of a workbook where the profile describes text."""
    return unusable(
        "file_binary",
        "The file is a workbook or an archive, and the profile describes text.",
        hint='Write form = {sheet = "…"} in the profile, with the name of the sheet.',
    )


def _start_of(text: bytes, index: int) -> int | None:
    """Return where the line of an index begins, if it is in the text."""
    place = 0
    for _ in range(index):
        place = text.find(b"\n", place) + 1
        if not place:
            return None
    return place if place < len(text) else None
