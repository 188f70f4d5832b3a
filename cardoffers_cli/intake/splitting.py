"""Split one line of a delimited file into its fields, in plain Python (rules.md#lines).

A line is a record: a quote never reaches over it. `delimited.py` reads pages of such lines into
columns, `plain/` reads them a row at a time; what a line says is decided here for both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.intake.lines import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

QUOTE = '"'
_FORMULA = re.compile(r'="[^"]*"')  # text as spreadsheets write it; the rules have a word for it
_MARKS = (b"=", b"#")
_VISIBLE = bytes(byte for byte in range(0x21, 0x7F) if byte not in b"@'")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a delimited file is laid out: its column names, in order, and its delimiter."""

    names: tuple[str, ...]
    delimiter: str = ","


class LineFault(ValueError):
    """A line that cannot be split; carries the code of its finding."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def plain_line_ends(text: bytes, delimiter: str) -> int | None:
    """Return how many line ends there are in text that is plain (`TextPage.is_plain`), else None.

    All but the line ends is taken away in one look, which is quicker than to count them in place.
    """
    if not text.isascii():
        return None
    ends = text.translate(None, _VISIBLE + delimiter.encode())
    if ends.strip(b"\n"):
        return None
    if b"+" in text and (b"E+" in text or b"e+" in text):
        return None
    if b'"' in text and (b'"""' in text or delimiter.encode() not in _VISIBLE):
        return None  # a quoted field may begin with a quote, or hold a delimiter that is not plain
    if any(mark in text and _begins(text, mark, delimiter.encode()) for mark in _MARKS):
        return None
    return len(ends)


def _begins(text: bytes, mark: bytes, delimiter: bytes) -> bool:
    """Whether a field may begin with a mark."""
    starts = (b"\n" + mark, delimiter + mark, b'"' + mark)
    return text.startswith(mark) or any(map(text.__contains__, starts))


def split_fields(line: str, delimiter: str) -> list[str]:
    """Split one line into its fields; raise `LineFault` for quotes out of place.

    A field that starts with a quote ends at the next single quote; two quotes inside stand for one.
    """
    if QUOTE not in line:
        return line.split(delimiter)
    fields = line[1:-1].split(f"{QUOTE}{delimiter}{QUOTE}")
    if line.count(QUOTE) == 2 * len(fields) and line[0] == line[-1] == QUOTE:
        return fields  # every field is quoted and holds no quote
    return [value for value, _, _ in _spans(line, delimiter)]


def with_fields_masked(line: str, layout: Layout, names: Collection[str], mask: str) -> str:
    """Return a line that splits with something else in the place of some fields."""
    fields = zip(layout.names, _spans(line, layout.delimiter), strict=True)
    return layout.delimiter.join(
        mask if name in names else line[start:end] for name, (_, start, end) in fields
    )


def _spans(line: str, delimiter: str) -> Iterator[tuple[str, int, int]]:
    """Yield each field of a line, and from where to where it is written."""
    start = 0
    while True:
        value, end = (
            _quoted(line, start + 1)
            if line.startswith(QUOTE, start)
            else _bare(line, start, delimiter)
        )
        yield value, start, end
        if end == len(line):
            return
        if line[end] != delimiter:
            raise LineFault("stray_quote", "text follows a closing quote")
        start = end + 1


def _quoted(line: str, at: int) -> tuple[str, int]:
    parts = []
    while True:
        end = line.find(QUOTE, at)
        if end < 0:
            raise LineFault("unclosed_quote", "a quoted field is not closed on its line")
        parts.append(line[at:end])
        at = end + 1
        if not line.startswith(QUOTE, at):
            return QUOTE.join(parts), at
        at += 1


def _bare(line: str, at: int, delimiter: str) -> tuple[str, int]:
    end = line.find(delimiter, at)
    end = len(line) if end < 0 else end
    if QUOTE in line[at:end] and not _FORMULA.fullmatch(line, at, end):
        raise LineFault("stray_quote", "a quote stands inside a field that is not quoted")
    return line[at:end], end


def fields_of(line: bytes, layout: Layout) -> list[str]:
    """Return the fields of a record; raise `LineFault` for a line that is none."""
    if len(line) > MAX_LINE_BYTES:
        raise LineFault("line_too_long", "the line is longer than 64 KiB")
    try:
        fields = split_fields(line.decode(), layout.delimiter)
    except UnicodeDecodeError as error:
        raise LineFault("encoding", f"byte {error.start} of the line is not UTF-8") from None
    if len(fields) != len(layout.names):
        raise LineFault(
            "field_count", f"the line has {len(fields)} fields, the header {len(layout.names)}"
        )
    return fields
