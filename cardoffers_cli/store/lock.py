"""The lock beside the store: who holds it, and a wait that says so (rules.md#exclusive-work).

DuckDB locks its file too, but its lock names nobody, cannot be waited for, and is lost when the
same process opens and closes the file. So a `flock` on `<store>.lock` comes first. The kernel
frees it when its holder dies, however it dies; the text inside only tells who holds it: the newest
holder signs, readers too, and takes its signature away when it leaves.

A server takes and frees the lock all the time, and a job that only looked now and then would never
find it free. So whoever wants it takes `<store>.turn` first, and frees that once it has the lock:
who waits is next, and who comes later waits for the turn. The turn is a courtesy: a process that
was stopped while it waited keeps the others from a free store for a moment only.

Whoever holds the lock knows that the store is one file with one name (`identity.py`). A lock whose
file was removed meanwhile, or replaced, is no lock, and is taken again. Where nothing can be
written a reader does with the right to read: the lock is taken if its file is there, and on a disk
that is mounted for reading only the engine's own lock is enough, as nobody writes there.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from cardoffers_cli.domain.errors import Refused, StoreBusy
from cardoffers_cli.store import identity
from cardoffers_cli.store.engine_errors import not_permitted
from cardoffers_cli.store.layout import lock_path, turn_path

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5
_NEXT_PAUSE_S = 0.05
"""How often the one who is next looks: often, because it is alone."""
_COURTESY_S = 0.2
"""How long somebody else's turn is respected."""


class StoreLock:
    """One holder at a time, or several readers; waits up to `wait_s` seconds for its turn."""

    def __init__(
        self, store: Path, *, command: str, since: datetime, wait_s: float, shared: bool = False
    ) -> None:
        self._store = store
        self._path = lock_path(store)
        self._turn_path = turn_path(store)
        self._wait_s = wait_s
        self._is_shared = shared
        self._mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "command": command,
            "since": since.isoformat(timespec="seconds") + "Z",
        }
        self._signature = json.dumps(holder).encode()
        self._descriptor = -1

    def __enter__(self) -> Self:
        """Take the lock of a store that is one file with one name; raise what it is else."""
        if not self._is_shared:
            identity.check_writable(self._store)
        while not self._is_taken():
            pass
        return self

    def _is_taken(self) -> bool:
        """Take the lock; return whether it is still the one that others find."""
        self._descriptor = self._opened(self._path)
        is_ours = False
        try:
            self._wait()
            is_ours = self._descriptor < 0 or _is_at(self._descriptor, self._path)
            if is_ours:
                identity.check(self._store)
        except BaseException:
            _close(self._descriptor)
            raise
        if is_ours:
            self._sign()
        else:
            _close(self._descriptor)
        return is_ours

    def remove(self) -> None:
        """Remove the files of the lock that is held: there is no store that they would be of."""
        for path in (self._turn_path, self._path):
            path.unlink(missing_ok=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._strike_out()
        _close(self._descriptor)

    def _opened(self, path: Path) -> int:
        """Open a file to lock it; negative where a reader has to do without."""
        try:
            return open_lock(path)
        except Refused:
            if not self._is_shared:
                raise
            with suppress(OSError):
                return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            if path != self._turn_path and not identity.is_mounted_read_only(path.parent):
                raise
            return -1

    def _wait(self) -> None:
        turn = self._opened(self._turn_path)
        try:
            self._wait_for(turn)
        finally:
            _close(turn)  # and the turn passes on

    def _wait_for(self, turn: int) -> None:
        began = time.monotonic()
        courtesy_s = min(_COURTESY_S, self._wait_s)
        pause = _FIRST_PAUSE_S
        is_next = False
        while True:
            waited = time.monotonic() - began
            is_next = is_next or _locked(turn, fcntl.LOCK_EX)
            if (is_next or waited >= courtesy_s) and _locked(self._descriptor, self._mode):
                return
            if waited >= self._wait_s:
                raise busy(self._path, self._wait_s)
            time.sleep(min(pause * _spread(), self._wait_s - waited))
            pause = min(pause * 2, _NEXT_PAUSE_S if is_next else _LONGEST_PAUSE_S)

    def _sign(self) -> None:
        """Write who holds the lock; on a full disk it is held without a name."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, self._signature, 0)

    def _strike_out(self) -> None:
        """Take the signature away, unless another reader has signed meanwhile."""
        if os.pread(self._descriptor, len(self._signature) + 1, 0) == self._signature:
            os.ftruncate(self._descriptor, 0)


def open_lock(path: Path) -> int:
    """Open a file beside a store to lock it; raise `Refused` where nothing may be written."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise
        folder = path.parent
        is_mounted = identity.is_mounted_read_only(folder)
        raise not_permitted(folder, is_mounted=is_mounted) from None


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one that is at a path."""
    held = os.fstat(descriptor)
    return identity.inode(path) == (held.st_dev, held.st_ino)


def _locked(descriptor: int, mode: int) -> bool:
    """Lock a file, if nobody else has; what a reader could not open is free to it."""
    if descriptor < 0:
        return True
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _spread() -> float:
    """Return a factor between 0.5 and 1.5 of this process's own, so that waiters do not march."""
    return 0.5 + (os.getpid() % 101) / 100


def busy(lock: Path, waited_s: float) -> StoreBusy:
    """Build the refusal that names the holder written in the lock."""
    try:
        holder = json.loads(lock.read_text(encoding="utf-8"))
        who = "held by `{command}`, process {pid} on {host}, since {since}".format(**holder)
    except (OSError, ValueError, KeyError):
        holder, who = {}, "held by another process"
    return StoreBusy(
        f"The store is {who} (waited {waited_s:g} s).",
        hint="Try again when it has ended, or wait longer with --lock-wait SECONDS.",
        holder=holder,
    )
