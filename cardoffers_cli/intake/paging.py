"""Read any record file as pages: what CSV, JSON and JSON Lines have in common.

The one place that knows the order of reading: open, look at the first bytes, decide the kind, then
read stretch by stretch with exact line numbers. `tables.py` and `transactions.py` build on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.intake.delimited import TextPage, read_page
from cardoffers_cli.intake.documents import Objects, kind_of, read_document, read_json_lines
from cardoffers_cli.intake.headers import Names, read_header
from cardoffers_cli.intake.lines import (
    first_filled,
    in_parts,
    is_blank,
    is_cut_off,
    unterminated,
    whole_lines,
    with_lf,
)
from cardoffers_cli.intake.splitting import Layout, plain_line_ends
from cardoffers_cli.intake.spreadsheets import read_sheet
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.intake.sources import Source
    from cardoffers_cli.kernel.words.findings import Finding, Level


class RecordFile:
    """A file of records, read once from its beginning to its end.

    `kind` is `csv`, `json` or `jsonl`; `position` is what its records are numbered by. The counts,
    `header_findings`, `is_unterminated` (the last line has no line end) and, of CSV, `layout` and
    `header` (the header's line) are complete when the pages are exhausted. `unterminated` is the
    level of the finding on a last line without its end: it may have been cut, in an amount too. The
    `kind` is given where the content does not decide it, which `beginning` is of, if it was read.
    Of a workbook a sheet is read, as CSV; `told_kind` is what the file itself is.
    """

    def __init__(
        self,
        source: Source,
        names: Names,
        *,
        list_key: str | None = None,
        delimiter: str = ",",
        unterminated: Level | None = None,
        kind: str | None = None,
        beginning: bytes = b"",
    ) -> None:
        read_sheet(source, names=[names])
        self.source = source
        self.beginning = b"" if kind else beginning or source.head()
        if source.sheet:
            kind, delimiter = "csv", ","
        self.kind = kind or kind_of(self.beginning, list_key, names.known)
        self.position = "index" if self.kind == "json" else "line"
        self.header = 0
        self.layout: Layout | None = None
        self.header_findings: list[Finding] = []
        self.received = 0
        self.blank_lines = 0
        self.names = names
        self._list_key = list_key
        self._delimiter = delimiter
        self._unterminated = unterminated
        self.is_unterminated = False

    @property
    def told_kind(self) -> str:
        """What the file is called that its records were read from."""
        return "xlsx" if self.source.sheet else self.kind

    def csv_pages(self) -> Iterator[TextPage]:
        """Read a CSV file: the header, then pages whose frames have the header's columns."""
        layout = self.layout
        line = 1
        for text, is_plain in self._texts():
            records = text
            if layout is None:
                header, records, blank_lines = first_filled(text)
                self.blank_lines += blank_lines
                line += blank_lines
                if is_blank(header):
                    continue
                layout = self.take_header(header, line)
                line += 1
            page = read_page(records, layout, first_line=line, is_plain=is_plain)
            line += page.lines
            page.findings.extend(self.unended(records, line - 1))
            self._count(page)
            yield page
        if layout is None:
            raise unusable("file_empty", "The file has no content.")

    def object_pages(self) -> Iterator[Objects]:
        """Read a JSON document or JSON Lines page by page."""
        if self.kind == "json":
            pages = read_document(self.source.blocks(), self._list_key, self.names.known)
        else:
            pages = self._json_lines()
        for page in pages:
            self._count(page)
            yield page

    def _json_lines(self) -> Iterator[Objects]:
        line = 1
        for text, _ in self._texts():
            page = read_json_lines(text, first_line=line)
            line += page.lines
            page.findings.extend(self.unended(text, line - 1))
            yield page

    def _texts(self) -> Iterator[tuple[bytes, bool]]:
        """Yield whole lines, and whether they are plain text, which only CSV is looked at for."""
        for block in whole_lines(self.source.blocks()):
            text = with_lf(block)
            lines = plain_line_ends(text, self._delimiter) if self.kind == "csv" else None
            for part in in_parts(text, lines):
                yield part, lines is not None

    def unended(self, text: bytes, last_line: int) -> Iterator[Finding]:
        """Say so where the text ends within a record."""
        self.is_unterminated = is_cut_off(text)
        if self.is_unterminated and self._unterminated:
            yield unterminated(last_line, self._unterminated)

    def take_header(self, header: bytes, line: int) -> Layout:
        """Read the header; raise `FileUnusable` with what is wrong with it."""
        layout, self.header_findings = read_header(
            header, self.names, delimiter=self._delimiter, number=line
        )
        self.header, self.layout = line, layout
        return layout

    def _count(self, page: TextPage | Objects) -> None:
        self.received += page.lines - page.blank_lines
        self.blank_lines += page.blank_lines
