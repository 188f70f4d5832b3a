"""One night at a time: who runs it, and at which step, for whoever wants to run it too.

A `flock` on `<store>.night` for the whole night; the store itself is open for single steps only.
The kernel frees it when its holder dies, however it dies; the text inside only tells who holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.domain.errors import StoreBusy
from cardoffers_cli.store.layout import night_path
from cardoffers_cli.store.lock import open_lock

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

_PAUSE_S = 0.2
_TEXT_BYTES = 512
"""The length of the text, always the same and written at once, so that nobody reads half of it."""


class NightLock:
    """The right to run the night of a store; waits up to `wait_s` seconds for it."""

    def __init__(self, store: Path, *, since: datetime, wait_s: float) -> None:
        self._path = night_path(store)
        self._wait_s = wait_s
        self._holder: dict[str, Any] = {
            "pid": os.getpid(),
            "host": socket.gethostname()[:64],
            "step": "begin",
            "run_id": None,
            "since": since.isoformat(timespec="seconds") + "Z",
        }
        self._descriptor = -1

    def __enter__(self) -> Self:
        self._descriptor = open_lock(self._path)
        try:
            self._wait()
        except BaseException:
            os.close(self._descriptor)
            raise
        self.at("begin")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def at(self, step: str) -> None:
        """Tell others which step the night is at; on a full disk nobody is told."""
        text = json.dumps({**self._holder, "step": step}).encode().ljust(_TEXT_BYTES)
        with suppress(OSError):
            os.pwrite(self._descriptor, text, 0)

    def of(self, run_id: object) -> None:
        """Note which night is being run, for whoever asks at the steps to come."""
        self._holder["run_id"] = str(run_id)

    def _wait(self) -> None:
        """Take the lock; look at least twice, as `night_holder` may have it for an instant."""
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() - began >= max(self._wait_s, _PAUSE_S):
                    raise self._busy() from None
                time.sleep(_PAUSE_S)
            else:
                return

    def _busy(self) -> StoreBusy:
        try:
            holder = _told(self._descriptor)
            who = "process {pid} on {host}, at the step {step}, since {since}".format(**holder)
        except (ValueError, KeyError):
            holder, who = {}, "another process"
        return StoreBusy(
            f"The nightly run is under way: it is {who}.",
            code="night_busy",
            hint="It needs no second one; --lock-wait SECONDS waits for its end.",
            holder=holder,
        )


def night_holder(store: Path) -> dict[str, Any] | None:
    """Return who runs a night of the store now, as far as it has told; None where nobody does.

    `run_id` is that of the night, `step` the one it is at.
    """
    try:
        descriptor = os.open(night_path(store), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with suppress(ValueError, OSError):
            return _told(descriptor)
        return {}
    else:
        return None
    finally:
        os.close(descriptor)


def _told(descriptor: int) -> dict[str, Any]:
    holder: dict[str, Any] = json.loads(os.pread(descriptor, _TEXT_BYTES, 0))
    return holder
