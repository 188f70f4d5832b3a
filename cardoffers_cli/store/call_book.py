"""The call book beside the store: what calls leave behind while somebody else holds the store.

A small SQLite file, `<store>.calls`, that processes and threads share and that outlives both:
the calls that count towards a limit, when each key was last used, and uses that failed. The store
is told of the last two by a job; a failure that repeats within a minute is one row that counts, so
that a flood cannot fill the disk. A crash of the machine may lose the last moments, not more.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from cardoffers_cli.domain.errors import NoSpace, StoreBusy, StoreDamaged
from cardoffers_cli.sql import statement
from cardoffers_cli.store.layout import book_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - moments are naive UTC
_TICK = timedelta(microseconds=1)
_TICKS_A_SECOND = 1_000_000
_SECONDS_A_MINUTE = 60
_LONGEST_WAIT_S = 10
_PRIMARY_CODE = 0xFF
"""The part of SQLite's error codes that says what; the rest says where."""
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
"""What SQLite says of a full disk itself: of its data, and of the file that processes share. With
other failures of reading, writing and opening it does not tell a full disk from a broken one."""
_SCHEMA = ("make_calls", "index_calls", "make_uses", "make_failures", "index_failures")


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


class CallBook:
    """The call book of a store; made when it is first opened. For any thread of the process."""

    def __init__(self, store_path: Path) -> None:
        self._path = book_path(store_path)
        self._turn = Lock()
        with self._guarded():
            self._connection = _connect(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

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
        with self._writing():
            # Twice the window, because the clock of another process may be behind.
            self._run("forget_calls", key_id=str(key_id), before=at - 2 * window)
            counted, leaves_first = self._run(
                "nearby_calls", key_id=str(key_id), now=at, window=window, most=most
            )[0]
            if counted >= most:
                return _seconds_until(leaves_first + window, at)
            self._run("count_call", key_id=str(key_id), now=at)
        return None

    def note_use(self, key_id: UUID, now: datetime) -> None:
        """Note that a key was used."""
        with self._writing():
            self._run("note_use", key_id=str(key_id), used_at=_ticks(now))

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
        with self._writing():
            self._run(
                "note_failure",
                event_id=str(event_id),
                code=code,
                key_id=str(key_id or ""),
                minute=at // (_SECONDS_A_MINUTE * _TICKS_A_SECOND),
                happened_at=at,
                institution_id=institution_id and str(institution_id),
                request_id=request_id,
            )

    def entries(self) -> Entries:
        """Return what the store is to be told; it stays here until it is forgotten."""
        with self._writing():
            self._run("close_failures")
            failures, uses = self._run("failures"), self._run("uses")
        return Entries(
            uses=tuple(_use(row) for row in uses),
            failures=tuple(_failure(row) for row in failures),
        )

    def forget(self, told: Entries) -> None:
        """Remove what the store was told; call it when the store has committed."""
        with self._writing():
            for use in told.uses:
                self._run("forget_use", key_id=str(use.key_id), used_at=_ticks(use.used_at))
            for failure in told.failures:
                self._run("forget_failure", event_id=str(failure.event_id))

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
        except sqlite3.Error as error:
            raise _ours(error, self._path) from error

    def _run(self, name: str, **values: Any) -> list[Any]:
        return self._connection.execute(statement(f"store/call_book:{name}"), values).fetchall()


def _connect(path: Path) -> sqlite3.Connection:
    with suppress(FileExistsError):  # SQLite's other files take this mode over
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(
        path, timeout=_LONGEST_WAIT_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")  # a killed process loses nothing all the same
    for name in _SCHEMA:
        connection.execute(statement(f"store/call_book:{name}"))
    return connection


def _ours(error: sqlite3.Error, path: Path) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0)
    match code & _PRIMARY_CODE:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path} is busy.", hint="Try again.")
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if (
            code in _NO_ROOM or _is_full(path.parent)
        ):
            return NoSpace(f"The disk that holds {path} is full.", hint="Free some space.")
        case _:
            return StoreDamaged(
                f"{path} cannot be used ({type(error).__name__}).",
                hint="Stop what uses it and remove it: it will be made anew. It holds counters, and"
                " failed uses of keys that the security log has not been told of.",
            )


def _is_full(folder: Path) -> bool:
    """Say whether a disk has no room left for data, or none for another file."""
    disk = os.statvfs(folder)
    return disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0)


def _ticks(moment: datetime) -> int:
    return (moment - _EPOCH) // _TICK


def _seconds_until(ticks: int, now: int) -> int:
    """Return whole seconds that are enough."""
    return -((now - ticks) // _TICKS_A_SECOND)


def _moment(ticks: int) -> datetime:
    return _EPOCH + ticks * _TICK


def _use(row: tuple[Any, ...]) -> Use:
    key_id, used_at = row
    return Use(key_id=UUID(key_id), used_at=_moment(used_at))


def _failure(row: tuple[Any, ...]) -> Failure:
    event_id, code, key_id, happened_at, institution_id, request_id, times = row
    return Failure(
        event_id=UUID(event_id),
        code=code,
        happened_at=_moment(happened_at),
        request_id=request_id,
        key_id=UUID(key_id) if key_id else None,
        institution_id=UUID(institution_id) if institution_id else None,
        times=times,
    )
