"""Export: what grew with purchases moves out of the store, into its archive.

It is written, read back and on the disk before one transaction lists it and empties the tables it
came from. A crash before that leaves the store as it was, and a folder that nobody reads, which the
next export removes.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from cardoffers_cli.archive import archive, merging
from cardoffers_cli.archive.archive import TABLES, Archive, archive_of
from cardoffers_cli.archive.buckets import place_of
from cardoffers_cli.kernel.disk.folders import check_room
from cardoffers_cli.kernel.store import copying, erasures, journal
from cardoffers_cli.kernel.store.layout import draft_path, is_alive, put_logs_aside
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.opening import lock_for, must_exist, open_copy, opened
from cardoffers_cli.kernel.store.runs import commit_id, commit_run, start_run
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cardoffers_cli.archive.buckets import Place
    from cardoffers_cli.archive.merging import MergeResult
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


def sweep(store: Store, job: Job, root: Place) -> None:
    """Remove from the archive at `root` what nobody needs any more, under the engine's lock.

    A store that was put back to an earlier state may take a run for unfinished whose parts another
    copy of it lists: the journal knows better. Raises `NetworkFailure` where the place cannot be
    reached.
    """
    archive = Archive(store, root)
    archive.remove_work(is_alive)
    if unfinished := archive.unfinished():
        committed = journal.all_ids(job.path)
        for run_id, folder in unfinished:
            if commit_id(run_id) not in committed:
                folder.remove()
    merging.remove_left(store, job, archive)


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
            merged, failure = merging.mergeable(store, merging.due), None
        else:
            sweep(store, job, root)
            moved = move_recent(store, job, root)
            merged, failure = merging.merge_due(store, job)
    return Exported(
        store=str(job.path),
        root=str(root),
        moved=[ExportedRows(table_name=name, row_count=moved.get(name, 0)) for name in TABLES],
        merged=merged,
        unmerged=failure.message if failure else None,
        dry_run=dry_run,
    )


def move_recent(store: Store, job: Job, root: Place) -> dict[str, int]:
    """Move what is recent into the archive at `root`; return the rows by table.

    The store must be open for writing, and in no transaction. The run is written first, so that
    whose the folders are is known whatever happens.
    """
    current = archive.archive_of(store)
    if current and current.root == root and not archive.recent(store):
        return {}
    with store.transaction():
        run = start_run(store, kind=KIND, now=job.now, actor=job.actor)
    with store.transaction():
        begun = archive.begin(store, root)
        moved = {table: sums.row_count for table, sums in begun.move(run).items()}
        commit_run(store, run, moved)
    begun.show()
    return moved


def _root(store: Store, to: str | None) -> Place:
    if to is not None:
        return place_of(to)
    current = archive.archive_of(store)
    if current is None:
        raise UsageError(
            "This store has no history yet.",
            code="history_missing",
            hint="Name the folder or the URL where it is to begin: `cardoffers store export --to "
            "ROOT`.",
        )
    return current.root


# Compact: an archive of fewer parts, and the store as a new, smaller file in the place of the old.
#
# The small parts of the archive are merged first (`merging.py`). What was deleted or updated
# leaves room in the file that is not given back. The copy is made beside the store, compared with
# it table by table, and takes its place in one step; killed before that, the store is as it was and
# a draft is left, which the next time removes. The file before has no name then, as a store has one
# (`kernel/store/identity.py`), so nothing can go on with it.


STEPS = ("merge", "copy", "compare", "swap")


def _nobody(step: str) -> None:
    """Tell nobody."""


class Compacted(Record, sheet="store size_bytes_before size_bytes"):
    """A store that was written anew, and the parts of its archive that were merged before.

    How small it would be, a dry run does not know.
    """

    store: str
    size_bytes_before: int = shown("bytes before")
    size_bytes: int | None = shown("bytes")
    merged: Sequence[MergeResult]
    dry_run: bool


def compact(job: Job, *, dry_run: bool = False, tell: Callable[[str], None] = _nobody) -> Compacted:
    """Merge the archive and write the store anew, under its lock; return what each was and is.

    With `dry_run` nothing is written. Raises
    `NoSpace` before anything is begun, `StoreBusy` while another writes to the archive, and
    `StoreDamaged` if what was written is not what was read.
    """
    must_exist(job.path)
    with lock_for(job.opening()):
        before = copying.size_with_log(job.path)
        check_room(job.path.parent, before, "The new file")
        tell("merge")
        merged = _merge(job, dry_run=dry_run)
        if not dry_run:
            _write_anew(job, tell)
        return Compacted(
            store=str(job.path),
            size_bytes_before=before,
            size_bytes=None if dry_run else job.path.stat().st_size,
            merged=merged,
            dry_run=dry_run,
        )


def _merge(job: Job, *, dry_run: bool) -> list[MergeResult]:
    with opened(job.opening(read_only=dry_run)) as store:
        archive = archive_of(store)
        if dry_run or archive is None:
            return merging.mergeable(store, merging.small)
        with engine_lock(job.path):
            sweep(store, job, archive.root)
            return merging.merge(store, job, merging.small)


def _write_anew(job: Job, tell: Callable[[str], None]) -> None:
    draft = draft_path(job.path, "compact")
    with opened(job.opening()) as store:
        original = copying.contents(store)
        store.execute("kernel/store/copying:checkpoint")
    put_logs_aside(job.path, job.opening().since or job.now)
    try:
        tell("copy")
        copying.copy_store(job.path, draft, job.settings)
        with open_copy(draft, job.settings) as store:
            tell("compare")
            copying.check_copy(original, copying.contents(store))
        tell("swap")
        copying.put_in_place(draft, job.path)
        erasures.unmark(job.path)
    finally:
        copying.discard(draft)
