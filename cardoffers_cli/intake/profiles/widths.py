"""Guess the columns of lines of fixed width: by the kinds of characters that stand in a place."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from cardoffers_cli.intake.profiles.sample_values import date_form

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_LINES = 400
_LEAST_WIDTH = 20
_MOSTLY = 0.8
_DATE_LENGTH = 8


@dataclass(frozen=True, kw_only=True)
class FixedLines:
    """Lines of fixed width: the widths of their columns, and the lines that are rows."""

    widths: Sequence[int]
    lines: Sequence[str]
    skip_lines: int
    last: str | None

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return len(self.lines)

    @property
    def columns(self) -> list[list[str]]:
        """The values of each column, blanks taken off."""
        return [
            [line[end - width : end].strip() for line in self.lines]
            for width, end in zip(self.widths, accumulate(self.widths), strict=True)
        ]

    def trailer(self, amount: str | int | None) -> str | None:
        """Return the TOML of the trailer, if there is a last line of another kind."""
        if self.last is None:
            return None
        total = None
        if isinstance(amount, int):
            values = self.columns[amount - 1]
            total = sum(int(value) for value in values if re.fullmatch(r"[+-]?\d+", value))
        parts = [f'starts_with = "{self.last[0]}"']
        for match in re.finditer(r"[+-]?\d+", self.last[1:]):
            place = f"[{match.start() + 2}, {match.end() + 1}]"
            if int(match[0]) == self.rows and not any("count" in part for part in parts):
                parts.append(f"count = {place}")
            elif int(match[0]) == total:
                parts.append(f"sum = {place}")
        return f"{{{', '.join(parts)}}}"


def fixed_lines(lines: Sequence[str], *, is_whole: bool) -> FixedLines | None:
    """Return the lines cut into columns, if most of them have one length and one beginning."""
    lengths = Counter(len(line) for line in lines)
    if not lengths:
        return None
    width, count = lengths.most_common(1)[0]
    if width < _LEAST_WIDTH or count < _MOSTLY * len(lines):
        return None
    first, begin = Counter(line[0] for line in lines if len(line) == width).most_common(1)[0]
    is_marked = first.isalpha() and begin > _MOSTLY * len(lines)
    rows = [line for line in lines if len(line) == width and (not is_marked or line[0] == first)]
    last = lines[-1] if is_whole and is_marked and lines[-1][:1] != first else None
    skipped = next((n for n, line in enumerate(lines) if line in rows[:1]), 0)
    some = rows if is_whole else rows[:_MOST_LINES]
    return FixedLines(widths=_widths(some[:_MOST_LINES]), lines=some, skip_lines=skipped, last=last)


def _widths(lines: Sequence[str]) -> list[int]:
    """Cut where the kind of the characters in a place changes, and dates out of digits."""
    kinds = [_kind(place) for place in zip(*lines, strict=True)]
    runs: list[tuple[str, int]] = []
    for kind, group in groupby(kinds):
        length = len([*group])
        if runs and runs[-1] == ("sign", 1) and kind == "digits":
            runs[-1] = ("digits", length + 1)
        else:
            runs.append((kind, length))
    widths, start = [], 0
    for kind, length in runs:
        values = [line[start : start + length] for line in lines]
        widths += _with_date(values, length) if kind == "digits" else [length]
        start += length
    return widths


def _kind(characters: Sequence[str]) -> str:
    letters = set(characters)
    if all(letter.isdigit() for letter in letters):
        return "digits"
    if letters <= {"+", "-"}:
        return "sign"
    if len(letters) == 1 and all(letter.isalpha() for letter in letters):
        return "mark"
    return "text"


def _with_date(values: Sequence[str], length: int) -> list[int]:
    """Cut a date out of digits, where there is one in every line."""
    for start in range(length - _DATE_LENGTH + 1):
        dates = [value[start : start + _DATE_LENGTH] for value in values]
        form = date_form(dates)
        if form and form.format == "%Y%m%d" and len(set(dates)) > 1:
            parts = [start, _DATE_LENGTH, length - start - _DATE_LENGTH]
            return [part for part in parts if part]
    return [length]
