"""Cut a JSON document into stretches of its list, so that no document is held whole.

Only brackets, commas and strings are looked at, as much as tells where an item ends; whether what
is cut out is JSON at all is for `documents` to say. A document that is JSON stretch by stretch, and
in what stands around its list, is JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_HELD_BYTES = 64 << 20
"""What one item, or all that stands around the list, may take up."""

DEEPEST = 210
"""How deep brackets are followed: deeper than `documents.parse` goes, which then says so."""

_BLANKS = b" \t\r\n"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRINGS = re.compile(_STRING, re.DOTALL)
_BRACKET, _BRACKET_OR_COMMA = (
    re.compile(rb'[^"%b]*+(?:%b[^"%b]*+)*+([%b])' % (marks, _STRING, marks, marks), re.DOTALL)
    for marks in (rb"\[\]{}", rb"\[\]{},")
)
_FLAT_ITEMS = re.compile(
    rb'(?:[ \t\r\n]*+\{[^"\[\]{}]*+(?:%b[^"\[\]{}]*+)*+\}[ \t\r\n]*+,)++' % _STRING, re.DOTALL
)
"""Objects that hold no others, each with the comma behind it: what most lists are made of, in one
look in the place of three for each."""
_OPENS_LIST_OF_KEY = re.compile(rb'"[ \t\r\n]*+:[ \t\r\n]*+\[\Z')


@dataclass(frozen=True)
class Position:
    """A place in a document: its line and, in bytes, its column; both from 1."""

    line: int = 1
    column: int = 1

    def after(self, text: bytes) -> Position:
        """Return the place after a text that begins here."""
        lines = text.count(b"\n")
        if lines:
            return Position(self.line + lines, len(text) - text.rfind(b"\n"))
        return Position(self.line, self.column + len(text))


@dataclass(frozen=True, kw_only=True)
class JsonChunk:
    """Whole items of a list, with what stands between them, or what is left of a cut off list.

    `opening` is what makes a list of it: `[`, or `[0` where it begins with the comma before its
    first item.
    """

    text: bytes
    place: Position
    is_first: bool
    is_whole: bool

    @property
    def opening(self) -> bytes:
        """Return what makes the beginning of a list of the text."""
        return b"[" if self.is_first else b"[0"

    @property
    def array(self) -> bytes:
        """Return the stretch as an array of its own."""
        return b"%b%b%b" % (self.opening, self.text, b"]" if self.is_whole else b"")


class Document:
    """A JSON document: `stretches()` reads its list once, and what is around it is known then.

    The list is the document itself, or what its outermost object names `list_key`. `head` ends with
    the bracket that opens it, `tail` begins, at `tail_place`, with the one that closes it. Without
    a list everything is in `head`.
    """

    def __init__(self, blocks: Iterable[bytes], list_key: str | None) -> None:
        self._blocks = iter(blocks)
        self._list_key = list_key
        self.head = self.tail = b""
        self.tail_place = Position()

    def stretches(self) -> Iterator[JsonChunk]:
        """Yield the items of the list; of one that is cut off, all that is there.

        Of one that is nested too deep, all up to there: it is no JSON for anybody. Raises
        `FileUnusable` where an item, or what is not the list, takes more than `MAX_HELD_BYTES`.
        """
        text = self._after_head()
        if text is None:
            return
        place, is_first = Position().after(self.head), True
        at = depth = 0
        while True:
            at, depth, comma, end = _scan(text, at, depth)
            if depth >= DEEPEST:
                yield JsonChunk(text=text[:at], place=place, is_first=is_first, is_whole=False)
                return
            cut = end
            if end is None and text[:comma].strip(_BLANKS):
                cut = comma  # but for one that follows nothing and so is a fault
            if cut is not None:
                yield JsonChunk(text=text[:cut], place=place, is_first=is_first, is_whole=True)
                place, is_first = place.after(text[:cut]), False
                text, at = text[cut:], at - cut
            if end is not None:
                self.tail, self.tail_place = self._rest(text), place
                return
            block = next(self._blocks, None)
            if block is None:
                yield JsonChunk(text=text, place=place, is_first=is_first, is_whole=False)
                return
            text = _longer(text, block)

    def _after_head(self) -> bytes | None:
        """Read up to the list; return what was read of it, or None where there is none."""
        text = b""
        at = depth = 0
        for block in self._blocks:
            text = _longer(text, block)
            while bracket := _BRACKET.match(text, at):
                at = bracket.end()
                if self._opens_list(bracket, depth):
                    self.head = text[:at]
                    return text[at:]
                depth += 1 if bracket[1] in b"[{" else -1
                if depth > DEEPEST:
                    text = text[:at]
                    break
            if depth > DEEPEST:
                break
        self.head, self.tail_place = text, Position().after(text)
        return None

    def _opens_list(self, bracket: re.Match[bytes], depth: int) -> bool:
        if bracket[1] != b"[" or depth > 1:
            return False
        if depth == 0:
            return not bracket.string[: bracket.end() - 1].strip(_BLANKS)
        if self._list_key is None or not _OPENS_LIST_OF_KEY.search(bracket[0]):
            return False
        *_, key = _STRINGS.findall(bracket[0])
        try:
            return bool(json.loads(key.decode()) == self._list_key)
        except ValueError:
            return False

    def _rest(self, text: bytes) -> bytes:
        for block in self._blocks:
            text = _longer(text, block)
        return text


def _scan(text: bytes, at: int, depth: int) -> tuple[int, int, int | None, int | None]:
    """Look through the text from where `depth` brackets are open inside of the list.

    Returns up to where it was looked through, the depth there, and where the last comma between two
    items is, and the bracket that closes the list.
    """
    comma = None
    while True:
        if depth == 0 and (items := _FLAT_ITEMS.match(text, at)):
            at = items.end()
            comma = at - 1
        bracket = (_BRACKET if depth else _BRACKET_OR_COMMA).match(text, at)
        if bracket is None:
            return at, depth, comma, None
        at, mark = bracket.end(), bracket[1]
        if mark == b",":
            comma = at - 1
        elif mark in b"[{":
            depth += 1
            if depth >= DEEPEST:
                return at, depth, comma, None
        elif depth:
            depth -= 1
        else:
            return at, depth, comma, at - 1


def _longer(text: bytes, block: bytes) -> bytes:
    if len(text) > MAX_HELD_BYTES:
        raise unusable(
            "json_syntax",
            f"The JSON has an item, or something beside its list, of over {MAX_HELD_BYTES >> 20}"
            " MiB.",
        )
    return text + block
