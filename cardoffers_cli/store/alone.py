"""Being the only one who does something that lasts, while the store itself is closed.

A `flock` on a file beside the store, which the kernel frees when its holder dies, however it dies:
what another has begun is surely left behind then. The text inside only tells who holds it.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.store.lock import open_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cardoffers_cli.domain.errors import StoreBusy


@contextmanager
def alone(path: Path, busy: Callable[[str], StoreBusy]) -> Iterator[None]:
    """Hold the file for the length of the block; raise what `busy` makes of another's number."""
    descriptor = open_lock(path)
    try:
        _take(descriptor, busy)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, busy: Callable[[str], StoreBusy]) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise busy(os.pread(descriptor, 20, 0).decode("ascii", "replace")) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
