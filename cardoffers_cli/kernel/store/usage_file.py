"""The file of a usage journal: opened, found damaged, put aside.

SQLite keeps it, and has no checksums: rows that matter have a seal of their own, which the function
`seal` of a connection makes. What SQLite raises is raised as ours, and says which file it is.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from cardoffers_cli.kernel.store.engine_errors import not_permitted
from cardoffers_cli.kernel.store.identity import inode, is_mounted_read_only
from cardoffers_cli.kernel.store.layout import kept_name, usage_logs
from cardoffers_cli.kernel.store.statements import statement
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace, StoreBusy, StoreDamaged

IN_MEMORY = Path(":memory:")
"""The path of a journal that is no file."""

_LONGEST_WAIT_S = 10
_PRIMARY_CODE = 0xFF
"""The part of SQLite's error codes that says what; the rest says where."""
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
"""What SQLite says of a full disk itself: of its data, and of the file that processes share. With
other failures of reading, writing and opening it does not tell a full disk from a broken one."""
LOST = "counters of calls, and uses and failed uses of keys since the store was last told"
"""What is in a journal, and goes with it."""
_SCHEMA = ("make_calls", "index_calls", "make_uses", "make_failures", "index_failures")


def sql(name: str) -> str:
    """Return a statement of the journal."""
    return statement(f"kernel/store/usage_journal:{name}")


def put_aside(path: Path, opened: tuple[int, int] | None) -> None:
    """Keep a damaged journal under the date of its last change, unless another is there by now."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # a moment; whoever waits finds a new journal
        if opened is None or inode(path) != opened:
            return
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(tzinfo=None)
        new_path = kept_name(path, changed)
        for log, kept_log in zip(usage_logs(path), usage_logs(new_path), strict=True):
            with suppress(FileNotFoundError):
                log.rename(kept_log)  # first, or it would be read into the new journal
        path.rename(new_path)
    finally:
        os.close(folder)


def seal(*values: object) -> int:
    """Return what tells whether values are as they were written."""
    return zlib.crc32(repr(values).encode("utf-8", "surrogatepass"))


def connect(path: Path) -> sqlite3.Connection:
    """Open a journal, and make what it lacks; raises what SQLite raises."""
    if path != IN_MEMORY:
        with suppress(OSError):  # SQLite says why it cannot be made
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(
        path, timeout=_LONGEST_WAIT_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")  # a killed process loses nothing all the same
    connection.create_function("seal", -1, seal, deterministic=True)
    for name in _SCHEMA:
        connection.execute(sql(name))
    return connection


def of_sqlite(error: Exception, path: Path) -> CardoffersError:
    """Return what an error of SQLite means."""
    code = getattr(error, "sqlite_errorcode", 0)
    match code & _PRIMARY_CODE:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path} is busy.", hint="Try again.")
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if (
            code in _NO_ROOM or _is_full(path.parent)
        ):
            return NoSpace(f"The disk that holds {path} is full.", hint="Free some space.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN if (
            not os.access(path.parent, os.W_OK)
        ):
            return not_permitted(path.parent, is_mounted=is_mounted_read_only(path.parent))
        case _:
            return damaged(path, type(error).__name__)


def damaged(path: Path, how: str) -> StoreDamaged:
    """Return the error of a journal that is damaged."""
    return StoreDamaged(
        f"{path} cannot be used ({how}).",
        code="calls_damaged",
        hint=f"Stop what uses it and move it away: it will be made anew. It holds {LOST}.",
    )


def _is_full(folder: Path) -> bool:
    """Say whether a disk has no room left for data, or none for another file."""
    disk = os.statvfs(folder)
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)
