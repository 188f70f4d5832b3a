"""Slices of a file's rows as columns of texts, as the rules read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.lines import has_long_line, is_blank, split_lines
from cardoffers_cli.intake.splitting import QUOTE, LineFault, fields_of
from cardoffers_cli.kernel.words.findings import make_finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.splitting import Layout
    from cardoffers_cli.kernel.words.findings import Finding

    Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class RowSlice:
    """Some records of a file: the rows among them as columns, and what is wrong with the others.

    `numbers` are the lines of the rows, or their indexes, in order. `columns` has a text for each
    of them, empty where there is none; a column that no row has is left out. `lines` counts all
    records with the `blank_lines`, and `is_plain` is the promise of `delimited.TextPage`. Of a file
    that a profile describes, `faults` are the codes of times that are no moments, by their lines;
    its rows that are left out are no records here, and those that are `refunds` stand apart.
    """

    numbers: Sequence[int]
    columns: Columns
    findings: list[Finding] = field(default_factory=list)
    lines: int
    blank_lines: int = 0
    is_plain: bool = False
    faults: Mapping[int, str] = field(default_factory=dict)
    refunds: RowSlice | None = None


def read_lines(text: bytes, layout: Layout, *, first_line: int, is_plain: bool) -> RowSlice:
    """Read whole, LF-ended lines of which the first has the number `first_line`."""
    columns = _all_plain(text, layout)
    if columns is None:
        return _line_by_line(text, layout, first_line, is_plain=is_plain)
    lines = len(columns[0])
    return RowSlice(
        numbers=range(first_line, first_line + lines),
        columns=_named(columns, layout),
        lines=lines,
        is_plain=is_plain,
    )


def _all_plain(text: bytes, layout: Layout) -> list[list[str]] | None:
    """Split all lines at once into columns, if every one is a record without a quote.

    The line ends are put in as a column of their own. Where they all come to stand in that column,
    and as many as there are lines, each line has its fields.
    """
    if QUOTE.encode() in text or layout.delimiter.isspace() or has_long_line(text):
        return None
    ended = text if text.endswith(b"\n") else text + b"\n" * bool(text)
    delimiter, width = layout.delimiter, len(layout.names)
    try:
        lines = ended.decode().replace("\n", f"{delimiter}\n{delimiter}")
    except UnicodeDecodeError:
        return None
    fields = lines.split(delimiter)[:-1]
    ends = fields[width :: width + 1]
    is_whole = len(ends) == ended.count(b"\n") and len(fields) == len(ends) * (width + 1)
    if not is_whole or set(ends) - {"\n"}:
        return None
    return [fields[column :: width + 1] for column in range(width)]


def _line_by_line(text: bytes, layout: Layout, first_line: int, *, is_plain: bool) -> RowSlice:
    numbers, fields, findings, blank_lines = list[int](), list[str](), [], 0
    lines, width = split_lines(text), len(layout.names)
    for number, line in enumerate(lines, first_line):
        if (line[:1] or b" ") in b" \t" and is_blank(line):
            blank_lines += 1
            continue
        try:
            fields += fields_of(line, layout)
            numbers.append(number)
        except LineFault as fault:
            findings.append(make_finding(fault.code, fault.message, line=number))
    return RowSlice(
        numbers=numbers,
        columns=_named([fields[column::width] for column in range(width)], layout),
        findings=findings,
        lines=len(lines),
        blank_lines=blank_lines,
        is_plain=is_plain,
    )


def _named(columns: Sequence[Sequence[str]], layout: Layout) -> Columns:
    """Name the columns; those that are not known come together as one."""
    named = dict(zip(layout.names, columns, strict=False))
    unknown = [named.pop(name) for name in [*named] if name.startswith(" ")]
    if unknown:
        named[OTHERS] = [*map(" ".join, zip(*unknown, strict=True))]
    return named
