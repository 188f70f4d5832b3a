"""Export: what grew with purchases moves out of the store, into its archive.

It is written, read back and on the disk before one transaction lists it and empties the tables it
came from. A crash before that leaves the store as it was, and a folder that nobody reads, which the
next export removes.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from cardoffers_cli.archive import archive
from cardoffers_cli.archive.buckets import place_of
from cardoffers_cli.archive.merge import Merged, MergeResult, merge_due, mergeable, sweep
from cardoffers_cli.archive.parts import TABLES, due
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.runs import commit_run, start_run
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.archive.buckets import Place
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

KIND = "export"


class ExportedRows(Record):
    """How many rows of one table were moved."""

    table_name: str
    row_count: int


class Exported(Record):
    """What was moved into the archive at `root`, and merged there; `unmerged` says why not."""

    store: str
    root: str
    moved: Sequence[ExportedRows]
    merged: Sequence[MergeResult]
    unmerged: str | None
    dry_run: bool


def export(job: Job, to: str | None, *, dry_run: bool = False) -> Exported:
    """Move everything into the archive, which begins at `to` if there is none yet.

    With `dry_run` it is told what would be moved and merged. The place is not asked for.
    Raises `UsageError` for a place where no archive can be, `Refused` where it is elsewhere,
    `NetworkFailure` where it cannot be reached, and `StoreBusy` while a match on an engine writes
    there.
    """
    with (
        job.store(read_only=dry_run) as store,
        nullcontext() if dry_run else engine_lock(job.path),
    ):
        root = _root(store, to)
        if dry_run:
            archive.check_root(store, root)
            moved = {table: sums.row_count for table, sums in archive.recent(store).items()}
            merged = Merged(tables=mergeable(store, due))
        else:
            sweep(store, job, root)
            moved = move_recent(store, job, root)
            merged = merge_due(store, job)
    return Exported(
        store=str(job.path),
        root=str(root),
        moved=[ExportedRows(table_name=name, row_count=moved.get(name, 0)) for name in TABLES],
        merged=merged.tables,
        unmerged=merged.failure.message if merged.failure else None,
        dry_run=dry_run,
    )


def move_recent(store: Store, job: Job, root: Place) -> dict[str, int]:
    """Move what is recent into the archive at `root`; return the rows by table.

    The store must be open for writing, and in no transaction. The run is written first, so that
    whose the folders are is known whatever happens.
    """
    found = archive.archive_of(store)
    if found and found.root == root and not archive.recent(store):
        return {}
    with store.transaction():
        run = start_run(store, kind=KIND, now=job.now, actor=job.actor)
    with store.transaction():
        begun = archive.begin(store, root)
        moved = {table: each.row_count for table, each in begun.move(run).items()}
        commit_run(store, run, moved)
    begun.show()
    return moved


def _root(store: Store, to: str | None) -> Place:
    if to is not None:
        return place_of(to)
    found = archive.archive_of(store)
    if found is None:
        raise UsageError(
            "This store has no history yet.",
            code="history_missing",
            hint="Name the folder or the URL where it is to begin: `cardoffers store export --to "
            "ROOT`.",
        )
    return found.root
