"""The texts that cells of a workbook stand for: numbers, dates, and what they are shown as.

A spreadsheet keeps numbers as doubles. A number becomes the shortest decimal that is this double,
so what was typed as 12.3 is 12.3 again, and a sum that missed it by a hair shows all its digits,
which the rules for amounts refuse. Of more than 15 digits a spreadsheet has lost some: such a
number is written as spreadsheets do, 4.12345678901234E+15, which no identifier may look like. A
date is a number that is shown as one: it is written YYYY-MM-DD, with HH:MM:SS where its cell shows
a time of day or has one; a time of day alone is HH:MM:SS. Numbers that are shown with leading zeros
have these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

MOST_DIGITS = 15
"""The digits that a spreadsheet keeps of a number."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]{1,3})?")
_PLAIN = re.compile(r"-?[1-9][0-9]{0,14}|0")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_BREAKS = re.compile(r"\r\n|[\r\n]")
_LITERAL = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_ZEROS = re.compile("0+")
_DATES = {*range(14, 18), 22, *range(27, 32), 36, *range(50, 55), 57, 58}
_CLOCKS = {*range(18, 23), *range(32, 36), 45, 46, 47, 55, 56}
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001  no zone is known
_LEAP_BUG = 60
_END_OF_DATES = 2_958_466
_MS_OF_DAY = 86_400_000


@dataclass(frozen=True, kw_only=True)
class CellForm:
    """How the numbers of a style are shown: as dates, times of day, or with so many digits."""

    has_date: bool = False
    has_clock: bool = False
    digits: int = 0


def form_of(number: str, code: str | None) -> CellForm | None:
    """Return how numbers of a format are shown, if not as plain ones.

    `number` is that of the format, `code` what it says where it is none of those built in.
    """
    if code is None:
        format_number = int(number) if number.isdecimal() else 0
        form = CellForm(has_date=format_number in _DATES, has_clock=format_number in _CLOCKS)
    else:
        pattern = _LITERAL.sub("", code).partition(";")[0].lower()
        clock = bool(re.search("[hs]", pattern))
        date = bool(re.search("[yd]", pattern)) or ("m" in pattern and not clock)
        digits = len(pattern) if _ZEROS.fullmatch(pattern) else 0
        form = CellForm(has_date=date, has_clock=clock, digits=digits)
    return None if form == CellForm() else form


def number_text(
    raw: str, form: CellForm | None, *, is_1904: bool = False, decimal: str = "."
) -> str:
    """Return the text of a number as it stands in a workbook, shown as `form` says.

    Days are counted from 1904 in the place of 1900 where `is_1904`. What is no number stays as it
    is.
    """
    if form is None and _PLAIN.fullmatch(raw):
        return raw
    if not _NUMBER.fullmatch(raw.strip()):
        return raw
    number = float(raw)
    if form and (form.has_date or form.has_clock):
        dated = _date_text(number, form, is_1904=is_1904)
        if dated is not None:
            return dated
    if abs(number) >= 10**MOST_DIGITS:
        return f"{number:.14E}"
    text = format(Decimal(repr(number)), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = "0" if text == "-0" else text.replace(".", decimal)
    return text.zfill(form.digits) if form and text.isdecimal() else text


def _date_text(serial: float, form: CellForm, *, is_1904: bool) -> str | None:
    """Return a day that is counted as spreadsheets do, None where there is none of that number."""
    if not 0 <= serial < _END_OF_DATES or (serial >= 1 and not form.has_date):
        return None
    days, clock = divmod(round(serial * _MS_OF_DAY), _MS_OF_DAY)
    moment = (_EPOCH_1904 if is_1904 else _EPOCH) + timedelta(days=days, milliseconds=clock)
    if not is_1904 and days < _LEAP_BUG:  # they take 1900 for a leap year
        moment += timedelta(days=1)
    time = f"{moment:%H:%M:%S}" + (f".{clock % 1000:03}" if clock % 1000 else "")
    if not form.has_date or (serial < 1 and form.has_clock):
        return time
    return f"{moment:%Y-%m-%d} {time}" if form.has_clock or clock else f"{moment:%Y-%m-%d}"


def boolean_text(raw: str) -> str:
    """Return a truth value as spreadsheets show it."""
    return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"


def escaped_text(text: str) -> str:
    """Return a text whose `_x000D_` are characters again, and whose line breaks are blanks.

    One line is one record: a break would cut the row, and where it does harm a blank is refused.
    """
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return _BREAKS.sub(" ", text) if "\n" in text or "\r" in text else text
