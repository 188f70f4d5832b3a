"""Sheets as a workbook: real numbers and dates, text as text, a header that stays.

A sheet whose money adds up (`Sheet.totals_by`) is followed by a worksheet of its totals. They do
not stand below the rows: there they would be sorted, filtered and added up with them, and money has
a total in each currency.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.kernel.sheets.sheets import SHARES, Column, Row, Sheet, cell_text, guarded_text
from cardoffers_cli.kernel.words.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cardoffers_cli.kernel.sheets.sheets import Row


def write_xlsx(sheets: Sequence[Sheet], out: BinaryIO, *, guarded: bool = True) -> None:
    """Write each sheet as a worksheet, and its totals as another if it has any.

    Raises `UsageError` for what no worksheet can hold.
    """
    try:
        import xlsxwriter  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError.from_table("kernel/sheets", "extra_missing") from None
    draft = BytesIO()  # a pipe cannot take a zip, and a zip not a full disk
    with TemporaryDirectory(prefix="cardoffers-") as folder:
        book = xlsxwriter.Workbook(draft, {"constant_memory": True, "tmpdir": folder})
        try:
            for sheet in sheets:
                totals = Totals(sheet)
                seen = replace(sheet.for_people(), rows=totals.watched(sheet.rows_for_people()))
                _Page(book, seen, guarded=guarded).write()
                if sheet.totals_by:
                    _Page(book, totals.sheet(), guarded=guarded).write()
        finally:
            # A full disk is an error of the system as elsewhere.
            from xlsxwriter import exceptions  # noqa: PLC0415

            try:
                book.close()
            except exceptions.FileCreateError as error:
                raise OSError(*error.args[0].args) from None
    out.write(draft.getbuffer())


class _Page:
    """One worksheet while it is written, row by row."""

    MOMENT = "yyyy-mm-dd hh:mm:ss.000"
    DATE = "yyyy-mm-dd"
    PERCENT = "0.0%"
    MAX_ROWS = 1_048_576
    MAX_TEXT = 32_767
    MAX_DIGITS = 15
    MAX_WIDTH, MARGIN = 60, 2
    EVERYWHERE = f"A1:XFD{MAX_ROWS}"

    def __init__(self, book: Any, sheet: Sheet, *, guarded: bool) -> None:
        self._book = book
        self._sheet = sheet
        self._guarded = guarded
        self._page = book.add_worksheet(sheet.name[:31])
        self._widths = [len(column.name) for column in sheet.columns]
        self._formats: dict[str, Any] = {}

    def write(self) -> None:
        bold = self._book.add_format({"bold": True})
        self._page.freeze_panes(1, 0)
        self._page.ignore_errors({"number_stored_as_text": self.EVERYWHERE})  # ids are meant to be
        for position, column in enumerate(self._sheet.columns):
            self._page.write_string(0, position, column.name, bold)
        for line, row in enumerate(self._sheet.rows, start=1):
            if line >= self.MAX_ROWS:
                raise _too_large("more rows")
            for position, column in enumerate(self._sheet.columns):
                self._write_cell(line, position, column, row)
        for position, width in enumerate(self._widths):
            self._page.set_column(position, position, min(width, self.MAX_WIDTH) + self.MARGIN)

    def _write_cell(self, line: int, position: int, column: Column, row: Row) -> None:
        value = column.value(row)
        text = guarded_text(value) if self._guarded else cell_text(value)
        self._widths[position] = max(self._widths[position], len(text))
        match value:
            case None:
                return
            case datetime():
                self._page.write_datetime(line, position, value, self._format(self.MOMENT))
            case date():
                self._page.write_datetime(line, position, value, self._format(self.DATE))
            case bool():
                self._page.write_boolean(line, position, value)
            case Decimal() if column.kind in SHARES:
                self._page.write_number(line, position, value, self._format(self.PERCENT))
            case int() | Decimal() | float() if self._fits(value):
                self._page.write_number(line, position, value, self._format(_digits(value)))
            case _:
                if len(text) > self.MAX_TEXT:
                    raise _too_large("a longer text")
                self._page.write_string(line, position, text)

    def _fits(self, value: float | Decimal) -> bool:
        """Whether a spreadsheet, which counts in doubles, keeps every digit."""
        return len(cell_text(value).strip("-0.").replace(".", "")) <= self.MAX_DIGITS

    def _format(self, form: str) -> Any:
        if form not in self._formats:
            self._formats[form] = self._book.add_format({"num_format": form})
        return self._formats[form]


def _digits(value: float | Decimal) -> str:
    places = len(cell_text(value).partition(".")[2])
    return f"0.{'0' * places}" if places else "0"


def _too_large(what: str) -> UsageError:
    return UsageError.from_table("kernel/sheets", "worksheet_full", what=what)


_LONGEST_NAME = 31
"""Letters of the name of a worksheet."""
_SUFFIX = " totals"


class Totals:
    """The sums of every column of money, apart by the columns that `Sheet.totals_by` names."""

    def __init__(self, sheet: Sheet) -> None:
        self._name = sheet.name[: _LONGEST_NAME - len(_SUFFIX)] + _SUFFIX
        self._by = [column for column in sheet.columns if column.name in sheet.totals_by]
        self._money = [column for column in sheet.columns if column.kind == "money"]
        self._groups: dict[tuple[str, ...], dict[str, Any]] = {}

    def watched(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows as they come, and add each up."""
        for row in rows:
            key = tuple(column.cell(row) for column in self._by)
            if key not in self._groups:
                first = {column.name: column.value(row) for column in self._by}
                nothing = dict.fromkeys((column.name for column in self._money), Decimal(0))
                self._groups[key] = {**first, "rows": 0, **nothing}
            group = self._groups[key]
            group["rows"] += 1
            for column in self._money:
                group[column.name] += column.value(row) or 0
            yield row

    def sheet(self) -> Sheet:
        """Return what was added up so far: a row for each group, and how many rows it has."""
        columns = (*self._by, Column("rows", kind="integer"), *self._money)
        return Sheet(self._name, columns, [group for _, group in sorted(self._groups.items())])
