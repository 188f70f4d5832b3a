"""Cut blocks of bytes into physical lines, and a line into its fields (rules.md#lines).

LF, CRLF and CR all end a line, mixed too. Line numbers in reports are those of an editor, so
nothing here looks at quotes when it cuts lines. Memory stays flat: of a line over the limit only as
much is kept as shows that it is too long.

A line is a record: a quote never reaches over it. `paging.py` reads pages of such lines into
columns, `plain/` reads them a row at a time; what a line says is decided here for both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.findings import Finding, make_finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from cardoffers_cli.kernel.words.findings import Level


MAX_LINE_BYTES = 64 << 10
MANY_LINES = 200_000
"""Of a block with more of them the lines are so short that they take up many times its bytes."""
_FEW_BYTES = 256 << 10
_MOST_KEPT = MAX_LINE_BYTES + 2
_BLANK_LINES = re.compile(rb"(?:[ \t]*\n)*")


def whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut blocks anew so that each holds whole lines; the last may lack its line end.

    A line over `MAX_LINE_BYTES` may come without its middle, but never shorter than the limit.
    """
    lines = LineSplitter()
    for block in blocks:
        if text := lines.add(block):
            yield text
    if lines.rest:
        yield lines.rest


class LineSplitter:
    """What `whole_lines` does, for whoever is handed the blocks; `rest` is left at their end."""

    def __init__(self) -> None:
        self.rest = b""

    def add(self, block: bytes) -> bytes:
        """Take a block; return the lines that are whole with it."""
        end = _last_end(block)
        if end == len(block) and not self.rest:
            return block
        if end:
            lines = b"".join((self.rest, memoryview(block)[:end]))
            self.rest = block[end:]
            return lines
        text = self.rest + block
        end = _last_end(text)
        tail = text[end:]
        self.rest = tail[: MAX_LINE_BYTES + 1] + tail[-1:] if len(tail) > _MOST_KEPT else tail
        return text[:end]


def in_parts(text: bytes, lines: int | None = None) -> Iterator[bytes]:
    """Cut LF-ended text of very many lines into parts of fewer; any other comes as it is.

    How many `lines` it has is counted where that is not known.
    """
    if (text.count(b"\n") if lines is None else lines) <= MANY_LINES:
        yield text
        return
    at = 0
    while at < len(text):
        end = text.rfind(b"\n", at, at + _FEW_BYTES) + 1 or text.find(b"\n", at) + 1 or len(text)
        yield text[at:end]
        at = end


def _last_end(text: bytes) -> int:
    """Return where the last complete line stops; a CR at the very end may still get its LF."""
    return max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1)) + 1


def with_lf(text: bytes) -> bytes:
    """Turn every line end into one LF."""
    if b"\r" not in text:
        return text
    if text.count(b"\r") == text.count(b"\r\n"):
        return text.translate(None, b"\r")
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def split_lines(text: bytes) -> list[bytes]:
    """Split text whose lines end in LF; the last line may lack it."""
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def is_blank(line: bytes) -> bool:
    """Say whether a line holds only spaces and tabs; a line that is too long is not blank."""
    return len(line) <= MAX_LINE_BYTES and not line.strip(b" \t\r\n")


def has_long_line(text: bytes) -> bool:
    """Say whether a line of LF-ended text is over the limit; looks at a few bytes of it only."""
    start = 0
    while len(text) - start > MAX_LINE_BYTES:
        end = text.rfind(b"\n", start, start + MAX_LINE_BYTES + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def first_filled(text: bytes) -> tuple[bytes, bytes, int]:
    """Take the first line that is not blank: the line, what follows it, how many were skipped."""
    match = _BLANK_LINES.match(text)
    start = match.end() if match else 0
    line, _, records = text[start:].partition(b"\n")
    return line, records, text.count(b"\n", 0, start) + (1 if line and is_blank(line) else 0)


def is_cut_off(text: bytes) -> bool:
    """Say whether a text ends within a line that is not blank."""
    return not is_blank(text[text.rfind(b"\n") + 1 :])


def unterminated(line: int, level: Level) -> Finding:
    """Return the finding of a last line that lacks its end."""
    message = "the last line has no line end: it may have been cut off"
    return make_finding("last_line_unterminated", message, line=line, level=level)


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
    for mark in _MARKS:
        if mark in text:
            starts = (b"\n" + mark, delimiter.encode() + mark, b'"' + mark)
            if text.startswith(mark) or any(map(text.__contains__, starts)):
                return None  # a field may begin with it
    return len(ends)


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
