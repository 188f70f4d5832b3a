"""Read any record file as pages: what CSV, JSON and JSON Lines have in common; and tables of these.

The one place that knows the order of reading: open, look at the first bytes, decide the kind, then
read stretch by stretch with exact line numbers. Tables of a catalogue file and `transactions.py`
build on it.

Delimited lines become columns on two roads to the same result (rules.md#lines). A block whose lines
all split plainly goes to polars in one call; a block with quotes, faults or blank lines is sorted
line by line, and only the lines that need it are split in Python. A quote therefore never reaches
over its line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from cardoffers_cli.intake.documents import Objects, kind_of, read_document, read_json_lines
from cardoffers_cli.intake.headers import Names, read_header
from cardoffers_cli.intake.lines import (
    MAX_LINE_BYTES,
    QUOTE,
    Layout,
    LineFault,
    fields_of,
    first_filled,
    has_long_line,
    in_parts,
    is_blank,
    is_cut_off,
    plain_line_ends,
    split_lines,
    unterminated,
    whole_lines,
    with_lf,
)
from cardoffers_cli.intake.sources import BOM, WORKBOOKS, Source
from cardoffers_cli.kernel.words.findings import Finding, make_finding, unusable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.kernel.words.findings import Level


def read_sheet(
    source: Source,
    *,
    named: str | int | None = None,
    header: int | None = None,
    decimal: str = ".",
    or_text: bool = False,
    names: Sequence[Names] = (),
) -> None:
    """Let a source that is a workbook be read as one of its sheets; leave others as they are.

    The sheet is the one that is `named`, or the first that has all of some `names` in its first
    filled row. `header` is the row of the header: 0 where there is none, and nothing said where it
    is the first that is filled. Numbers are written with the `decimal` mark. Raises `FileUnusable`
    for a workbook that cannot be read or has no such sheet, and for text where a sheet is named,
    unless it may be what is left of one (`or_text`).
    """
    if source.sheet:
        return
    if source.start in WORKBOOKS:
        from cardoffers_cli.intake.spreadsheets import read_workbook  # noqa: PLC0415 - seldom

        read_workbook(source, named=named, header=header, decimal=decimal, names=names)
    elif named is not None and not or_text:
        hint = "Leave --sheet out."
        raise unusable("sheet_missing", "The file is no workbook: it has no sheets.", hint=hint)


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


_LIST_SEPARATOR = "|"


def pages(file: RecordFile, names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    """Read a file page by page: frames of text, and what is wrong with records that have none.

    A frame has `line` (u64) and a String column for each known one, in the order asked for, null
    where absent or empty. JSON numbers keep their text, true and false become text, lists of texts
    become `a|b`; other values become a finding. Raises `FileUnusable`.
    """
    if file.kind != "csv":
        yield from _json_pages(file, names)
        return
    for page in file.csv_pages():
        absent = [
            pl.lit(None, pl.String).alias(name) for name in names if name not in page.frame.columns
        ]
        yield page.frame.with_columns(absent).select("line", *names), page.findings


def _json_pages(
    file: RecordFile, names: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, list[Finding]]]:
    for page in file.object_pages():
        rows, findings = [], [*page.findings]
        for line, value in zip(page.positions, page.values, strict=True):
            wrong = next((name for name in names if _text(value.get(name)) is None), None)
            if wrong:
                message = f"{wrong} is neither text, number, true, false nor a list of texts"
                findings.append(make_finding("text_invalid", message, line=line, column=wrong))
            else:
                rows.append((line, *(_text(value.get(name)) or None for name in names)))
        schema = {"line": pl.UInt64, **dict.fromkeys(names, pl.String)}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        yield frame, sorted(findings, key=lambda finding: finding.line or 0)


def _text(value: Any) -> str | None:
    """Write a JSON value as the text a CSV file would hold; null becomes empty, None is no text."""
    if value is None:
        return ""
    if isinstance(value, list):
        return _LIST_SEPARATOR.join(value) if all(isinstance(v, str) for v in value) else None
    if isinstance(value, dict):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


_NEVER = b"\x01"  # separates nothing, so that a line stays whole


@dataclass(frozen=True, kw_only=True)
class TextPage:
    """Records of one stretch of a file: those with columns, and what is wrong with the others.

    `frame` has `line` (u64) and one String column per known name, empty as null, in line order.
    `findings` has one entry per record without columns. `is_plain` promises that all fields are
    visible ASCII, hold no `@`, `'` or `E+`, and do not begin with `=`, `#` or a quote.
    """

    frame: pl.DataFrame
    findings: list[Finding] = field(default_factory=list)
    lines: int
    blank_lines: int = 0
    is_plain: bool = False


def read_page(text: bytes, layout: Layout, *, first_line: int, is_plain: bool = False) -> TextPage:
    """Read whole, LF-ended lines of which the first has the number `first_line`.

    `is_plain` says that `plain_line_ends` can tell how many they are.
    """
    frame = _all_plain(text, layout)
    if frame is None:
        return _line_by_line(text, layout, first_line, is_plain=is_plain)
    numbers = pl.int_range(first_line, first_line + frame.height, dtype=pl.UInt64, eager=True)
    return TextPage(
        frame=frame.insert_column(0, numbers.alias("line")),
        lines=frame.height,
        is_plain=is_plain,
    )


def _all_plain(text: bytes, layout: Layout) -> pl.DataFrame | None:
    """Read the text in one call if every line of it is a record that needs no second look.

    polars raises for lines with too many fields and for bad UTF-8; lines with too few fields, or
    blank ones, come back with a null at the end, and then the delimiters are counted.
    """
    width = len(layout.names)
    if width == 1 or b'"' in text or text.startswith((b"\n", BOM)) or has_long_line(text):
        return None
    try:
        frame = _plain_frame(text, layout)
    except pl.exceptions.PolarsError:
        return None
    if frame[layout.names[-1]].null_count() and (
        layout.delimiter.isspace()
        or text.count(layout.delimiter.encode()) != frame.height * (width - 1)
    ):
        return None
    return frame


def _plain_frame(text: bytes, layout: Layout) -> pl.DataFrame:
    return pl.read_csv(
        text,
        has_header=False,
        separator=layout.delimiter,
        quote_char=None,
        infer_schema=False,
        schema=dict.fromkeys(layout.names, pl.String),
    )


def _line_by_line(text: bytes, layout: Layout, first_line: int, *, is_plain: bool) -> TextPage:
    lines = _as_series(text)
    if lines is None:
        odd, blank_lines = list(enumerate(split_lines(text), first_line)), 0
        plain = _frame_of([], layout)
    else:
        plain, odd, blank_lines = _parted(lines, layout, first_line)
    total = plain.height + len(odd) + blank_lines
    rows: list[tuple[int, list[str]]] = []
    findings = []
    for number, line in odd:
        if is_blank(line):
            blank_lines += 1
            continue
        try:
            rows.append((number, fields_of(line, layout)))
        except LineFault as fault:
            findings.append(make_finding(fault.code, fault.message, line=number))
    return TextPage(
        frame=pl.concat([plain, _frame_of(rows, layout)]).sort("line"),
        findings=findings,
        lines=total,
        blank_lines=blank_lines,
        is_plain=is_plain,
    )


def _as_series(text: bytes) -> pl.Series | None:
    """Return the lines as one String each, or None if polars would not give them back exactly."""
    if BOM in text or _NEVER in text:
        return None
    try:
        return _plain_frame(text, Layout(names=("text",), delimiter=_NEVER.decode()))["text"]
    except pl.exceptions.PolarsError:  # not UTF-8
        return None


def _parted(
    lines: pl.Series, layout: Layout, first_line: int
) -> tuple[pl.DataFrame, list[tuple[int, bytes]], int]:
    """Split the lines that every delimiter splits; return the others with their numbers.

    Blank lines are in neither, and counted.
    """
    text, delimiter = pl.col("text"), layout.delimiter
    numbered = lines.to_frame().with_columns(
        line=pl.int_range(first_line, first_line + len(lines), dtype=pl.UInt64)
    )
    is_blank = text.str.contains(r"^[ \t]*$") & (text.str.len_bytes() <= MAX_LINE_BYTES)
    frame = numbered.filter(text.is_not_null() & ~is_blank).with_columns(
        is_odd=(text.str.count_matches(delimiter, literal=True) != len(layout.names) - 1)
        | text.str.contains(QUOTE, literal=True)
        | (text.str.len_bytes() > MAX_LINE_BYTES)
    )
    odd = frame.filter("is_odd").select("line", text).rows()
    fields = text.str.split_exact(delimiter, len(layout.names) - 1)
    plain = frame.filter(~pl.col("is_odd")).select(
        "line", fields.struct.rename_fields(layout.names).struct.unnest()
    )
    names = pl.col(layout.names)
    return (
        plain.with_columns(pl.when(names != "").then(names)),
        [(line, content.encode()) for line, content in odd],
        numbered.height - frame.height,
    )


def _frame_of(rows: list[tuple[int, list[str]]], layout: Layout) -> pl.DataFrame:
    columns: Sequence[Sequence[str]] = [*zip(*(fields for _, fields in rows), strict=True)] or [
        () for _ in layout.names
    ]
    return pl.DataFrame(
        [
            pl.Series("line", [line for line, _ in rows], dtype=pl.UInt64),
            *(
                pl.Series(name, [value or None for value in values], dtype=pl.String)
                for name, values in zip(layout.names, columns, strict=True)
            ),
        ]
    )
