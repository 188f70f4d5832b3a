"""Cut blocks of bytes into physical lines: LF, CRLF and CR all end a line, mixed too.

Line numbers in reports are those of an editor, so nothing here looks at quotes. Memory stays flat:
of a line over the limit only as much is kept as shows that it is too long.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.findings import Finding, make_finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
