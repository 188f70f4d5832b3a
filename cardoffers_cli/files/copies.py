"""Copy the records of a file, byte for byte, to one of two files: valid and rejected."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, BinaryIO

from cardoffers_cli.files.lines import MAX_LINE_BYTES, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


def copy_lines(
    blocks: Iterable[bytes],
    header: int,
    rejected: pl.Series,
    valid_to: BinaryIO | None,
    rejected_to: BinaryIO | None,
) -> None:
    """Copy lines; the one numbered `header` (0 for none) goes to both, blank ones to neither."""
    lines = set(rejected.to_list())
    for number, piece in _pieces(blocks):
        if number != header and number in lines:
            _write(rejected_to, piece)
        else:
            _write(valid_to, piece)
            if number == header:
                _write(rejected_to, piece)


def _pieces(blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number; a long line comes in several pieces."""
    number, held, is_open = 1, b"", False
    for block in blocks:
        *pieces, held = (held + block).splitlines(keepends=True)
        for piece in pieces:
            if is_open or not is_blank(piece):
                yield number, piece
            number, is_open = number + 1, False
        if len(held) > MAX_LINE_BYTES:  # all but the last byte, which may be half a line end
            yield number, held[:-1]
            held, is_open = held[-1:], True
    if held and (is_open or not is_blank(held)):
        yield number, held


def _write(out: BinaryIO | None, piece: bytes) -> None:
    if out is not None:
        out.write(piece)


def copy_items(
    blocks: Iterable[bytes],
    rejected: pl.Series,
    list_key: str,
    valid_to: BinaryIO | None,
    rejected_to: BinaryIO | None,
) -> None:
    """Copy the items of a JSON document by their index; each file is an array again."""
    text = b"".join(blocks).decode()
    indexes = set(rejected.to_list())
    valid: list[str] = []
    others: list[str] = []
    for index, item in enumerate(_items(text, list_key)):
        (others if index in indexes else valid).append(item)
    for out, items in ((valid_to, valid), (rejected_to, others)):
        _write(out, ("[\n" + ",\n".join(items) + "\n]\n").encode())


def _items(text: str, list_key: str) -> Iterator[str]:
    """Cut the items out of a document that is known to parse."""
    at = _start_of_list(text, list_key)
    while text[at := _after_blanks(text, at)] != "]":
        at = _after_blanks(text, at + 1) if text[at] == "," else at
        _, end = _DECODER.raw_decode(text, at)
        yield text[at:end]
        at = end


def _start_of_list(text: str, list_key: str) -> int:
    """Return where the first item, or the end of the list, is to be looked for."""
    at = _after_blanks(text, 0)
    if text[at] == "[":
        return at + 1
    while True:
        key, at = _DECODER.raw_decode(text, _after_blanks(text, at + 1))
        at = _after_blanks(text, _after_blanks(text, at) + 1)
        if key == list_key:
            return at + 1
        _, at = _DECODER.raw_decode(text, at)
        at = _after_blanks(text, at)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
