"""The lock beside the store: who holds it, and a wait that says so.

DuckDB locks its file too, but its lock names nobody, cannot be waited for, and is lost when the
same process opens and closes the file. So a `flock` on `<store>.lock` comes first. The kernel
frees it when its holder dies, however it dies; the text inside only tells who holds it: the newest
holder signs, readers too, and takes its signature away when it leaves.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Self

from cardoffers_cli.domain.errors import StoreBusy

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5


def lock_path(store: Path) -> Path:
    """Return the path of the lock of a store."""
    return store.with_name(store.name + ".lock")


class StoreLock:
    """One holder at a time, or several readers; waits up to `wait_s` seconds for its turn."""

    def __init__(
        self, store: Path, *, command: str, since: datetime, wait_s: float, shared: bool = False
    ) -> None:
        self._path = lock_path(store)
        self._wait_s = wait_s
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
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._wait()
        except BaseException:
            os.close(self._descriptor)
            raise
        self._sign()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._strike_out()
        os.close(self._descriptor)

    def _wait(self) -> None:
        deadline = time.monotonic() + self._wait_s
        pause = _FIRST_PAUSE_S
        while not self._taken():
            if time.monotonic() >= deadline:
                raise busy(self._path, self._wait_s)
            time.sleep(pause * _spread())
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._descriptor, self._mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _sign(self) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, self._signature, 0)

    def _strike_out(self) -> None:
        """Take the signature away, unless another reader has signed meanwhile."""
        if os.pread(self._descriptor, len(self._signature) + 1, 0) == self._signature:
            os.ftruncate(self._descriptor, 0)


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
