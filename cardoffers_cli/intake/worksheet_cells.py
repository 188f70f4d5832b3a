"""Read shared texts and cells of a workbook from the elements of its XML, as they are met."""

from __future__ import annotations

import tempfile
from array import array
from typing import TYPE_CHECKING

from cardoffers_cli.intake.lines import MAX_LINE_BYTES
from cardoffers_cli.kernel.sheets.cells import boolean_text, escaped_text
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.kernel.sheets.cells import CellForm
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
            self._begin_cell(attributes)
        elif name in {"v", "t"}:
            self._is_read = not self._is_sound
        elif name == "f":
            self._is_formula = True
        elif name == "rPh":
            self._is_sound = True
        elif name == "row":
            self._begin_row(attributes)

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

    def _begin_row(self, attributes: Mapping[str, str]) -> None:
        row = _number(attributes["r"]) if "r" in attributes else self._row + 1
        if not self._row < row <= MOST_ROWS:
            raise damaged("its rows are not in order")
        self._row, self._column, self._length, self._fields = row, 0, 0, []

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        column = self._column_of(attributes["r"]) if "r" in attributes else self._column + 1
        if not self._column < column <= MOST_COLUMNS:
            raise damaged("its cells are not in order")
        self._column = column
        self._kind = attributes.get("t", "n")
        style = _number(attributes["s"]) if "s" in attributes else 0
        self._form = self._forms[style] if style < len(self._forms) else None
        self._parts, self._size = [], 0
        self._is_formula = False

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
        return boolean_text(raw) if self._kind == "b" else raw


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
