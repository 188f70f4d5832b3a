"""Names that outlive a loss of power: a file is on the disk only when its folder is too."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_CANNOT = frozenset({errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP})


def sync_folder_if_possible(folder: Path) -> None:
    """Put the names in a folder on the disk, where that can be done.

    A folder that may be written to and not be read, and one of some network disks, cannot be.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        return
    try:
        sync_opened(descriptor)
    finally:
        os.close(descriptor)


def sync_opened(folder: int) -> None:
    """Put the names in an opened folder on the disk; not on every network folders can be."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise


def make_folder(folder: Path) -> None:
    """Make a folder, with those that it is in, and put their names on the disk."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder_if_possible(each.parent)
