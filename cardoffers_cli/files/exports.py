"""Files that are written whole or not at all, and the forms of a sheet in files.

A file gets a temporary name in its own folder, is flushed to the disk and then renamed, so that a
reader never meets half of it and a failure leaves what was there before.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.domain.errors import Refused, UsageError
from cardoffers_cli.domain.money import AMOUNT_DIGITS, AMOUNT_SCALE
from cardoffers_cli.files.sheets import Column, Row, Sheet, cell_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BATCH = 50_000
_TO_QUOTE = re.compile(r'[",\r\n]')
_OWNER_ONLY, _AS_UMASK_SAYS = 0o600, 0o666


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when the block ends well, and not at all otherwise.

    The mode is what the umask leaves, or the owner's only. A pipe or a device is written to as it
    is.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with _opened(target) as out:
            yield out
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    with suppress(OSError):
        draft.unlink()
    try:
        with _opened(draft, os.O_EXCL, _OWNER_ONLY if private else _AS_UMASK_SAYS) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def _opened(path: Path, flags: int = os.O_TRUNC, mode: int = _AS_UMASK_SAYS) -> BinaryIO:
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, mode)
        return os.fdopen(opened, "wb")
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder.", code="is_folder", hint="Name a file.") from None
    except PermissionError:
        raise Refused(f"Writing in {path.parent} is not permitted.", code="permission") from None


def csv_lines(sheet: Sheet, *, guarded: bool = True) -> Iterator[str]:
    """Yield a sheet as lines of CSV, the header first."""
    for cells in sheet.lines(guarded=guarded):
        yield (",".join(map(_csv_cell, cells)) or '""') + "\n"


def _csv_cell(cell: str) -> str:
    """Quote as RFC 4180 wants it; the csv module leaves a lone carriage return bare."""
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell


def write_parquet(sheet: Sheet, out: BinaryIO) -> None:
    """Write a sheet as Parquet: money decimal(18,4), numbers decimal(18,6), moments in UTC."""
    import polars as pl  # noqa: PLC0415  heavy

    kinds: dict[str, Any] = {
        "text": pl.String(),
        "integer": pl.Int64(),
        "money": pl.Decimal(AMOUNT_DIGITS, AMOUNT_SCALE),
        "moment": pl.Datetime("us"),
        "date": pl.Date(),
        "flag": pl.Boolean(),
        "number": pl.Decimal(18, 6),
    }
    schema = {column.name: kinds[column.kind] for column in sheet.columns}
    frames = [pl.DataFrame(schema=schema)]
    rows = iter(sheet.rows)
    while batch := list(islice(rows, _BATCH)):
        values = {column.name: [_stored(column, row) for row in batch] for column in sheet.columns}
        frames.append(pl.DataFrame(values, schema=schema))
    moments = [column.name for column in sheet.columns if column.kind == "moment"]
    frame = pl.concat(frames).with_columns(pl.col(moments).dt.replace_time_zone("UTC"))
    frame.write_parquet(out)


def _stored(column: Column, row: Row) -> Any:
    value = column.value(row)
    if column.kind == "text":
        return None if value is None else cell_text(value)
    if column.kind == "number" and isinstance(value, float):
        return Decimal(repr(value)).quantize(Decimal("0.000001"))
    return value


def write_xlsx(sheets: Sequence[Sheet], out: BinaryIO, *, guarded: bool = True) -> None:
    """Write sheets as a workbook: real numbers and dates, text as text, a header that stays."""
    try:
        import xlsxwriter  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
    except ImportError:
        raise UsageError(
            "Workbooks need the extra xlsx.",
            code="extra_missing",
            hint="pip install 'cardoffers-cli[xlsx]', or choose csv.",
        ) from None
    draft = BytesIO()  # a pipe cannot take a zip, and a zip not a full disk
    with TemporaryDirectory(prefix="cardoffers-") as folder:
        book = xlsxwriter.Workbook(draft, {"constant_memory": True, "tmpdir": folder})
        try:
            for sheet in sheets:
                _Page(book, sheet, guarded=guarded).write()
        finally:
            _close(book)
    out.write(draft.getbuffer())


def _close(book: Any) -> None:
    """Close a workbook and its drafts; a full disk is an error of the system as elsewhere."""
    from xlsxwriter import exceptions  # noqa: PLC0415

    try:
        book.close()
    except exceptions.FileCreateError as error:
        raise OSError(*error.args[0].args) from None


class _Page:
    """One worksheet while it is written, row by row."""

    MOMENT = "yyyy-mm-dd hh:mm:ss.000"
    DATE = "yyyy-mm-dd"
    MAX_ROWS = 1_048_576
    MAX_TEXT = 32_767
    MAX_DIGITS = 15

    def __init__(self, book: Any, sheet: Sheet, *, guarded: bool) -> None:
        self._book = book
        self._sheet = sheet
        self._guarded = guarded
        self._page = book.add_worksheet(sheet.name[:31])
        self._formats: dict[str, Any] = {}

    def write(self) -> None:
        bold = self._book.add_format({"bold": True})
        self._page.freeze_panes(1, 0)
        for position, column in enumerate(self._sheet.columns):
            self._page.set_column(position, position, 24 if column.kind != "integer" else 12)
            self._page.write_string(0, position, column.name, bold)
        for line, row in enumerate(self._sheet.rows, start=1):
            if line >= self.MAX_ROWS:
                raise _too_large("more rows")
            for position, column in enumerate(self._sheet.columns):
                self._write_cell(line, position, column, row)

    def _write_cell(self, line: int, position: int, column: Column, row: Row) -> None:
        value = column.value(row)
        match value:
            case None:
                return
            case datetime():
                self._page.write_datetime(line, position, value, self._format(self.MOMENT))
            case date():
                self._page.write_datetime(line, position, value, self._format(self.DATE))
            case bool():
                self._page.write_boolean(line, position, value)
            case int() | Decimal() | float() if self._fits(value):
                self._page.write_number(line, position, value, self._format(_digits(value)))
            case _:
                text = column.cell(row, guarded=self._guarded)
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
    return UsageError(
        f"There is {what} than a worksheet can hold.",
        code="worksheet_full",
        hint="Choose csv or parquet.",
    )
