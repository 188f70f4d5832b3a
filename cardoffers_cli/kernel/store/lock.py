"""The locks of a store: who does what alone, and a wait that says so (rules.md#exclusive-work).

Each is a `flock` on a file in the store's folder, which the kernel frees when its holder dies. The
text inside only tells who holds it. DuckDB's own lock names nobody, cannot be waited for, and is
lost when the same process opens and closes the file.

A server has the store almost all the time, so whoever wants it takes the turn first, and is next. A
holder that `gives_way` looks whether anybody has the turn (`is_wanted`), and lets go once what it
is at is done. A lock whose file was removed or replaced meanwhile is taken again. Where nothing can
be written a reader does with the right to read.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.store.engine_errors import not_permitted
from cardoffers_cli.kernel.store.identity import inode, is_mounted_read_only
from cardoffers_cli.kernel.store.layout import make_folder
from cardoffers_cli.kernel.words.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 0.5
_NEXT_PAUSE_S = 0.01
"""How often the one who is next looks: often, because it is alone."""
_GIVING_WAY_S = 5.0
"""How long at least everybody waits for a holder that gives way: it does once its calls have their
answers, which takes a fiftieth of this, but for the largest batches and on a busy machine."""
_COURTESY_S = 0.2
"""How long somebody else's turn is respected."""
_GLANCE_S = 0.2
"""How long a night looks at the least: `night_holder` may have its lock for an instant. So long
everybody waits for a holder that never had a name: it has just come, or just gone."""
_TEXT_BYTES = 512
"""The length of the text, always the same and written at once, so that nobody reads half of it."""

Holder = dict[str, Any]
_GIVES_WAY = "gives_way"


@dataclass
class Lock:
    """A right of one holder at a time, or of several readers; waits up to `wait_s` seconds for it.

    `path_of` is asked for the path of its file each time, since a store's files may have moved;
    `busy` makes the refusal of who else holds it. With `turn_of` those who wait stand in line, and
    the holder can see whether anybody does.
    """

    store: Path
    path_of: Callable[[Path], Path]
    busy: Callable[[Holder, float], StoreBusy]
    holder: Holder
    wait_s: float = 0
    shared: bool = False
    turn_of: Callable[[Path], Path] | None = None
    _descriptor: int = field(default=-1, init=False)
    _signature: bytes = field(default=b"", init=False)

    def __enter__(self) -> Self:
        while not self._is_taken():
            pass
        self.tell()
        return self

    def __exit__(self, *_raised: object) -> None:
        with suppress(OSError):  # take the signature away, unless another reader has signed
            if os.pread(self._descriptor, len(self._signature), 0) == self._signature:
                os.ftruncate(self._descriptor, 0)
        _close(self._descriptor)

    def tell(self, **more: str) -> None:
        """Write who holds the lock, and what it is at; on a full disk nobody is told."""
        self.holder |= more
        self._signature = json.dumps(self.holder).encode().ljust(_TEXT_BYTES)
        with suppress(OSError):
            os.pwrite(self._descriptor, self._signature, 0)
            os.ftruncate(self._descriptor, len(self._signature))

    def is_wanted(self) -> bool:
        """Whether somebody waits for the lock that is held."""
        if self.turn_of is None:
            return False
        try:
            turn = os.open(self.turn_of(self.store), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # a reader does without where nothing can be written
            return False
        try:
            return not _locked(turn, fcntl.LOCK_SH)
        finally:
            os.close(turn)

    def is_there(self) -> bool:
        """Whether the lock that is held is still the one that others find."""
        if self._descriptor < 0:
            return True
        lock_stat = os.fstat(self._descriptor)
        return inode(self.path_of(self.store)) == (lock_stat.st_dev, lock_stat.st_ino)

    def remove(self) -> None:
        """Remove the files of the lock that is held: there is no store that they would be of."""
        turns = [self.turn_of(self.store)] if self.turn_of else []
        for path in (*turns, self.path_of(self.store)):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # there may be more in it
            layout.folder_of(self.store).rmdir()

    def _is_taken(self) -> bool:
        """Take the lock; return whether it is still the one that others find."""
        self._descriptor = self._opened(self.path_of)
        is_ours = False
        try:
            self._wait()
            is_ours = self.is_there()
        finally:
            if not is_ours:
                _close(self._descriptor)
        return is_ours

    def _opened(self, path_of: Callable[[Path], Path]) -> int:
        """Open a file to lock it; negative where a reader has to do without.

        Raises `Refused` where nothing may be written.
        """
        try:
            make_folder(self.store)
            return os.open(path_of(self.store), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise
        is_mounted = is_mounted_read_only(self.store.parent)
        if self.shared:
            with suppress(OSError):
                return os.open(path_of(self.store), os.O_RDONLY | os.O_CLOEXEC)
            if is_mounted or path_of is self.turn_of:
                return -1
        folder = path_of(self.store).parent
        raise not_permitted(folder if folder.exists() else folder.parent, is_mounted=is_mounted)

    def _wait(self) -> None:
        turn = self._opened(self.turn_of) if self.turn_of else -1
        try:
            self._wait_for(turn)
        finally:
            _close(turn)  # and the turn passes on

    def _wait_for(self, turn: int) -> None:
        mode = fcntl.LOCK_SH if self.shared else fcntl.LOCK_EX
        began = time.monotonic()
        courtesy_s = min(_COURTESY_S, self.wait_s)
        pause = _FIRST_PAUSE_S
        is_next = False
        holder: Holder = {}
        while True:
            waited = time.monotonic() - began
            is_next = is_next or _locked(turn, fcntl.LOCK_EX)
            if (is_next or waited >= courtesy_s) and _locked(self._descriptor, mode):
                return
            left_s = self.wait_s - waited
            if left_s <= 0:
                holder = _told(self._descriptor) or holder
                least_s = _GIVING_WAY_S if holder.get(_GIVES_WAY) else 0
                left_s = (least_s if holder else _GLANCE_S) - waited
                if left_s <= 0:
                    raise self.busy(holder, max(self.wait_s, int(waited)))
            # A factor of this process's own, so that waiters do not march.
            time.sleep(min(pause * (0.5 + (os.getpid() % 101) / 100), left_s))
            pause = _NEXT_PAUSE_S if is_next else min(pause * 2, _LONGEST_PAUSE_S)


def store_lock(
    store: Path,
    *,
    command: str,
    since: datetime,
    wait_s: float,
    shared: bool = False,
    gives_way: bool = False,
) -> Lock:
    """Return the lock of a store, not taken yet."""
    holder = _signed(since, command=command)
    if gives_way:
        holder[_GIVES_WAY] = True
    return Lock(
        store, layout.lock_path, _store_busy, holder, wait_s, shared, turn_of=layout.turn_path
    )


def night_lock(store: Path, *, since: datetime, wait_s: float) -> Lock:
    """Return the right to run the night of a store, which is open for single steps only."""
    holder = _signed(since, step="begin", run_id=None)
    return Lock(store, layout.night_path, _night_busy, holder, max(wait_s, _GLANCE_S))


def sender_lock(store: Path) -> Lock:
    """Return the right to send the webhooks of a store: what another has claimed is left behind."""
    busy = partial(
        _at_work,
        "is sending the webhooks of this store",
        code="sender_busy",
        hint="It sends everything that is due; try again when it has ended.",
    )
    return Lock(store, layout.sender_path, busy, {"pid": os.getpid()})


def engine_lock(store: Path) -> Lock:
    """Return the right to write to the archive of a store."""
    busy = partial(
        _at_work,
        "is writing to the history of this store",
        code="history_busy",
        hint="Try again when it has ended.",
    )
    return Lock(store, layout.engine_path, busy, {"pid": os.getpid()})


def night_holder(store: Path) -> Holder | None:
    """Return who runs a night of the store now, as far as it has told; None where nobody does.

    `run_id` is that of the night, `step` the one it is at.
    """
    try:
        descriptor = os.open(layout.night_path(store), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _locked(descriptor, fcntl.LOCK_SH) else _told(descriptor)
    finally:
        os.close(descriptor)


def _told(descriptor: int) -> Holder:
    """Return what the holder of a lock has told of itself; nothing where it has not, or no more."""
    with suppress(OSError, ValueError):
        data = json.loads(os.pread(descriptor, 2 * _TEXT_BYTES, 0))
        return data if isinstance(data, dict) else {"pid": data}  # the pid alone was told before
    return {}


def _signed(since: datetime, **more: str | None) -> Holder:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname()[:64],
        **more,
        "since": since.isoformat(timespec="seconds") + "Z",
    }


def _close(descriptor: int) -> None:
    if descriptor >= 0:
        os.close(descriptor)


def _locked(descriptor: int, mode: int) -> bool:
    """Lock a file, if nobody else has; what was not opened is free."""
    if descriptor < 0:
        return True
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _named(text: str, holder: Holder) -> str | None:
    """Return a text with what a holder has told in it, or None where it has not told all of it."""
    try:
        return text.format_map(holder)
    except KeyError:
        return None


def _store_busy(holder: Holder, waited_s: float) -> StoreBusy:
    who = _named("held by `{command}`, process {pid} on {host}, since {since}", holder)
    return StoreBusy(
        f"The store is {who or 'held by another process'} (waited {waited_s:g} s).",
        hint="Try again when it has ended, or wait longer with --lock-wait SECONDS.",
        holder=holder if who else {},
    )


def _night_busy(holder: Holder, _waited_s: float) -> StoreBusy:
    who = _named("process {pid} on {host}, at the step {step}, since {since}", holder)
    return StoreBusy(
        f"The nightly run is under way: it is {who or 'another process'}.",
        code="night_busy",
        hint="It needs no second one; --lock-wait SECONDS waits for its end.",
        holder=holder if who else {},
    )


def _at_work(doing: str, holder: Holder, _waited_s: float, *, code: str, hint: str) -> StoreBusy:
    who = _named("Process {pid}", holder) or "Another process"
    return StoreBusy(f"{who} {doing}.", code=code, hint=hint)
