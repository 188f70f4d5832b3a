"""A CSV file as slices of rows: its header, then the records, as `files/pages.py` reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import FileUnusable
from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.files.headers import Names, read_header
from cardoffers_cli.files.lines import first_filled, is_blank, is_cut_off, unterminated
from cardoffers_cli.files.plain.slices import RowSlice, read_lines
from cardoffers_cli.files.profiles.telling import in_other_layout
from cardoffers_cli.files.sources import unusable

if TYPE_CHECKING:
    from cardoffers_cli.domain.findings import Finding
    from cardoffers_cli.files.splitting import Layout

_NAMES = Names.of(PURCHASES)


class DelimitedRows:
    """The rows of a CSV file; `layout`, `header` (its line) and `header_findings` once it came."""

    def __init__(self, name: str, delimiter: str) -> None:
        self.layout: Layout | None = None
        self.header = 0
        self.header_findings: list[Finding] = []
        self._name = name
        self._delimiter = delimiter
        self._line = 1

    def read(self, text: bytes, head: bytes, *, is_plain: bool) -> RowSlice:
        """Read whole, LF-ended lines; raise `FileUnusable` with what is wrong with the header.

        `head` is how the file begins.
        """
        records, blank_lines = text, 0
        if self.layout is None:
            header, records, blank_lines = first_filled(text)
            self._line += blank_lines
            if is_blank(header):
                return RowSlice(numbers=(), columns={}, lines=blank_lines, blank_lines=blank_lines)
            self.layout = self._read_header(header, head)
            self._line += 1
        rows = read_lines(records, self.layout, first_line=self._line, is_plain=is_plain)
        self._line += rows.lines
        if is_cut_off(records):
            rows.findings.append(unterminated(self._line - 1, "warning"))
        above = blank_lines  # of the header
        return replace(rows, lines=rows.lines + above, blank_lines=rows.blank_lines + above)

    def end(self) -> None:
        """Raise `FileUnusable` if nothing was in the file."""
        if self.layout is None:
            raise unusable("file_empty", "The file has no content.")

    def _read_header(self, header: bytes, head: bytes) -> Layout:
        try:
            layout, self.header_findings = read_header(
                header, _NAMES, delimiter=self._delimiter, number=self._line
            )
        except FileUnusable as error:
            if _NAMES.are_in(header):
                raise
            raise in_other_layout(error, self._name, head) from None
        self.header = self._line
        return layout
