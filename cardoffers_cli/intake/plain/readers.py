"""The rows of a file as slices: what `intake/paging.py` reads, for whoever is handed the blocks.

A reader is made once the first bytes are known, takes blocks of a file and yields slices of rows.
`kind` is that of the file, `position` what its rows are numbered by, `findings` what is found of
its header or of its fields; all raise `FileUnusable`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.headers import Names, read_header, unknown_column
from cardoffers_cli.intake.json_texts import is_mistyped, mark, other_text, text_of
from cardoffers_cli.intake.lines import (
    LineSplitter,
    first_filled,
    in_parts,
    is_blank,
    is_cut_off,
    unterminated,
    with_lf,
)
from cardoffers_cli.intake.objects import kind_of, read_document, read_json_lines
from cardoffers_cli.intake.plain.parsing import PLAIN
from cardoffers_cli.intake.plain.slices import RowSlice, read_lines
from cardoffers_cli.intake.profiles.telling import in_other_layout
from cardoffers_cli.intake.splitting import plain_line_ends
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.objects import Objects
    from cardoffers_cli.intake.splitting import Layout
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
            self.layout = self._read_header(header)
            self._line += 1
        rows = read_lines(records, self.layout, first_line=self._line, is_plain=is_plain)
        self._line += rows.lines
        if is_cut_off(records) and not self.is_whole:
            rows.findings.append(unterminated(self._line - 1, "error"))
        return replace(rows, lines=rows.lines + above, blank_lines=rows.blank_lines + above)

    def _read_header(self, header: bytes) -> Layout:
        try:
            layout, self.findings = read_header(
                header, self._names, delimiter=self._delimiter, number=self._line
            )
        except FileUnusable as error:
            if self._names.are_in(header):
                raise
            raise in_other_layout(error, self._name, self._head) from None
        self.header = self._line
        return layout


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
