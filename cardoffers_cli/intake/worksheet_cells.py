"""Read shared texts and cells of a workbook from the elements of its XML, as they are met.

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
import tempfile
from array import array
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.intake.lines import MAX_LINE_BYTES
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.kernel.words.errors import FileUnusable


MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14
"""The rows and columns that a sheet can have."""

NO_RESULT = "#FORMULA!"
"""The text of a formula whose result is not kept in the workbook: no rule lets it pass."""

_LONG = 10


class SharedTexts:
    """The texts that cells name by their number, in a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - the workbook closes it
        self._ends = array("Q", [0])
        self._parts: list[str] = []
        self._length = 0
        self._is_read = False
        self._is_sound = False

    def start(self, name: str, _: Mapping[str, str]) -> None:
        """Meet the beginning of an element."""
        if name == "si":
            self._parts, self._length = [], 0
        elif name == "rPh":  # how a text is spoken
            self._is_sound = True
        elif name == "t":
            self._is_read = not self._is_sound

    def end(self, name: str) -> None:
        """Meet the end of an element."""
        if name == "si":
            text = escaped_text("".join(self._parts)).encode(errors="replace")
            self._file.write(text)
            self._ends.append(self._ends[-1] + len(text))
        elif name == "rPh":
            self._is_sound = False
        elif name == "t":
            self._is_read = False

    def text(self, text: str) -> None:
        """Meet a piece of text; what is longer than a line may be ends there."""
        if self._is_read and self._length <= MAX_LINE_BYTES:
            self._parts.append(text)
            self._length += len(text)

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self._ends) - 1:
            raise damaged("a cell names a text that is not there")
        start, end = self._ends[number], self._ends[number + 1]
        self._file.seek(start)
        return self._file.read(end - start).decode()

    def close(self) -> None:
        """Forget the texts."""
        self._file.close()


class CellReader:
    """The cells of a sheet as they are met; `rows` has those that are complete."""

    def __init__(
        self,
        texts: SharedTexts,
        forms: Sequence[CellForm | None],
        number: Callable[[str, CellForm | None], str],
    ) -> None:
        self.rows: list[tuple[int, list[str]]] = []
        self._texts = texts
        self._forms = forms
        self._number_text = number
        self._row = self._column = 0
        self._length = 0
        self._fields: list[str] = []
        self._columns: dict[str, int] = {}
        self._kind = "n"
        self._form: CellForm | None = None
        self._parts: list[str] = []
        self._size = 0
        self._is_read = self._is_formula = self._is_sound = self._is_in_rows = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Meet the beginning of an element, with its attributes."""
        if name == "sheetData":
            self._is_in_rows = True
        elif not self._is_in_rows:
            return
        elif name == "c":
            column = self._column_of(attributes["r"]) if "r" in attributes else self._column + 1
            if not self._column < column <= MOST_COLUMNS:
                raise damaged("its cells are not in order")
            self._column = column
            self._kind = attributes.get("t", "n")
            style = _number(attributes["s"]) if "s" in attributes else 0
            self._form = self._forms[style] if style < len(self._forms) else None
            self._parts, self._size = [], 0
            self._is_formula = False
        elif name in {"v", "t"}:
            self._is_read = not self._is_sound
        elif name == "f":
            self._is_formula = True
        elif name == "rPh":
            self._is_sound = True
        elif name == "row":
            row = _number(attributes["r"]) if "r" in attributes else self._row + 1
            if not self._row < row <= MOST_ROWS:
                raise damaged("its rows are not in order")
            self._row, self._column, self._length, self._fields = row, 0, 0, []

    def end(self, name: str) -> None:
        """Meet the end of an element."""
        if name == "c" and self._is_in_rows:
            self._end_cell()
        elif name in {"v", "t"}:
            self._is_read = False
        elif name == "rPh":
            self._is_sound = False
        elif name == "row" and self._is_in_rows:
            self.rows.append((self._row, self._fields))
        elif name == "sheetData":
            self._is_in_rows = False

    def text(self, text: str) -> None:
        """Meet a piece of text; what is longer than a line may be ends there."""
        if self._is_read and self._size <= MAX_LINE_BYTES:
            self._parts.append(text)
            self._size += len(text)

    def _column_of(self, reference: str) -> int:
        letters = reference.rstrip("0123456789")
        if letters not in self._columns:
            number = 0
            for letter in letters:
                if not "A" <= letter <= "Z" or number > MOST_COLUMNS:
                    raise damaged("a cell stands nowhere")
                number = number * 26 + ord(letter) - ord("A") + 1
            self._columns[letters] = number
        return self._columns[letters]

    def _end_cell(self) -> None:
        text = self._text()
        if not text or self._length > MAX_LINE_BYTES:
            return
        self._fields += [""] * (self._column - 1 - len(self._fields))
        self._fields.append(text)
        self._length += len(text)

    def _text(self) -> str:
        raw = "".join(self._parts)
        if self._kind in {"str", "inlineStr"}:
            return escaped_text(raw)
        if not raw.strip():
            return NO_RESULT if self._is_formula else ""
        if self._kind == "s":
            return self._texts[_number(raw.strip())]
        if self._kind == "n":
            return self._number_text(raw, self._form)
        if self._kind == "b":  # as spreadsheets show it
            return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"
        return raw


def _number(text: str) -> int:
    if len(text) < _LONG and text.isdecimal() and text.isascii():
        return int(text)
    raise damaged("a number in it is none")


def damaged(what: str) -> FileUnusable:
    """Make the error of a workbook in which something is not as in any other."""
    return unusable(
        "file_corrupt",
        f"The workbook is damaged: {what}.",
        hint="Save it again as .xlsx or .csv, and transfer it again.",
    )


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


def escaped_text(text: str) -> str:
    """Return a text whose `_x000D_` are characters again, and whose line breaks are blanks.

    One line is one record: a break would cut the row, and where it does harm a blank is refused.
    """
    if "_x" in text:
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    return _BREAKS.sub(" ", text) if "\n" in text or "\r" in text else text
