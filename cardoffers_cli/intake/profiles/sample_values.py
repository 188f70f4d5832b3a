"""What a sample looks like: dates, amounts, how these are written, columns of fixed width."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from cardoffers_cli.intake.fields import SERIAL
from cardoffers_cli.kernel.words.moments import SERIAL_DAYS

if TYPE_CHECKING:
    from collections.abc import Sequence


ENOUGH = 0.9
"""The share of values that must be of a form, for the column to be of it."""

_DATES = (
    (r"\d{4}-\d\d?-\d\d?", "%Y-%m-%d"),
    (r"\d{4}/\d\d?/\d\d?", "%Y/%m/%d"),
    (r"\d{4}\.\d\d?\.\d\d?", "%Y.%m.%d"),
    *(
        (rf"\d\d?{re.escape(mark)}\d\d?{re.escape(mark)}\d{{{digits}}}", form)
        for mark in "./- "
        for digits, year in ((4, "%Y"), (2, "%y"))
        for form in (f"%d{mark}%m{mark}{year}", f"%m{mark}%d{mark}{year}")
    ),
    *(
        (rf"\d\d?{re.escape(mark)}[A-Za-z]{{3,9}}{re.escape(mark)}\d{{{digits}}}", form)
        for mark in "- /"
        for digits, year in ((4, "%Y"), (2, "%y"))
        for form in (f"%d{mark}%b{mark}{year}", f"%d{mark}%B{mark}{year}")
    ),
    (r"\d{8}", "%Y%m%d"),
    (r"\d{8}", "%d%m%Y"),
    (r"\d{6}", "%y%m%d"),
    (r"\d{6}", "%d%m%y"),
)
_CLOCKS = (
    ("", ""),
    *(
        (rf"{gap}\d\d?:\d\d{seconds}{fraction}{zone}", f"{text}%H:%M{s}{f}{z}")
        for gap, text in (("T", "T"), (" ", " "))
        for seconds, s in ((":\\d\\d", ":%S"), ("", ""))
        for fraction, f in (("", ""), ("\\.\\d{1,9}", ".%f"))
        for zone, z in (("", ""), (r"(?:Z|[+-]\d\d:?\d\d)", "%z"))
        if seconds or not fraction
    ),
    (r" \d\d?:\d\d ?[AaPp][Mm]", " %I:%M %p"),
    (r" \d\d?:\d\d:\d\d ?[AaPp][Mm]", " %I:%M:%S %p"),
)
CLOCK = re.compile(r"\d\d?:\d\d(:\d\d)?( [AaPp][Mm])?")
_AMOUNT = re.compile(
    r"(?P<open>\()?(?P<sign>[-+\u2212])?\s*(?P<before>[^\d\s.,()+\-]{1,4}|[A-Z]{3} )?\s*\(?"
    r"(?P<inner>[-+\u2212])?\s*(?P<number>\d[\d.,' \u00a0\u202f\u2019]*|[.,]\d+)"
    r"\s*(?P<after>[^\d\s.,()+\-]{1,4}| [A-Z]{3})?(?P<behind>[-+\u2212])?\s*\)?"
)
_LEAST_MINOR = 6
_LONGEST_DATE = 40
_EARLIEST, _LATEST = 1980, 2060


@cache
def _forms() -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns of dates, which are made when a sample is first looked at."""
    return [
        (re.compile(date + clock), form + ending)
        for date, form in _DATES
        for clock, ending in _CLOCKS
        if clock == "" or not re.fullmatch(r"\\d\{[68]\}", date) or "%H" in ending
    ]


@dataclass(frozen=True, kw_only=True)
class DateForm:
    """How the dates of a column are written; `is_sure` unless day and month could be exchanged."""

    format: str
    is_sure: bool = True

    @property
    def has_clock(self) -> bool:
        """Whether there is a time of day in it."""
        return self.format == SERIAL_DAYS or "%H" in self.format or "%I" in self.format


@dataclass(frozen=True, kw_only=True)
class AmountForm:
    """How the amounts of a column are written."""

    decimal: str = "."
    thousands: str = ""
    currency: str = ""
    parentheses: bool = False
    minor_units: bool = False
    negative: float = 0.0
    is_whole: bool = False
    is_sure: bool = True


def date_form(values: Sequence[str]) -> DateForm | None:
    """Return how the values are dates, if they are."""
    some = values[:200]
    plain = [value for value in some if len(value) <= _LONGEST_DATE and value.isascii()]
    if sum(value[:1].isdigit() for value in plain) < ENOUGH * len(some):
        return None
    fits = [form for pattern, form in _forms() if _are_dates(some, pattern, form)]
    if not fits:
        return None
    first = fits[0]
    exchanged = first.replace("%d", "%?").replace("%m", "%d").replace("%?", "%m")
    return DateForm(format=first, is_sure="." in first or exchanged not in fits[1:])


def serial_form(values: Sequence[str]) -> DateForm | None:
    """Return that the values are days as spreadsheets count them, if they can be."""
    fitting = sum(bool(re.fullmatch(SERIAL, value)) for value in values)
    is_one = bool(values) and fitting >= ENOUGH * len(values)
    return DateForm(format=SERIAL_DAYS) if is_one else None


def _are_dates(values: Sequence[str], pattern: re.Pattern[str], form: str) -> bool:
    fitting = 0
    for place, value in enumerate(values, 1):
        fitting += bool(pattern.fullmatch(value)) and _is_date(value, form)
        if place - fitting > len(values) * (1 - ENOUGH):
            return False
    return bool(values)


def _is_date(value: str, form: str) -> bool:
    try:
        return _EARLIEST <= datetime.strptime(value, form).year <= _LATEST  # noqa: DTZ007
    except ValueError:
        return False


def amount_form(values: Sequence[str]) -> AmountForm | None:
    """Return how the values are amounts, if they are."""
    matches = [match for value in values if (match := _AMOUNT.fullmatch(value))]
    if not matches or len(matches) < ENOUGH * len(values):
        return None
    numbers = [match["number"].rstrip() for match in matches]
    decimal, is_sure = _decimal_mark(numbers)
    others = Counter(
        mark for number in numbers for mark in re.findall(r"\D", number) if mark != decimal
    )
    thousands = others.most_common(1)[0][0] if others else ""
    thousands = {"\u00a0": " ", "\u202f": " ", "\u2019": "'"}.get(thousands, thousands)
    if len(others) > 1 and thousands != " ":
        return None
    signs = Counter(
        text.strip() for match in matches for text in (match["before"], match["after"]) if text
    )
    negatives = sum("-" in value or "\u2212" in value or value.startswith("(") for value in values)
    is_whole = not any("." in number or "," in number for number in numbers)
    return AmountForm(
        decimal=decimal,
        thousands=thousands,
        currency=signs.most_common(1)[0][0] if signs else "",
        parentheses=any("(" in value for value in values),
        minor_units=is_whole
        and all(len(number) >= _LEAST_MINOR for number in numbers)
        and len({len(number) for number in numbers}) == 1,
        negative=negatives / len(values),
        is_whole=is_whole,
        is_sure=is_sure,
    )


def _decimal_mark(numbers: Sequence[str]) -> tuple[str, bool]:
    """Return the mark before the decimals; sure where a number can be read in one way only."""
    votes: Counter[str] = Counter()
    doubtful: Counter[str] = Counter()
    for number in numbers:
        marks = re.findall(r"[.,]", number)
        if not marks:
            continue
        last = marks[-1]
        behind = len(number) - number.rfind(last) - 1
        if marks.count(last) > 1 or (behind == 3 and len(set(marks)) == 1):  # noqa: PLR2004
            other = "," if last == "." else "."
            (votes if marks.count(last) > 1 else doubtful)[other] += 1
        else:
            votes[last] += 1
    chosen = votes or doubtful
    if not chosen:
        return ".", True
    return chosen.most_common(1)[0][0], bool(votes)


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
    # Cut where the kind of the characters in a place changes, and dates out of digits.
    lines = some[:_MOST_LINES]
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
    return FixedLines(widths=widths, lines=some, skip_lines=skipped, last=last)


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
