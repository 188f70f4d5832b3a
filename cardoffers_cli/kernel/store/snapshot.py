"""The snapshot of the store: what readers may look at while a long job holds it.

It is a whole copy of the store as it was when it was taken, and is under no lock. It is replaced in
one step: who has it open keeps the file that was opened. The run that took it is its newest of that
kind, so a snapshot tells its own age. Nothing depends on it: it may be missing.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.layout import draft_path, snapshot_path, sync_folder
from cardoffers_cli.kernel.store.opening import check_version, connected, show_archive
from cardoffers_cli.kernel.words.errors import NoStore, StoreDamaged, StoreVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.settings import Settings
    from cardoffers_cli.kernel.store.store import Store

_TAKE = "Take a new one with `cardoffers store publish`."
KIND = "publish"
"""The kind of the run that takes a snapshot, by which `taken_at` finds it."""


def replace_by(copy: Path, path: Path) -> None:
    """Give a checked copy of the store of `path` the name of its snapshot too.

    Call it with the store's lock, with a copy that has the run of `KIND`.
    """
    draft = draft_path(path, "snapshot")
    draft.unlink(missing_ok=True)
    os.link(copy, draft)
    sync_folder(draft.replace(snapshot_path(path)).parent)


def withdraw(path: Path) -> bool:
    """Remove the snapshot of the store of `path`; return whether there was one."""
    snapshot = snapshot_path(path)
    there = snapshot.exists()
    if there:
        snapshot.unlink(missing_ok=True)
        sync_folder(snapshot.parent)  # or a loss of power would bring it back
    return there


@contextmanager
def open_snapshot(path: Path, settings: Settings) -> Iterator[Store]:
    """Open the snapshot of the store of `path` for reading.

    The engine refuses a file that this process has open with other settings, so one thread opens
    snapshots. Raises `NoStore` where there is none, `StoreVersion` where it is of another schema.
    """
    snapshot = snapshot_path(path)
    if not snapshot.exists():
        raise NoStore(
            f"There is no snapshot at {snapshot}.",
            code="snapshot_missing",
            hint="Take one with `cardoffers store publish`.",
        )
    with connected(snapshot, settings, read_only=True) as store:
        try:
            check_version(store, snapshot)
            show_archive(store)  # a part that it lists may be merged and gone by now
        except (StoreVersion, StoreDamaged) as error:
            code = "snapshot_version" if isinstance(error, StoreVersion) else error.code
            raise type(error)(error.message, code=code, hint=_TAKE, **error.details) from None
        try:
            yield store
        except StoreDamaged as error:
            if error.details.get("file") != str(snapshot):
                raise
            raise StoreDamaged(
                f"The snapshot {snapshot} is damaged.",
                code="snapshot_damaged",
                hint=_TAKE,
                file=str(snapshot),
            ) from error


def taken_at(snapshot: Store) -> datetime:
    """Return the moment an open snapshot shows (naive UTC)."""
    moment: datetime = snapshot.value("kernel/store/snapshot:taken_at", kind=KIND)
    return moment
