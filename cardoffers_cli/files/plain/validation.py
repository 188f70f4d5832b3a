"""Check one transaction file that is handed over piece by piece.

    check = PlainValidation("june.csv", {"now": "2026-06-01T00:00:00Z", "currency": "GBP"})
    for piece in pieces:          # of any size, as the file is stored, gzip too
        check.feed(piece)
    document = check.finish()     # what `validate --format json` shows
    report = check.errors_csv()   # what `--errors` writes
    apart = check.apart()         # the rows that `--valid` and `--rejected` write:
    for piece in pieces:          # the same pieces a second time
        valid, rejected = apart.add(piece)
    valid, rejected = apart.end()

A file is judged in slices of some MiB, so memory does not grow with its size, but for a reference
and a fingerprint of each row, each cardholder once, and the findings.
"""

from __future__ import annotations

from dataclasses import asdict
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import FileUnusable
from cardoffers_cli.domain.moments import parse_moment
from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.files.copies import LineCopy, Masks
from cardoffers_cli.files.findings import write_findings
from cardoffers_cli.files.lines import WholeLines, in_parts, with_lf
from cardoffers_cli.files.plain.blocks import FileBlocks
from cardoffers_cli.files.plain.delimited import DelimitedRows
from cardoffers_cli.files.plain.judging import PlainJudge
from cardoffers_cli.files.splitting import plain_line_ends
from cardoffers_cli.files.verdicts import about_code, about_error, about_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.domain.findings import Finding


class PlainValidation:
    """The check of one file, which is called `name` in what is said of it.

    `options` are those of the command by their names: `now` (a naive datetime in UTC, or its text,
    which is needed), `currency`, `delimiter`, `assume_timezone`, `raw_rejected`.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self._name = name
        self._options = options
        now, currency = options["now"], options.get("currency")
        self._judge = PlainJudge(
            now=parse_moment(now) if isinstance(now, str) else now,
            currency=currency,
            decimals=MINOR_UNITS[currency] if currency else 2,
            zone=options.get("assume_timezone"),
        )
        self._delimiter = options.get("delimiter") or ","
        self._blocks = FileBlocks()
        self._lines = WholeLines()
        self._rows = DelimitedRows(name, self._delimiter)
        self._of_file: list[Finding] = []
        self._error: FileUnusable | None = None

    @property
    def progress(self) -> int:
        """Return how many rows were judged."""
        return self._judge.received

    @property
    def is_unusable(self) -> bool:
        """Whether it is known already that the file cannot be read: no more of it is needed."""
        return self._error is not None

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the file, as it is stored."""
        self._take(self._blocks.add(piece))

    def finish(self) -> dict[str, Any]:
        """Judge what is left, and the file as a whole; return the document of `validate`."""
        self._take(self._blocks.end(), is_end=True)
        if self._error is None:
            self._of_file = [*self._rows.header_findings, *self._judge.end("line")]
        return self._document()

    def errors_csv(self) -> Iterator[bytes]:
        """Yield the report of every finding, one a line."""
        of_file = ({**asdict(each), "field": each.column} for each in self._of_file)
        out = BytesIO()
        write_findings(out, [*of_file, *self._judge.findings.in_order()])
        yield out.getvalue()

    def apart(self) -> RowsApart:
        """Return what sorts the rows of the file apart, which is handed over a second time."""
        masked = None if self._options.get("raw_rejected") else self._judge.findings.masked_fields()
        return RowsApart(self._rows, self._judge.rejected, masked)

    def _take(self, blocks: Iterator[bytes], *, is_end: bool = False) -> None:
        if self._error is not None:
            return
        try:
            for block in blocks:
                if text := self._lines.add(block):
                    self._read(text)
            if is_end:
                if self._lines.rest:
                    self._read(self._lines.rest)
                self._rows.end()
        except FileUnusable as error:
            self._error = error

    def _read(self, block: bytes) -> None:
        text = with_lf(block)
        lines = plain_line_ends(text, self._delimiter)
        for part in in_parts(text, lines):
            rows = self._rows.read(part, self._blocks.head, is_plain=lines is not None)
            self._judge.judge(rows)

    def _document(self) -> dict[str, Any]:
        judge, is_read = self._judge, self._error is None
        found = judge.findings.by_code() if is_read else ()
        received, invalid, duplicates, conflicts, blank_lines = (
            (judge.received, judge.invalid, judge.duplicates, judge.conflicts, judge.blank_lines)
            if is_read
            else (0, 0, 0, 0, 0)
        )
        return {
            "file": self._name,
            "kind": "csv" if is_read else None,
            "kind_of_rows": PURCHASES.name if is_read else None,
            "sha256": self._blocks.sha256 if is_read else None,
            "bytes": self._blocks.size_bytes if is_read else 0,
            "received": received,
            "valid": received - invalid - duplicates,
            "invalid": invalid,
            "duplicates": duplicates,
            "conflicts": conflicts,
            "blank_lines": blank_lines,
            "ok": is_read and not invalid and not conflicts,
            "findings": [*map(about_code, found), *map(about_file, self._of_file)],
            "file_error": about_error(self._error),
        }


class RowsApart:
    """The rows of a file that was checked, sorted apart as it is handed over again."""

    def __init__(
        self, rows: DelimitedRows, rejected: list[int], masked: list[tuple[int, str]] | None
    ) -> None:
        self._blocks = FileBlocks()
        self._valid, self._rejected = BytesIO(), BytesIO()
        self._copy = LineCopy(
            rows.header, rejected, self._valid, self._rejected, masks=Masks(masked, rows.layout)
        )

    def add(self, piece: bytes) -> tuple[bytes, bytes]:
        """Take the next bytes of the file; return the valid and the rejected rows among them."""
        for block in self._blocks.add(piece):
            self._copy.add(block)
        return self._taken()

    def end(self) -> tuple[bytes, bytes]:
        """Return the last valid and rejected rows."""
        for block in self._blocks.end():
            self._copy.add(block)
        self._copy.end()
        return self._taken()

    def _taken(self) -> tuple[bytes, bytes]:
        found = self._valid.getvalue(), self._rejected.getvalue()
        for each in (self._valid, self._rejected):
            each.seek(0)
            each.truncate()
        return found
