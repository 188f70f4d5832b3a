"""Read delimited lines into columns: one physical line is one record (rules.md#lines).

Two roads to the same result. A block whose lines all split plainly goes to polars in one call; a
block with quotes, faults or blank lines is sorted line by line, and only the lines that need it are
split in Python. A quote therefore never reaches over its line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake.lines import MAX_LINE_BYTES, has_long_line, is_blank, split_lines
from cardoffers_cli.intake.sources import BOM
from cardoffers_cli.intake.splitting import QUOTE, Layout, LineFault, fields_of
from cardoffers_cli.kernel.words.findings import Finding, make_finding

if TYPE_CHECKING:
    from collections.abc import Sequence

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
