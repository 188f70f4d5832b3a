"""Copy the records of a file, byte for byte, to one of two files: valid and rejected.

Of rejected records the fields that were refused as card numbers or personal data are masked, and of
records that have no fields, as they could not be split, whatever looks like a card number: the copy
is looked at by those who mend the file, and lies about. All else of them stays as it came
(rules.md#rejected-rows).
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, BinaryIO

from cardoffers_cli.intake.json_chunks import Document
from cardoffers_cli.intake.lines import MAX_LINE_BYTES, is_blank, with_fields_masked
from cardoffers_cli.kernel.words.cards import without_card_numbers
from cardoffers_cli.kernel.words.row_kinds import TOKENS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from cardoffers_cli.intake.lines import Layout

_DECODER = json.JSONDecoder()
_SEPARATORS = re.compile(r"[ \t\r\n,]*")
_BLANKS = re.compile(r"[ \t\r\n]*")
_QUOTE = '"'

MASK = "[masked]"
"""What stands in the place of a field that was refused as a card number or personal data."""

WHOLE = ""
"""The name of a record without fields."""

_OF_NUMBERS = b"0123456789 \t./_-"


def copy_lines(blocks: Iterable[bytes], copy: LineCopy) -> None:
    """Copy the lines of a file."""
    for block in blocks:
        copy.add(block)
    copy.end()


class LineCopy:
    """A copy of lines; the one numbered `header` (0 for none) goes to both, blank ones to neither.

    So many lines `above` all others go to both too, blank ones as well. Blocks are added in their
    order, and `end` comes behind the last.
    """

    def __init__(
        self,
        header: int,
        rejected: Iterable[int],
        valid_to: BinaryIO | None,
        rejected_to: BinaryIO | None,
        *,
        masks: Masks | None = None,
        above: int = 0,
    ) -> None:
        self._header = header
        self._above = above
        self._rejected = _Ascending(rejected)
        self._valid_to = valid_to
        self._rejected_to = rejected_to
        self._masks = masks
        self._number, self._held, self._is_open = 1, b"", False

    def add(self, block: bytes) -> None:
        """Copy the lines that are whole with a block, and of a long one what there is of it."""
        if not block:
            return
        *pieces, self._held = (self._held + block).splitlines(keepends=True)
        for piece in pieces:
            self._copy(piece)
            self._number, self._is_open = self._number + 1, False
        if len(self._held) > MAX_LINE_BYTES:  # all but the last byte, which may be half a line end,
            end = min(len(self._held.rstrip(_OF_NUMBERS)), len(self._held) - 1)  # or of a number
            piece, self._held = self._held[:end], self._held[end:]
            self._copy(piece)
            self._is_open = True

    def end(self) -> None:
        """Copy what is left."""
        self._copy(self._held)

    def _copy(self, piece: bytes) -> None:
        if not self._is_open and self._number > self._above and is_blank(piece):
            return
        number = self._number
        is_for_both = number == self._header or number <= self._above
        if number in self._rejected and not is_for_both:
            _write(self._rejected_to, self._masks.line(number, piece) if self._masks else piece)
        else:
            _write(self._valid_to, piece)
            if is_for_both:
                _write(self._rejected_to, piece)


class Masks:
    """The fields of records that are not copied as they came; records are asked for in order."""

    def __init__(self, fields: Iterable[tuple[int, str]] | None, layout: Layout | None) -> None:
        self._records = groupby(fields or (), key=itemgetter(0))
        self._next: tuple[int, list[str]] | None = None
        self._layout = layout
        self._advance()

    def _advance(self) -> None:
        record = next(self._records, None)
        self._next = record and (record[0], [name for _, name in record[1]])

    def names(self, number: int) -> list[str]:
        """Return the fields of a record that are masked."""
        while self._next and self._next[0] < number:
            self._advance()
        return self._next[1] if self._next and self._next[0] == number else []

    def line(self, number: int, piece: bytes) -> bytes:
        """Return a line with its fields masked, where any are; its line end stays."""
        names = self.names(number)
        if not names:
            return piece
        if WHOLE in names:
            return without_numbers(piece)
        text = piece.decode()
        body = text.rstrip("\r\n")
        if self._layout is None:
            masked = masked_object(body, names)
        else:
            masked = with_fields_masked(body, self._layout, names, MASK)
        return (masked + text[len(body) :]).encode()

    def item(self, index: int, text: str) -> str:
        """Return an item of a JSON array with its fields masked, where any are."""
        names = self.names(index)
        if WHOLE in names:
            return without_numbers(text.encode()).decode()
        return masked_object(text, names) if names else text


def without_numbers(record: bytes) -> bytes:
    """Return a record that has no fields with a mask for all that looks like a card number."""
    text = record.decode("utf-8", "surrogateescape")
    masked = without_card_numbers(text, instead=MASK, joined=True, field=TOKENS[0])
    return masked.encode("utf-8", "surrogateescape")


def masked_object(text: str, names: Collection[str]) -> str:
    """Return a JSON object, which is known to parse, with a mask as some of its values."""
    parts, copied_to = [], 0
    at = _after_blanks(text, text.index("{") + 1)
    while text[at] == _QUOTE:
        name, at = _DECODER.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(text, start)
        if name in names:
            parts += [text[copied_to:start], f'"{MASK}"']
            copied_to = end
        at = _after_separators(text, end)
    return "".join([*parts, text[copied_to:]])


class _Ascending:
    """Numbers in ascending order, asked for in that order too; a set of them would be large."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)
        self._next = next(self._numbers, None)

    def __contains__(self, number: int) -> bool:
        while self._next is not None and self._next < number:
            self._next = next(self._numbers, None)
        return self._next == number


def _write(out: BinaryIO | None, piece: bytes) -> None:
    if out is not None:
        out.write(piece)


def copy_items(
    blocks: Iterable[bytes],
    rejected: Iterable[int],
    list_key: str,
    valid_to: BinaryIO | None,
    rejected_to: BinaryIO | None,
    *,
    masks: Masks | None = None,
) -> None:
    """Copy the items of a JSON document by their index; each file is an array again."""
    indexes = _Ascending(rejected)
    items = (
        item
        for stretch in Document(blocks, list_key).stretches()
        for item in _items(stretch.text.decode())
    )
    valid, others = _Array(valid_to), _Array(rejected_to)
    for index, item in enumerate(items):
        if index in indexes:
            others.add(masks.item(index, item) if masks else item)
        else:
            valid.add(item)
    valid.end()
    others.end()


class _Array:
    """A JSON array that is written item by item."""

    def __init__(self, out: BinaryIO | None) -> None:
        self._out = out
        self._between = b"[\n"

    def add(self, item: str) -> None:
        _write(self._out, self._between + item.encode())
        self._between = b",\n"

    def end(self) -> None:
        _write(self._out, b"[\n\n]\n" if self._between == b"[\n" else b"\n]\n")


def _items(text: str) -> Iterator[str]:
    """Cut out the items of a stretch that is known to parse."""
    at = _after_separators(text, 0)
    while at < len(text):
        _, end = _DECODER.raw_decode(text, at)
        yield text[at:end]
        at = _after_separators(text, end)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _after_separators(text: str, at: int) -> int:
    match = _SEPARATORS.match(text, at)
    return match.end() if match else at
