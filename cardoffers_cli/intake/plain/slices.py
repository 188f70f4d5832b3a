"""Slices of a file's rows as columns of texts, as the rules read them, and proofs over a column.

Most texts of a file are good, and to ask each of them takes longer than to read them. What must not
be so of a text becomes a lookahead, and all lookaheads together one pattern that runs over a column
as long as its texts are good: `exceptions` returns the others. A proof may doubt too much and never
too little, so what it doubts is asked as ever.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING

from cardoffers_cli.intake import conditions
from cardoffers_cli.intake.conditions import python_text
from cardoffers_cli.intake.fields import OTHERS
from cardoffers_cli.intake.lines import (
    QUOTE,
    LineFault,
    fields_of,
    has_long_line,
    is_blank,
    split_lines,
)
from cardoffers_cli.kernel.words.findings import make_finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cardoffers_cli.intake.conditions import Condition
    from cardoffers_cli.intake.lines import Layout
    from cardoffers_cli.kernel.words.findings import Finding


if TYPE_CHECKING:
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


def proof(suspicions: Iterable[Condition]) -> re.Pattern[str] | None:
    """Return the pattern of lines of which none is suspicious; None if there is no such pattern.

    It holds of ASCII texts that hold no line end.
    """
    lookaheads = [good(condition) for condition in suspicions]
    if None in lookaheads:
        return None
    text = "".join(lookahead for lookahead in lookaheads if lookahead is not None)
    return re.compile(rf"(?:{text}.*+\n)*+", re.MULTILINE)


def exceptions(values: Sequence[str], run: re.Pattern[str]) -> set[str] | None:
    """Return the texts that a pattern does not prove; None where it can prove nothing of them."""
    text = "\n".join([*values, ""])
    if not text.isascii() or text.count("\n") != len(values):
        return None
    texts, at = set[str](), 0
    while True:
        proven = run.match(text, at)
        at = proven.end() if proven else at
        if at == len(text):
            return texts
        end = text.index("\n", at)
        texts.add(text[at:end])
        at = end + 1


@singledispatch
def good(_condition: Condition) -> str | None:
    """Return a lookahead that no text has of which a condition is so; None if there is none."""
    return None


@good.register(conditions.Missing)
def _(_it: conditions.Missing) -> str:
    return "(?=.)"


@good.register(conditions.Matches)
def _(it: conditions.Matches) -> str:
    return _lacks(it.pattern)


@good.register(conditions.TextTest)
def _(it: conditions.TextTest) -> str:
    return _lacks(it.only_if)


def _lacks(pattern: str) -> str:
    is_anchored = pattern.startswith("^") and "|" not in pattern
    anywhere = "" if is_anchored else r".*(?!\n)"
    return f"(?!{anywhere}(?:{python_text(pattern)}))"


@good.register(conditions.Either)
def _(it: conditions.Either) -> str | None:
    one, other = good(it.one), good(it.other)
    return None if one is None or other is None else one + other


@good.register(conditions.Not)
def _(it: conditions.Not) -> str | None:
    """Say what a text has; an empty one has it too, unless that must be sure."""
    inner, or_empty = it.condition, "?"
    if isinstance(inner, conditions.KnownTrue):
        inner, or_empty = inner.condition, ""
    if isinstance(inner, conditions.Sized):
        return f"(?=(?:.{{{inner.least},{inner.most}}}){or_empty}$)"
    if isinstance(inner, conditions.OneOf):
        return f"(?=(?:{'|'.join(map(re.escape, inner.words))}){or_empty}$)"
    return None
