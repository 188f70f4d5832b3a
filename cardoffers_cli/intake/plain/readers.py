"""The rows of a file as slices: what `intake/paging.py` reads, for whoever is handed the blocks.

A reader is made once the first bytes are known, takes blocks of a file and yields slices of rows.
`kind` is that of the file, `position` what its rows are numbered by, `findings` what is found of
its header or of its fields; all raise `FileUnusable`.

What is JSON is read by Python's own decoder, with the values and faults of `intake/documents.py`.
What is not, and what that decoder takes and a strict one does not (half a surrogate pair, very deep
nesting), is looked through once more, byte by byte, for the place where it stops to be JSON, which
is what a finding tells.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.headers import Names, read_header, unknown_column
from cardoffers_cli.intake.lines import (
    LineSplitter,
    first_filled,
    in_parts,
    is_blank,
    is_cut_off,
    plain_line_ends,
    unterminated,
    with_lf,
)
from cardoffers_cli.intake.objects import (
    JsonFault,
    Parser,
    is_mistyped,
    kind_of,
    mark,
    other_text,
    read_document,
    read_json_lines,
    text_of,
)
from cardoffers_cli.intake.plain.slices import RowSlice, read_lines
from cardoffers_cli.intake.profiles.guessing import in_other_layout
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.lines import Layout
    from cardoffers_cli.intake.objects import Objects
    from cardoffers_cli.kernel.words.findings import Finding
    from cardoffers_cli.kernel.words.row_kinds import RowKind


_MOST_UNKNOWN = 20


class LineRows:
    """The rows of a file whose records are its lines."""

    position = "line"
    is_whole = False
    """Whether somebody vouches for a last line without its end."""

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._line = 1

    def read(self, block: bytes) -> Iterator[RowSlice]:
        """Yield the rows that are whole with a block."""
        if lines := self._lines.add(block):
            yield from self._read(with_lf(lines))

    def end(self) -> Iterator[RowSlice]:
        """Yield what is left."""
        if self._lines.rest:
            yield from self._read(with_lf(self._lines.rest))

    def _read(self, text: bytes) -> Iterator[RowSlice]:
        """Yield the rows of whole, LF-ended lines."""
        raise NotImplementedError


class DelimitedRows(LineRows):
    """The rows of a CSV file; `layout` and `header`, its line, are known once it came."""

    kind = "csv"

    def __init__(self, name: str, head: bytes, row_kind: RowKind, delimiter: str) -> None:
        super().__init__()
        self.layout: Layout | None = None
        self.header = 0
        self.findings: list[Finding] = []
        self._name = name
        self._head = head
        self._names = Names.of(row_kind)
        self._delimiter = delimiter

    def end(self) -> Iterator[RowSlice]:
        """Yield what is left; raise `FileUnusable` if there was nothing at all."""
        yield from super().end()
        if self.layout is None:
            raise unusable("file_empty", "The file has no content.")

    def _read(self, text: bytes) -> Iterator[RowSlice]:
        lines = plain_line_ends(text, self._delimiter)
        for part in in_parts(text, lines):
            yield self._rows(part, is_plain=lines is not None)

    def _rows(self, text: bytes, *, is_plain: bool) -> RowSlice:
        records, above = text, 0
        if self.layout is None:
            header, records, above = first_filled(text)
            self._line += above
            if is_blank(header):
                return RowSlice(numbers=(), columns={}, lines=above, blank_lines=above)
            try:
                layout, self.findings = read_header(
                    header, self._names, delimiter=self._delimiter, number=self._line
                )
            except FileUnusable as error:
                if self._names.are_in(header):
                    raise
                raise in_other_layout(error, self._name, self._head) from None
            self.header = self._line
            self.layout = layout
            self._line += 1
        rows = read_lines(records, self.layout, first_line=self._line, is_plain=is_plain)
        self._line += rows.lines
        if is_cut_off(records) and not self.is_whole:
            rows.findings.append(unterminated(self._line - 1, "error"))
        return replace(rows, lines=rows.lines + above, blank_lines=rows.blank_lines + above)


class _ObjectRows:
    """The objects of a file of JSON as rows."""

    layout, header = None, 0

    def __init__(self, row_kind: RowKind) -> None:
        self._row_kind = row_kind
        self._unknown: list[str] = []

    @property
    def findings(self) -> list[Finding]:
        """Return a warning for each of the first fields that are not known."""
        return [unknown_column(name, place) for place, name in enumerate(self._unknown, start=1)]

    def _rows(self, page: Objects) -> RowSlice:
        values, kind = page.values, self._row_kind
        present = set(kind.required).union(*values)
        unknown = present.difference(kind.columns)
        for name in sorted(unknown.difference(self._unknown)):
            if len(self._unknown) < _MOST_UNKNOWN:
                self._unknown.append(name)
        columns = {
            name: [text_of(value.get(name)) or "" for value in values]
            for name in kind.columns
            if name in present
        }
        if unknown:
            columns[OTHERS] = [other_text(value, unknown) or "" for value in values]
        typed = [name for name in columns if name != OTHERS]
        mistyped = [
            [name for name in typed if is_mistyped(name, value.get(name))] for value in values
        ]
        if any(mistyped):
            columns["mistyped"] = [mark(names) or "" for names in mistyped]
        return RowSlice(
            numbers=page.positions,
            columns=columns,
            findings=page.findings,
            lines=page.lines,
            blank_lines=page.blank_lines,
        )


class JsonLineRows(LineRows, _ObjectRows):
    """The rows of a file of JSON Lines."""

    kind = "jsonl"

    def __init__(self, row_kind: RowKind) -> None:
        LineRows.__init__(self)
        _ObjectRows.__init__(self, row_kind)

    def _read(self, text: bytes) -> Iterator[RowSlice]:
        for part in in_parts(text):
            page = read_json_lines(PLAIN, part, first_line=self._line)
            self._line += page.lines
            if is_cut_off(part) and not self.is_whole:
                page.findings.append(unterminated(self._line - 1, "error"))
            yield self._rows(page)


class DocumentRows(_ObjectRows):
    """The rows of a JSON document, which is held until its end: only then is it JSON or not."""

    kind, position = "json", "index"

    def __init__(self, row_kind: RowKind) -> None:
        super().__init__(row_kind)
        self._blocks: list[bytes] = []

    def read(self, block: bytes) -> Iterator[RowSlice]:
        """Keep a block."""
        self._blocks.append(block)
        yield from ()

    def end(self) -> Iterator[RowSlice]:
        """Yield the rows."""
        names = Names.of(self._row_kind).known
        for page in read_document(PLAIN, self._blocks, self._row_kind.list_key, names):
            yield self._rows(page)


Reader = DelimitedRows | JsonLineRows | DocumentRows


def reader_of(name: str, head: bytes, row_kind: RowKind, delimiter: str) -> Reader:
    """Return what reads a file that begins so."""
    kind = kind_of(PLAIN, head, row_kind.list_key, Names.of(row_kind).known)
    if kind == "csv":
        return DelimitedRows(name, head, row_kind, delimiter)
    return JsonLineRows(row_kind) if kind == "jsonl" else DocumentRows(row_kind)


DEEPEST = 200
_PAIRED = 0x10000 - (0xD800 << 10) - 0xDC00
_MOST_DIGITS = 4300
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_BLANKS = re.compile(rb"[ \t\r\n]*")
_DIGITS = re.compile(rb"[0-9]*")
_CHUNK = re.compile(rb'[^"\\\x00-\x1f]*')
_HEX = b"0123456789abcdefABCDEF"
_WORDS = {b"t": b"true", b"f": b"false", b"n": b"null"}
_FIRST_HALVES, _SECOND_HALVES = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
"""The two parts of a surrogate pair, of which neither stands alone."""

_ESCAPED = {b'"': b'"', b"\\": b"\\", b"/": b"/", b"b": b"\b", b"f": b"\f", b"n": b"\n"}
_ESCAPED |= {b"r": b"\r", b"t": b"\t"}


@dataclass(frozen=True)
class NumberText:
    """A number that is not whole, as it is written."""

    text: str

    def __str__(self) -> str:
        return self.text


def _unique(pairs: list[tuple[str, Any]]) -> Any:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError  # it names a field twice
    return values


def _refuse(_word: str) -> NoReturn:
    raise ValueError


_DECODERS = {
    True: json.JSONDecoder(
        parse_float=NumberText, parse_constant=_refuse, object_pairs_hook=_unique
    ),
    False: json.JSONDecoder(parse_float=NumberText, parse_constant=_refuse),
}


def parse(text: bytes, *, unique_keys: bool = True) -> Any:
    """Parse one JSON text; raise `JsonFault`. Whole numbers are `int`, others `NumberText`."""
    is_doubtful = _SURROGATE.search(text) or text.count(b"[") + text.count(b"{") > DEEPEST
    if is_doubtful:
        _Place(text, unique_keys=unique_keys).look_through()
    try:
        return _DECODERS[unique_keys].decode(text.decode())
    except (ValueError, RecursionError):
        _Place(text, unique_keys=unique_keys).look_through()
        raise


PLAIN = Parser(parse, NumberText)


class _Place:
    """A place in a text that is looked through for the fault in it, if there is one."""

    def __init__(self, text: bytes, *, unique_keys: bool) -> None:
        self._text = text
        self._unique = unique_keys
        self._at = 0

    def look_through(self) -> None:
        """Raise `JsonFault` where the text stops to be JSON."""
        self._value(0)
        if self._next():
            self._fail(self._at)

    def _fail(self, at: int, code: str = "json_invalid") -> NoReturn:
        """Raise the fault at a byte; one at a line end has the column 0 of the next line."""
        text = self._text
        begin = text.rfind(b"\n", 0, at + 1) + 1
        line = text.count(b"\n", 0, at + 1) + 1
        column = (at + 1 if at < len(text) else len(text)) - begin
        raise JsonFault(code, text, line, column, is_short=False)

    def _end(self) -> NoReturn:
        raise JsonFault("json_invalid", self._text, 1, 1, is_short=True)

    def _next(self) -> bytes:
        """Step over blanks; return the byte there, or none at the end."""
        blanks = _BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at
        return self._text[self._at : self._at + 1]

    def _value(self, depth: int) -> None:
        first = self._next()
        if not first:
            self._end()
        if depth > DEEPEST:
            self._fail(self._at)
        if first == b"[":
            self._list(depth + 1)
        elif first == b"{":
            self._object(depth + 1)
        elif first == b'"':
            self._string()
        elif first in _WORDS:
            self._word(_WORDS[first])
        elif first.isdigit() or first == b"-":
            self._number()
        else:
            self._fail(self._at)

    def _list(self, depth: int) -> None:
        self._at += 1
        mark = self._next()
        while mark != b"]":
            if not mark:
                self._end()
            self._value(depth)
            mark = self._next()
            if mark == b",":
                self._at += 1
                mark = self._next()
                if mark == b"]":
                    self._fail(self._at)
            elif mark and mark != b"]":
                self._fail(self._at)
        self._at += 1

    def _object(self, depth: int) -> None:
        self._at += 1
        names = set[bytes]()
        mark = self._next()
        while mark != b"}":
            self._name(mark, names)
            self._value(depth)
            mark = self._next()
            if mark == b",":
                self._at += 1
                mark = self._next()
                if mark == b"}" or not mark:
                    self._fail(self._at) if mark else self._end()
            elif mark and mark != b"}":
                self._fail(self._at)
        self._at += 1

    def _name(self, mark: bytes, names: set[bytes]) -> None:
        """Step over a name and its colon."""
        if not mark:
            self._end()
        if mark != b'"':
            self._fail(self._at)
        name = self._string()
        colon = self._next()
        if not colon:
            self._end()
        if colon != b":":
            self._fail(self._at)
        self._at += 1
        if self._unique and name in names:
            self._fail(self._at, "duplicate_key")
        names.add(name)

    def _word(self, word: bytes) -> None:
        for letter in word:
            if self._at == len(self._text):
                self._end()
            if self._text[self._at] != letter:
                self._fail(self._at)
            self._at += 1

    def _number(self) -> None:
        text = self._text
        self._at += text[self._at : self._at + 1] == b"-"
        start = self._at
        self._digits()
        if self._at - start > _MOST_DIGITS:
            self._fail(min(start + _MOST_DIGITS + 1, len(text)))
        if text[start : start + 1] == b"0" and self._at > start + 1:
            self._fail(start + 1)
        if text[self._at : self._at + 1] == b".":
            self._at += 1
            self._digits()
        if text[self._at : self._at + 1] in {b"e", b"E"}:
            self._at += 1
            self._at += text[self._at : self._at + 1] in {b"+", b"-"}
            self._digits()

    def _digits(self) -> None:
        """Step over digits, of which there must be one."""
        digits = _DIGITS.match(self._text, self._at)
        end = digits.end() if digits else self._at
        if end == self._at:
            self._end() if end == len(self._text) else self._fail(end)
        self._at = end

    def _string(self) -> bytes:
        """Step over a string; return what it holds."""
        self._at += 1
        start, content = self._at, b""
        while True:
            chunk = _CHUNK.match(self._text, self._at)
            content += chunk[0] if chunk else b""
            self._at += len(chunk[0]) if chunk else 0
            mark = self._text[self._at : self._at + 1]
            if not mark:
                self._end()
            if mark == b'"':
                break
            if mark != b"\\":
                self._fail(self._at)
            content += self._escape()
        try:
            content.decode()
        except UnicodeDecodeError as error:
            self._fail(start + error.start)
        self._at += 1
        return content

    def _escape(self) -> bytes:
        self._at += 1
        mark = self._text[self._at : self._at + 1]
        if not mark:
            self._end()
        if mark in _ESCAPED:
            self._at += 1
            return _ESCAPED[mark]
        if mark != b"u":
            self._fail(self._at)
        point = self._hex()
        if point in _SECOND_HALVES:
            self._fail(self._at - 1)
        if point in _FIRST_HALVES:
            for expected in (b"\\", b"u"):
                byte = self._text[self._at : self._at + 1]
                if not byte:
                    self._end()
                if byte != expected:
                    self._fail(self._at)
                self._at += expected == b"\\"
            second = self._hex()
            if second not in _SECOND_HALVES:
                self._fail(self._at - 1)
            point = _PAIRED + (point << 10) + second
        return chr(point).encode()

    def _hex(self) -> int:
        """Step over `u` and four digits."""
        digits = self._text[self._at + 1 : self._at + 5]
        if len(digits) < len("0000"):
            self._end()
        for place, digit in enumerate(digits):
            if digit not in _HEX:
                self._fail(self._at + 1 + place)
        self._at += 5
        return int(digits, 16)
