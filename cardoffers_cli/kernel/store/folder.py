"""The folder of a store, for its owner only: everything of the store but its file is in it.

It is a folder of its own, on the disk that the store is on: a link would let two stores share one
lock and one journal, and from another disk no draft could take the place of the store in one step.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.layout import folder_of
from cardoffers_cli.kernel.words.errors import NoSpace, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FOR_ITS_OWNER = 0o700


def make_folder(store: Path) -> Path:
    """Make the folder of a store, if it is not there; raise `Refused` for what is none of its own.

    Whoever is to write into it calls this first.
    """
    folder = folder_of(store)
    try:
        with needing_room(folder):
            folder.mkdir(_FOR_ITS_OWNER)
            sync_folder(folder.parent)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_dev != folder.parent.stat().st_dev:
            raise _not_its_own(store) from None
    return folder


@contextmanager
def needing_room(path: Path, hint: str = "Free some space and run it again.") -> Iterator[None]:
    """Raise `NoSpace` where there is no room for what is written to a path meanwhile."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise NoSpace(f"The disk that holds {path} is full.", hint=hint) from None


def replace_whole(path: Path, content: bytes, draft: Path) -> None:
    """Put a new file of its owner's only in the place of a path, in one step and onto the disk."""
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk; raise where that cannot be done."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_its_own(store: Path) -> Refused:
    folder = folder_of(store)
    return Refused(
        f"{folder} is a link, a file or another disk: it is to be a folder of the store's own, on "
        "the same disk, with its lock and its journal.",
        code="folder_foreign",
        hint=f"Look where it leads with `ls -ld {shlex.quote(str(folder))}`; put the folder that "
        "is this store's in its place, then run it again.",
        file=str(folder),
    )
