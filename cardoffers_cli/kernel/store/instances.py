"""Instances of the engine, which are used again: to make one costs five times what a file does.

An instance has one file open at a time, for one connection or several, so its limits are those of
one store, and what breaks it breaks that store only. It is used again if nothing is left in it: no
other file, no file system, no folder that it spilled to; and if it did not take much memory, of
which the machine has all back only when the instance ends.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock, local
from typing import TYPE_CHECKING, Any

import duckdb

from cardoffers_cli.kernel.store.statements import statement

if TYPE_CHECKING:
    from collections.abc import Iterator

Connection = duckdb.DuckDBPyConnection
Config = dict[str, Any]

IN_MEMORY = ":memory:"
_LITTLE = 32 << 20
"""Bytes of memory that an instance may keep while no file is open in it."""
_MOST_IDLE = 2
"""A process reads the snapshot while it writes the store, and hardly opens a third file."""


@dataclass(eq=False)
class Instance:
    """An instance, and how many use the file that it has open; the lock is for opening it."""

    config: Config
    read_only: bool
    root: Connection | None = None
    is_open: bool = False
    users: int = 0
    lock: Lock = field(default_factory=Lock)

    def connect(self, path: str, spill_to: str) -> Connection:
        """Return a new connection to the file, which is opened if it is not."""
        with self.lock:
            if self.root is None:
                self.root = duckdb.connect(IN_MEMORY, config=self.config)
            if not self.is_open:
                _run(self.root, "spill_to", path=spill_to)
                _run(self.root, "attach_read_only" if self.read_only else "attach", path=path)
                self.is_open = True
            connection = self.root.cursor()
            _run(connection, "use")
            return connection

    def leave(self) -> None:
        """Close the file; of an instance that cannot be used again nothing is left."""
        if self.root is None:
            return
        try:
            ((is_empty,),) = _run(self.root, "holds_little", most_bytes=_LITTLE)
            is_empty = is_empty and not self.root.list_filesystems()
            if self.is_open:
                _run(self.root, "detach")
            _run(self.root, "spill_to", path="")
        except duckdb.Error:  # it failed, or has spilled; closing tells of no failure
            is_empty = False
        self.is_open = False
        if not is_empty:
            root, self.root = self.root, None
            root.close()


@dataclass
class Opened:
    """A connection to a file, to be closed here."""

    connection: Connection
    instance: Instance
    place: object

    def close(self) -> None:
        """Close the connection, and the file behind the last one to it."""
        self.connection.close()
        # Python may collect a store that nobody closed at any time, also while this thread is in
        # here and has a lock: what is noted then is left once it is done.
        _DONE_WITH.append((self.instance, self.place))
        _leave_all()


class _ThreadState(local):
    """What one thread is at."""

    is_busy = False


_LOCK = Lock()
_HERE = _ThreadState()
_DONE_WITH: deque[tuple[Instance, object]] = deque()
_OPEN: dict[object, Instance] = {}
_IDLE: list[Instance] = []
atexit.register(_IDLE.clear)  # the engine writes to stderr where Python ends before it


def connect(path: str, config: Config, *, read_only: bool, spill_to: str) -> Opened:
    """Open a file, or an empty database in memory, and spill to this folder.

    In one process a file is never open twice: closing one would free the lock of the other. Raises
    what the engine raises.
    """
    place: object = object() if path == IN_MEMORY else os.path.realpath(path)
    try:
        with _at_work():
            with _LOCK:
                instance = _OPEN.get(place) or _OPEN.setdefault(place, _unused(config, read_only))
                if instance.read_only != read_only:
                    raise duckdb.ConnectionException(f"{path} is open already, in another mode")
                instance.users += 1
            try:
                return Opened(instance.connect(path, spill_to), instance, place)
            except BaseException:
                _DONE_WITH.append((instance, place))
                raise
    finally:
        _leave_all()


def _unused(config: Config, read_only: bool) -> Instance:
    instance = next((candidate for candidate in _IDLE if candidate.config == config), None)
    if instance is None:
        return Instance(config, read_only)
    _IDLE.remove(instance)
    instance.read_only = read_only
    return instance


def _leave_all() -> None:
    while _DONE_WITH and not _HERE.is_busy:
        with _at_work(), suppress(IndexError):  # another thread may have taken the last one
            _leave(*_DONE_WITH.popleft())


@contextmanager
def _at_work() -> Iterator[None]:
    """Keep what is collected meanwhile from being left by this thread."""
    _HERE.is_busy = True
    try:
        yield
    finally:
        _HERE.is_busy = False


def _leave(instance: Instance, place: object) -> None:
    with instance.lock:
        with _LOCK:
            instance.users -= 1
            if instance.users:
                return
        instance.leave()
        with _LOCK:
            if instance.users:  # somebody waits for the lock to open it again
                return
            del _OPEN[place]
            if instance.root is not None:
                _IDLE.append(instance)
            del _IDLE[:-_MOST_IDLE]


def _run(connection: Connection, name: str, **parameters: str | int) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(
        statement(f"kernel/store/instances:{name}"), parameters or None
    ).fetchall()
    return rows
