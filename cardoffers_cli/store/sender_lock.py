"""One sender of webhooks at a time, so that what another has claimed is surely left behind.

A `flock` on `<store>.sender` for as long as somebody sends, the store itself being closed
meanwhile. The kernel frees it when its holder dies, however it dies.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def sender_lock(store: Path) -> Iterator[None]:
    """Be the only sender of a store for the length of the block; raise `StoreBusy` if one is."""
    path = store.with_name(f"{store.name}.sender")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 20, 0).decode("ascii", "replace")
        raise StoreBusy(
            f"Process {holder} is sending the webhooks of this store.",
            code="sender_busy",
            hint="It sends everything that is due; try again when it has ended.",
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
