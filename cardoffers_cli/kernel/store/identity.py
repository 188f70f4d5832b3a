"""What a store is: one plain file with one name, of which its folder is told.

The folder is called after the file, so a second name would be a second store of the same rows, each
with a journal that knows of half. Links are followed before (`layout.py`); a second hard link, and
a file that is a mount of its own, are refused. Who restores a store keeps the one before under a
dated name, by a second link: killed between, `undo` takes that back. What is not noticed: a copy of
the file that goes on as a store of its own, and a file system on the network that shows one file to
two machines under numbers of each machine's own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.store.engine_errors import not_permitted
from cardoffers_cli.kernel.words.errors import Refused, StoreDamaged

_MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
"""Where the place of a mount stands in a line of `mountinfo` (proc(5))."""


def check(store: Path, mounts: Path = _MOUNTS) -> None:
    """Raise what is wrong with the file at the path of a store, if there is one; hold its lock.

    Raises `Refused` for a second name, `StoreDamaged` for what is no plain file.
    """
    try:
        file_stat = store.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(file_stat.st_mode):
        raise StoreDamaged(
            f"{store} is not a plain file, so it is no store.",
            hint="Name the file of the store with --store.",
        )
    if file_stat.st_nlink > 1 and not _undone(store):
        names = store.stat().st_nlink
        name, folder = shlex.quote(str(store)), shlex.quote(str(store.parent))
        raise Refused(
            f"{store} has {names} names (hard links): each would be a store, with a lock and a "
            "journal of its own, and both would settle the same entries.",
            code="store_linked",
            hint=f"`find {folder} -xdev -samefile {name}` finds the others in this folder, and with"
            " `/` in its place on the whole disk. Remove them, or make a copy of them first, then"
            " run it again.",
            file=str(store),
            links=names,
        )
    if _is_mount(store, mounts):
        raise _mounted(store)


def check_writable(store: Path) -> None:
    """Raise `Refused` where this user may not write to a store, or beside it."""
    for path, right in ((store, os.W_OK), (store.parent, os.W_OK | os.X_OK)):
        if path.exists() and not os.access(path, right):
            raise not_permitted(path, is_mounted=is_mounted_read_only(path))


def is_mounted_read_only(path: Path) -> bool:
    """Return whether a path is on a disk that is mounted for reading only."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def inode(path: Path) -> tuple[int, int] | None:
    """Return what the file at a path is, whatever it is called; None where there is none."""
    with suppress(OSError):
        file_stat = path.stat()
        return file_stat.st_dev, file_stat.st_ino
    return None


def undo(store: Path, other: Path) -> None:
    """Take back the second name of a store that was to be replaced, and was not."""
    for log, kept_log in zip(layout.log_paths(store), layout.log_paths(other), strict=True):
        if not log.exists():
            with suppress(FileNotFoundError):
                kept_log.rename(log)
    for path in (layout.secrets_path(other), layout.journal_path(other)):
        path.unlink(missing_ok=True)
    shutil.rmtree(layout.folder_of(other), ignore_errors=True)
    other.unlink()


def _undone(store: Path) -> bool:
    """Take back names that a killed process of ours gave; return whether one is left."""
    for other in layout.kept_files(store):
        if inode(other) == inode(store):
            undo(store, other)
    return store.stat().st_nlink == 1


def _is_mount(store: Path, mounts: Path) -> bool:
    """Return whether something is mounted at the path itself; no where nobody says."""
    try:
        lines = mounts.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    name = str(store.absolute()).replace("\\", "\\134").replace(" ", "\\040")
    name = name.replace("\t", "\\011").replace("\n", "\\012")
    return any(line.split(" ")[_MOUNT_POINT] == name for line in lines)


def _mounted(store: Path) -> Refused:
    return Refused(
        f"{store} is mounted as a single file, so its lock and its journal are not those of the "
        "place that it is mounted from, and no command can put a new file there.",
        code="store_mounted",
        hint=f"Mount the folder that it is in instead of {store.name}, and name the file there "
        "with --store.",
        file=str(store),
    )
