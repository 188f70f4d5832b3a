"""Amounts and days as people write them where they live, read for a search.

An amount: `41.50`, `41,50`, `£41.50`, `1.234,50 EUR`, `1,234.50`, `R$ 20`. Of two separators the
last one is the decimal one. One alone is that too, but for a comma, or several, before groups of
three: `1,234` is a thousand, but `0,500` a half, for no thousands begin with a zero.

A day: `2026-09-02`, `02.09.2026`, `2 Sep`, `Sep 2, 2026`, `2 de setembro`, `yesterday`. Without a
year it is the last such day up to today. `02/09/2026` is read where only one day can be meant.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.findings import Finding, make_finding
from cardoffers_cli.kernel.words.money import MINOR_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_SYMBOLS = re.compile(r"(?:R|US|MX|A|C|NZ)?[$£€¥₹₩₺]|zł|kr\.?|Fr\.?", re.IGNORECASE)
_CODE = re.compile(r"^([A-Za-z]{3})\b|\b([A-Za-z]{3})$")
_SPACES = re.compile(r"[\s'\u2019]+")
_NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{1,15})*", re.ASCII)
_GROUPS = re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*", re.ASCII)
_MOST_DECIMALS = 4

_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_DOTTED = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})?", re.ASCII)
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", re.ASCII)
_NAMED = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th|º|\.)?|([^\W\d]+)\.?)", re.IGNORECASE)
_DAYS_AGO = {"today": 0, "hoy": 0, "hoje": 0, "yesterday": 1, "ayer": 1, "ontem": 1}
_MONTHS = (
    "january enero janeiro",
    "february febrero fevereiro",
    "march marzo março",
    "april abril",
    "may mayo maio",
    "june junio junho",
    "july julio julho",
    "august agosto",
    "september setiembre septiembre setembro",
    "october octubre outubro",
    "november noviembre novembro",
    "december diciembre dezembro",
)
_LETTERS = 3
"""Letters of a month's name that are enough."""
_LAST_MONTH = 12
_CENTURY = 2000


def read_amount(text: str) -> Decimal:
    """Read an amount, whatever its currency; raise `ValueError` with what to write."""
    bare = _SYMBOLS.sub(" ", text.strip()).strip()
    code = _CODE.search(bare)
    if code and (code[1] or code[2]).upper() in MINOR_UNITS:
        bare = _CODE.sub("", bare, count=1)
    bare = _SPACES.sub("", bare)
    if not _NUMBER.fullmatch(bare):
        raise ValueError(f"{text!r} is no amount; write 12.50 or 12,50")
    return Decimal(_with_point(bare, text))


def _with_point(number: str, text: str) -> str:
    last = max(number.rfind("."), number.rfind(","))
    if last < 0:
        return number
    mark = number[last]
    grouped = _GROUPS.fullmatch(number)
    if grouped and (mark == "," or number.count(mark) > 1):
        return number.replace(mark, "")
    other = "," if mark == "." else "."
    integer, decimals = number[:last], number[last + 1 :]
    is_plain = integer.isdigit() or re.fullmatch(rf"[1-9]\d{{0,2}}(?:\{other}\d{{3}})+", integer)
    if not is_plain or len(decimals) > _MOST_DECIMALS:
        raise ValueError(f"{text!r} is no amount; write 12.50 or 12,50")
    return f"{integer.replace(other, '')}.{decimals}"


def read_day(text: str, today: date) -> date:
    """Read a day; raise `ValueError` with what to write."""
    words = text.strip().lower()
    if words in _DAYS_AGO:
        return today - timedelta(days=_DAYS_AGO[words])
    try:
        return _numbered(words, text, today) or _named(words, today)
    except (ValueError, KeyError) as error:
        message = f"{text!r} is no day; write 2026-03-01, 01.03.2026, 1 Mar or yesterday"
        raise ValueError(str(error) if isinstance(error, _Ambiguous) else message) from None


class _Ambiguous(ValueError):
    """A day that can be two days."""


def _numbered(words: str, text: str, today: date) -> date | None:
    """Return the day of one in numbers, None for another."""
    if match := _ISO.fullmatch(words):
        return date(*map(int, match.groups()))
    if match := _DOTTED.fullmatch(words):
        return _dated(int(match[1]), int(match[2]), match[3], today)
    if match := _SLASHED.fullmatch(words):
        first, second, year = map(int, match.groups())
        if first <= _LAST_MONTH and second <= _LAST_MONTH and first != second:
            readings = sorted(date(year, *pair) for pair in ((first, second), (second, first)))
            raise _Ambiguous(f"{text!r} can be {readings[0]} or {readings[1]}; write that")
        month, day = (second, first) if second <= _LAST_MONTH else (first, second)
        return date(year, month, day)
    return None


def _named(words: str, today: date) -> date:
    """Return the day of one with a month's name, in any order; the year last."""
    parts = [part for part in re.split(r"[\s,]+", words) if part not in {"", "de", "of"}]
    year = parts.pop() if len(parts) == 3 else None  # noqa: PLR2004  day, month and year
    if year is not None and not re.fullmatch(r"\d{4}", year, re.ASCII):
        raise ValueError(year)
    matches = [_NAMED.fullmatch(part) for part in parts]
    days = [int(part[1]) for part in matches if part and part[1]]
    months = [_month(part[2]) for part in matches if part and part[2]]
    (day,), (month,) = days, months
    return _dated(day, month, year, today)


def _month(name: str) -> int:
    if len(name) < _LETTERS:
        raise ValueError(name)
    for number, names in enumerate(_MONTHS, start=1):
        if any(word.startswith(name) for word in names.split()):
            return number
    raise ValueError(name)


def _dated(day: int, month: int, year: str | None, today: date) -> date:
    """Return a date; without a year the last such one, not after today."""
    if year is not None:
        return date(int(year) + (_CENTURY if len(year) < len("2026") else 0), month, day)
    for back in range(9):  # 29 February is at most eight years ago
        try:
            candidate = date(today.year - back, month, day)
        except ValueError:
            continue
        if candidate <= today:
            return candidate
    raise ValueError(day)


# Whether a spreadsheet has dropped leading zeros: the lengths of what stands in the columns say.
#
# A column whose values mostly have one length, and some of whose others are shorter numbers, has
# lost zeros where that length is set: 15 of an acceptor (ISO 8583, field 42), 4 of a category. Of
# other columns it is told by what is left: most are numbers, none begins with a zero, and the
# shorter ones, a few digits shorter, do not all begin with 9, as they would where a counter has
# just passed a power of ten. It stays a warning: numbers that are drawn from a range look the same.


LOOKED_AT = 200
"""Of so many values of each stretch it is seen whether they are numbers."""

_SET = {"card_acceptor_id": 15, "mcc": 4}
"""The columns whose length is set."""

_LEAST = 10
"""The shortest length that is taken for one: shorter numbers are counted from 1."""

_MOST_LOST = 6


class LostZeros:
    """The lengths of the values of one file, and the shorter numbers among them, by column."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._lengths = {name: Counter[int]() for name in columns}
        self._shorter = {name: Counter[tuple[int, str]]() for name in columns}
        self._are_numbers = {name: Counter[bool]() for name in columns}

    def longest_of(self, name: str, lengths: Counter[int]) -> int | None:
        """Count the lengths of a stretch of a column; return the longest so far if any is shorter.

        Then the shorter numbers are to be counted too (`count_shorter`).
        """
        self._lengths[name] += lengths
        longest = max([*self._lengths[name], _SET.get(name, 0)])
        return longest if min(lengths) < longest else None

    def count_shorter(
        self, name: str, shorter: Counter[tuple[int, str]], are_numbers: Iterable[bool]
    ) -> None:
        """Count numbers of a stretch that are shorter than the longest, by length and first digit.

        What begins with a zero is counted whatever it is: there they were kept. `are_numbers` says
        it of the first `LOOKED_AT` values.
        """
        self._shorter[name] += shorter
        self._are_numbers[name].update(are_numbers)

    def findings(self) -> list[Finding]:
        """Return a warning for each column that looks cut."""
        return [
            make_finding(
                "leading_zeros_lost",
                f"some {name} are numbers of fewer than {length} digits, and most have {length}",
                column=name,
            )
            for name in self.columns
            if (length := self._usual(name)) and self._is_cut(name, length)
        ]

    def _usual(self, name: str) -> int | None:
        """Return the length that more than half of the values have, if it can be that of all."""
        counts = self._lengths[name]
        length = _SET.get(name) or max(counts, key=counts.__getitem__, default=0)
        is_usual = counts[length] * 2 > counts.total()
        return length if is_usual and (name in _SET or length >= _LEAST) else None

    def _is_cut(self, name: str, length: int) -> bool:
        numbers = self._shorter[name]
        if name in _SET:
            return any(own < length for own, _ in numbers)
        firsts = {first for own, first in numbers if length - _MOST_LOST <= own < length}
        are_numbers = self._are_numbers[name]
        return (
            not firsts <= {"9"}
            and all(first != "0" for _, first in numbers)
            and are_numbers[True] > are_numbers[False]
        )
