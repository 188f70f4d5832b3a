"""The usage journal of the store: what calls leave behind while somebody else holds the store.

A small SQLite file that processes and threads share: the calls that count towards a limit, when
each key was last used, and uses that failed, of which a job tells the store; a failure that repeats
within a minute is one row that counts. A crash of the machine may lose the last moments. One that
is damaged makes no call fail: it is put aside, and a new one is begun. SQLite has no checksums, so
rows that matter have a seal of their own (`seal`). What is lost with a journal is the counters, and
the uses of keys since the store was last told; `faults` tells of it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import zlib
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from cardoffers_cli.kernel.store.engine_errors import not_permitted
from cardoffers_cli.kernel.store.identity import inode, is_mounted_read_only
from cardoffers_cli.kernel.store.layout import (
    kept_files,
    kept_name,
    make_folder,
    usage_logs,
    usage_path,
)
from cardoffers_cli.kernel.store.statements import statement
from cardoffers_cli.kernel.words.errors import CardoffersError, NoSpace, StoreBusy, StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ERRORS = sqlite3.Error
"""What SQLite raises of a journal that is damaged, or not there."""
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


def content(store: Path) -> bytes:
    """Return the journal of a store as one file; raises what SQLite raises, also without one."""
    uri = f"{usage_path(store).absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return connection.serialize()


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
    return StoreDamaged.from_table("kernel/store", "calls_damaged", path=path, how=how, lost=LOST)


def _is_full(folder: Path) -> bool:
    """Say whether a disk has no room left for data, or none for another file."""
    disk = os.statvfs(folder)
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)


_Done = TypeVar("_Done")

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - moments are naive UTC
_TICK = timedelta(microseconds=1)
_TICKS_A_SECOND = 1_000_000
_SECONDS_A_MINUTE = 60
PUT_ASIDE = "calls_put_aside"
"""What is known of a journal that was damaged: another one took its place."""
_THEN = "move it away once you have looked at it; `cardoffers audit list` has what was told before"


@dataclass(frozen=True, kw_only=True)
class Use:
    """When a key was last used."""

    key_id: UUID
    used_at: datetime


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Uses that failed for one reason within a minute; event and request are the first one's."""

    event_id: UUID
    code: str
    happened_at: datetime
    request_id: str
    key_id: UUID | None
    institution_id: UUID | None
    times: int


@dataclass(frozen=True, kw_only=True)
class Entries:
    """What the store is to be told."""

    uses: tuple[Use, ...]
    failures: tuple[Failure, ...]


class UsageJournal:
    """The usage journal of a store; made when it is first opened. For any thread of the process.

    Without a store it is one in memory, which is forgotten when it is closed. One that is damaged
    is put aside and begun anew, unless it is not to `repair`.
    """

    def __init__(self, store_path: Path | None, *, repair: bool = True) -> None:
        if store_path:
            make_folder(store_path)
        self._path = usage_path(store_path) if store_path else IN_MEMORY
        self._turn = Lock()
        with self._turn:
            try:
                self._open()
            except StoreDamaged:
                if not repair:
                    raise
                put_aside(self._path, self._inode)
                self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def is_in_place(self) -> bool:
        """Whether the book that is open is still the one that others open."""
        return self._path == IN_MEMORY or inode(self._path) == self._inode

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def take_turn(
        self, key_id: UUID, now: datetime, most: int = 60, window_s: int = 60
    ) -> int | None:
        """Count a call of a key and return None; or, if it is one too many, the seconds to wait.

        No window of `window_s` seconds ever holds more than `most` calls that were let through.
        """
        at, window = _ticks(now), window_s * _TICKS_A_SECOND

        def take() -> int | None:
            # Twice the window, because the clock of another process may be behind.
            self._run("forget_calls", key_id=str(key_id), before=at - 2 * window)
            counted, leaves_first = self._run(
                "nearby_calls", key_id=str(key_id), now=at, window=window, most=most
            )[0]
            if counted >= most:
                with self._understood():  # whole seconds that are enough
                    return -int((at - leaves_first - window) // _TICKS_A_SECOND)
            self._run("count_call", key_id=str(key_id), now=at)
            return None

        return self._do(take)

    def note_use(self, key_id: UUID, now: datetime) -> None:
        """Note that a key was used."""
        self._do(lambda: self._run("note_use", key_id=str(key_id), used_at=_ticks(now)))

    def note_failure(
        self,
        event_id: UUID,
        code: str,
        now: datetime,
        request_id: str,
        *,
        key_id: UUID | None = None,
        institution_id: UUID | None = None,
    ) -> None:
        """Note a use that failed; one like it in the same minute is counted with it."""
        at = _ticks(now)
        values = {
            "event_id": str(event_id),
            "code": code,
            "key_id": str(key_id or ""),
            "minute": at // (_SECONDS_A_MINUTE * _TICKS_A_SECOND),
            "happened_at": at,
            "institution_id": institution_id and str(institution_id),
            "request_id": request_id,
        }
        self._do(lambda: self._run("note_failure", **values))

    def entries(self) -> Entries:
        """Return what the store is to be told; it stays here until it is forgotten."""

        def read() -> Entries:
            self._run("close_failures")
            return self._entries()

        return self._do(read)

    def forget(self, entries: Entries) -> None:
        """Remove what the store was told; call it when the store has committed."""

        def forget() -> None:
            for use in entries.uses:
                self._run("forget_use", key_id=str(use.key_id), used_at=_ticks(use.used_at))
            for failure in entries.failures:
                self._run("forget_failure", event_id=str(failure.event_id))

        self._do(forget)

    def check(self) -> None:
        """Raise `StoreDamaged` where the journal is damaged; it stays as it is."""
        with self._writing():
            if self._connection.execute("pragma integrity_check").fetchall() != [("ok",)]:
                raise damaged(self._path, "integrity_check")
            self._entries()

    def _entries(self) -> Entries:
        """Read what is closed; raise `StoreDamaged` for a row that is not as it was written."""
        with self._understood():
            return Entries(
                uses=tuple(_use(row) for row in self._run("uses")),
                failures=tuple(_failure(row) for row in self._run("failures")),
            )

    def _open(self) -> None:
        with self._guarded():
            self._inode = inode(self._path)
            self._connection = connect(self._path)
            self._inode = inode(self._path)

    def _do(self, work: Callable[[], _Done]) -> _Done:
        """Do work as one step; where the journal is damaged, once more in a new one."""
        connection = self._connection
        try:
            with self._writing():
                return work()
        except StoreDamaged:
            # Another thread or process may have put the journal aside already.
            with self._turn:
                if self._connection is connection:
                    with suppress(sqlite3.Error):
                        connection.close()
                    put_aside(self._path, self._inode)
                    self._open()
            with self._writing():
                return work()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Do what follows as one step that no other process or thread comes between."""
        with self._turn, self._guarded():
            self._connection.execute("begin immediate")
            try:
                yield
                self._connection.commit()
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # its messages may quote what is there
            raise of_sqlite(error, self._path) from error

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """Raise `StoreDamaged` where values are none that were ever written."""
        try:
            yield
        except (ValueError, TypeError, OverflowError) as error:
            raise damaged(self._path, type(error).__name__) from error

    def _run(self, name: str, **values: Any) -> list[Any]:
        return self._connection.execute(sql(name), values).fetchall()


def faults(store: Path) -> list[dict[str, str]]:
    """Return what is known of books of a store that were damaged, and of one that is.

    What cannot be looked at now, as somebody has it or it may not be read, is not told of.
    """
    path = usage_path(store)
    common = {"lost": LOST, "then": _THEN}
    rows = [{"file": str(old_path), "fault": PUT_ASIDE, **common} for old_path in kept_files(path)]
    if path.exists():
        with suppress(CardoffersError, OSError):
            try:
                with UsageJournal(store, repair=False) as usage:
                    usage.check()
            except StoreDamaged as error:
                rows.append({"file": str(path), "fault": error.code, **common})
    return rows


def _ticks(moment: datetime) -> int:
    return (moment - _EPOCH) // _TICK


def _moment(ticks: int) -> datetime:
    return _EPOCH + ticks * _TICK


def _use(row: tuple[Any, ...]) -> Use:
    key_id, used_at, is_whole = row
    _must_be_whole(is_whole)
    return Use(key_id=UUID(key_id), used_at=_moment(used_at))


def _must_be_whole(is_whole: int) -> None:
    if not is_whole:
        raise ValueError


def _failure(row: tuple[Any, ...]) -> Failure:
    event_id, code, key_id, happened_at, institution_id, request_id, times, is_whole = row
    _must_be_whole(is_whole)
    return Failure(
        event_id=UUID(event_id),
        code=code,
        happened_at=_moment(happened_at),
        request_id=request_id,
        key_id=UUID(key_id) if key_id else None,
        institution_id=UUID(institution_id) if institution_id else None,
        times=times,
    )
