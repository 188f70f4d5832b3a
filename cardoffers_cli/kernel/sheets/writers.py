"""Who still has a file open for writing, as far as that can be seen.

The kernel knows, for every process of the machine: it gives nobody a read lease on a file that is
open for writing (fcntl(2), F_SETLEASE). It tells the owner of the file and root only; for anybody
else, and on a disk without leases, the open files of the processes that may be looked at are
looked through (proc(5)). A writer on another machine of a network disk is not seen.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROCESSES = Path("/proc")
_FLAGS = re.compile(r"^flags:\s*([0-7]+)$", re.MULTILINE)


def is_held_open(descriptor: int) -> bool | None:
    """Say whether anybody has an opened file open for writing; None where the kernel will not."""
    try:
        # Whoever opens it for writing while we have the lease makes a signal; this one is ignored.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def held_open_below(folder: Path) -> set[tuple[int, int]]:
    """Return what a process that may be looked at writes to below a folder: devices and inodes."""
    below = f"{folder.resolve()}/"
    return {each for process in _numbered(_PROCESSES) for each in _written_by(process, below)}


def _written_by(process: Path, below: str) -> Iterator[tuple[int, int]]:
    for entry in _numbered(process / "fd"):
        with suppress(OSError, ValueError):
            # Only what is below is looked at: a disk that does not answer would keep us waiting.
            if not str(entry.readlink()).startswith(below):
                continue
            flags = _FLAGS.search((process / "fdinfo" / entry.name).read_text("ascii"))
            if flags and int(flags[1], 8) & os.O_ACCMODE != os.O_RDONLY:
                found = entry.stat()
                yield found.st_dev, found.st_ino


def _numbered(folder: Path) -> Iterator[Path]:
    """Yield what has a number for its name; nothing of a folder that may not be looked at."""
    with suppress(OSError):
        yield from [each for each in folder.iterdir() if each.name.isdecimal()]
