"""Files that are written whole or not at all, a sheet as CSV and Parquet, and what comes with us.

A file gets a temporary name in its own folder, is flushed to the disk and then renamed, so that a
reader never meets half of it and a failure leaves what was there before. The new name is on the
disk too before anybody is told of it.

A wheel carries `sample_data/` inside the package (`pyproject.toml` puts it there); in a checkout,
and so in an editable install, it lies beside the package.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import os
import re
import signal
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.kernel.disk.folders import sync_folder_if_possible
from cardoffers_cli.kernel.sheets.sheets import SHARES, Column, Row, Rows, Sheet, cell_text
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.money import AMOUNT_DIGITS, AMOUNT_SCALE
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl


_BATCH = 50_000
_TO_QUOTE = re.compile(r'[",\r\n]')
OWNER_ONLY = 0o600
_AS_UMASK_SAYS = 0o666


@contextmanager
def replacing(path: Path, *, mode: int | None = OWNER_ONLY) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when the block ends well, and not at all otherwise.

    Its mode is the one given, whatever the umask says; None is what the umask leaves. A pipe or a
    device is written to as it is.
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
        with _opened(draft, os.O_EXCL, _AS_UMASK_SAYS if mode is None else mode) as out:
            if mode is not None:
                os.fchmod(out.fileno(), mode)
            yield out
            out.flush()
            os.fsync(out.fileno())
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    sync_folder_if_possible(target.parent)


def _opened(path: Path, flags: int = os.O_TRUNC, mode: int = _AS_UMASK_SAYS) -> BinaryIO:
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, mode)
        return os.fdopen(opened, "wb")
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder.", code="is_folder", hint="Name a file.") from None
    except PermissionError:
        raise Refused(f"Writing in {path.parent} is not permitted.", code="permission") from None


def csv_lines(sheet: Sheet, *, guarded: bool = True) -> Iterator[str]:
    """Yield a sheet as lines of CSV, the header first.

    Guarded, no text is a spreadsheet's formula, and what acts on a terminal or hides is escaped.
    """
    for cells in sheet.lines(guarded=guarded):
        line = (",".join(map(csv_cell, cells)) or '""') + "\n"
        yield visible(line, keep="\t\n") if guarded else line


def csv_cell(cell: str) -> str:
    """Quote as RFC 4180 wants it; the csv module leaves a lone carriage return bare."""
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell


def write_frame(frame: pl.DataFrame, out: BinaryIO) -> None:
    """Write a frame as CSV, unguarded, some rows at a time.

    Given a file, polars writes past Python and calls a full disk an error of its own; so it is
    given none.
    """
    out.write(frame.clear().write_csv().encode())
    out.writelines(
        rows.write_csv(include_header=False).encode() for rows in frame.iter_slices(_BATCH)
    )


def write_parquet(sheet: Sheet, out: BinaryIO) -> None:
    """Write a sheet as Parquet: money decimal(18,4), numbers decimal(18,6), moments in UTC.

    Some rows at a time are in memory, each time a row group.
    """
    import polars as pl  # noqa: PLC0415  heavy
    from pyarrow import parquet  # noqa: PLC0415  heavy

    kinds: Mapping[str, Any] = {
        "text": pl.String(),
        "id": pl.String(),
        "integer": pl.Int64(),
        "money": pl.Decimal(AMOUNT_DIGITS, AMOUNT_SCALE),
        "moment": pl.Datetime("us"),
        "date": pl.Date(),
        "flag": pl.Boolean(),
        "number": pl.Decimal(18, 6),
        **dict.fromkeys(SHARES, pl.Decimal(18, 6)),
    }
    schema = {column.name: kinds[column.kind] for column in sheet.columns}
    moments = [column.name for column in sheet.columns if column.kind == "moment"]

    def group(batch: Rows) -> Any:
        values = {column.name: [_stored(column, row) for row in batch] for column in sheet.columns}
        frame = pl.DataFrame(values, schema=schema)
        in_utc = frame.with_columns(pl.col(moments).dt.replace_time_zone("UTC"))
        return in_utc.to_arrow(compat_level=pl.CompatLevel.oldest())

    rows = iter(sheet.rows)
    form = {"compression": "zstd", "store_decimal_as_integer": True}
    with parquet.ParquetWriter(out, group([]).schema, **form) as writer:
        while batch := list(islice(rows, _BATCH)):
            writer.write_table(group(batch))


def _stored(column: Column, row: Row) -> Any:
    value = column.value(row)
    if column.kind in {"text", "id"}:
        return None if value is None else cell_text(value)
    if column.kind == "number" and isinstance(value, float):
        return Decimal(repr(value)).quantize(Decimal("0.000001"))
    return value


# Who still has a file open for writing, as far as that can be seen.
#
# The kernel knows, for every process of the machine: it gives nobody a read lease on a file that is
# open for writing (fcntl(2), F_SETLEASE). It tells the owner of the file and root only; for anybody
# else, and on a disk without leases, the open files of the processes that may be looked at are
# looked through (proc(5)). A writer on another machine of a network disk is not seen.


_PROCESSES = Path("/proc")
_FLAGS = re.compile(r"^flags:\s*([0-7]+)$", re.MULTILINE)


def is_held_open(descriptor: int) -> bool | None:
    """Say whether anybody has an opened file open for writing; None where the kernel will not."""
    try:
        # Whoever opens it for writing while we have the lease makes a signal; this one is ignored.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def held_open_below(folder: Path) -> set[tuple[int, int]]:
    """Return what a process that may be looked at writes to below a folder: devices and inodes."""
    below = f"{folder.resolve()}/"
    return {file for process in _numbered(_PROCESSES) for file in _written_by(process, below)}


def _written_by(process: Path, below: str) -> Iterator[tuple[int, int]]:
    for entry in _numbered(process / "fd"):
        with suppress(OSError, ValueError):
            # Only what is below is looked at: a disk that does not answer would keep us waiting.
            if not str(entry.readlink()).startswith(below):
                continue
            flags = _FLAGS.search((process / "fdinfo" / entry.name).read_text("ascii"))
            if flags and int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                file_stat = entry.stat()
                yield file_stat.st_dev, file_stat.st_ino


def _numbered(folder: Path) -> Iterator[Path]:
    """Yield what has a number for its name; nothing of a folder that may not be looked at."""
    with suppress(OSError):
        yield from [entry for entry in folder.iterdir() if entry.name.isdecimal()]


_PACKAGE = Path(__file__).parents[2]


def sample_data() -> Path:
    """Return the folder of sample data that `cardoffers demo` runs on."""
    installed = _PACKAGE / "sample_data"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_data"


def copy_sample_data(folder: Path) -> None:
    """Copy the sample's catalogue and the files of its institutions into a folder."""
    for name in ("catalog", "transactions", "refunds", "credits"):
        copytree(sample_data() / name, folder / name, copy_function=_copied)


def _copied(source: str, target: str) -> str:
    with replacing(Path(target)) as out:
        out.write(Path(source).read_bytes())
    return target


def write_sample_tokens(folder: Path, name: str) -> tuple[str, str]:
    """Write the tokens of a cardholder of the sample, and of the card, as lines of a file."""
    with (folder / "catalog" / "links.csv").open(encoding="utf-8", newline="") as links:
        link = next(csv.DictReader(links))
    tokens = (link["cardholder_token"], link["card_token"])
    with replacing(folder / name) as out:
        out.write("\n".join((*tokens, "")).encode())
    return tokens


# Tables that stand as text beside the code: what is looked up, one thing a line.
#
# A file begins with what its lines mean; then come the tables, each below its name in brackets.


@cache
def read_tables(package: str, file: str) -> dict[str, list[str]]:
    """Return the lines of each table of a file in a package, by the name of the table."""
    text = files(package).joinpath(file).read_text("utf-8")
    parts = (part.partition("]\n") for part in text.split("\n[")[1:])
    return {name: lines.strip().split("\n") for name, _, lines in parts}
