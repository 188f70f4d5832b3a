"""Moving the files that a version before had beside a store into the folder of the store.

Until then they are used where they are (`layout.py`), so that nothing stops for an upgrade. They
get a second name in the folder first; then the lock goes there by one rename, from which moment on
everybody looks into the folder; then the first names go. Killed before the rename the store is as
it was, killed after it everything is in the folder, and running it again goes on.

Nothing else uses the store meanwhile: who runs a night, sends webhooks or writes to the archive is
waited for by nobody, and named. What is found beside a store whose lock is in its folder, and is no
second name, was written by a version before that was still running: it is put into the folder under
a dated name, for whoever is to look at it. An archive stays where it is, since engines may know it
by that place; the store says where that is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.store import layout
from cardoffers_cli.store.folder import make_folder, sync_folder
from cardoffers_cli.store.identity import inode
from cardoffers_cli.store.lock import engine_lock, night_lock, sender_lock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Moved:
    """The files that are in the folder of a store now, and what is to be looked at by somebody."""

    files: Sequence[Path]
    left: Sequence[Path]


def to_move(store: Path) -> Moved:
    """Return what `move_in` would do."""
    files = [file for each in _stores(store) for file in layout.loose_files(each).values()]
    archive = layout.loose_archive(store)
    return Moved(files=sorted(files), left=[archive] if archive else [])


def move_in(store: Path, since: datetime) -> Moved:
    """Move what is beside a store into its folder; the store is locked, and closed.

    Raises `StoreBusy` where a night, a sender or a writer to the archive is at work.
    """
    found = to_move(store)
    if not found.files:
        return found
    with night_lock(store, since=since, wait_s=0), sender_lock(store), engine_lock(store):
        kept = [file for each in _stores(store) for file in _move(each, since)]
    return Moved(files=found.files, left=[*found.left, *kept])


def _stores(store: Path) -> list[Path]:
    """Return a store, and those that it took the place of: each has files of its own."""
    return [store, *layout.kept_files(store)]


def _move(store: Path, since: datetime) -> list[Path]:
    """Move the files of one store; return what was put aside."""
    files = layout.loose_files(store)
    if layout.is_loose(store):
        folder = make_folder(store)
        lock = layout.lock_path(store)
        for loose, file in files.items():
            if loose != lock:
                file.unlink(missing_ok=True)  # of a try that was killed
                os.link(loose, file)
        sync_folder(folder)
        lock.touch(0o600)  # a store that was replaced may have none
        lock.rename(layout.own_lock(store))
        sync_folder(folder)
    kept = []
    for loose, file in files.items():
        if loose.exists() and inode(loose) != inode(file) and file.name not in layout.LOCKS:
            kept.append(loose.rename(layout.kept_name(file, since)))
        loose.unlink(missing_ok=True)
    for changed in (layout.folder_of(store), store.parent):
        sync_folder(changed)
    return kept
