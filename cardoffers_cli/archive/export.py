"""Export: what grew with purchases moves out of the store, into its archive; its parts are merged.

It is written, read back and on the disk before one transaction lists it and empties the tables it
came from. A crash before that leaves a folder that nobody reads, which the next export removes.
Parts are merged as digits are carried in counting: ten of as many digits of rows become one, so
there are some nine of a size at most, and a row is written anew at most seven times: a part of ten
million rows stays. Whoever holds the engine's lock may merge: a match on an engine and an export
do, once there are many of a size; compacting does, whatever there is. The folders of parts that
were merged stay for a while, as a snapshot and points may list them.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.archive import archive
from cardoffers_cli.archive.archive import FILE, TABLES, Archive, Sums, archive_of, part_folder
from cardoffers_cli.archive.buckets import place_of
from cardoffers_cli.archive.connecting import no_space_said
from cardoffers_cli.kernel.disk.folders import check_room
from cardoffers_cli.kernel.store import copying, erasures, journal
from cardoffers_cli.kernel.store.layout import draft_path, is_alive, put_logs_aside
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.opening import lock_for, must_exist, open_copy, opened
from cardoffers_cli.kernel.store.runs import commit_id, commit_run, start_run
from cardoffers_cli.kernel.words.errors import CardoffersError, UsageError
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.archive.archive import Part, Writer
    from cardoffers_cli.archive.buckets import Place
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


if TYPE_CHECKING:
    Choice = Callable[[Sequence[Part]], list[Part]]
    """Says which parts of a table are to become one."""

MERGE = "merge"
MANY = 10
LARGE_ROWS = 10_000_000


class MergeResult(Record):
    """How many parts of one table there were and are, and how much was written anew.

    `row_count` and `size_bytes_before` are of the parts that were merged, `size_bytes` is of what
    they became, None while that is not known.
    """

    table_name: str = shown("table")
    parts_before: int = shown("parts before")
    parts: int
    row_count: int = shown("rows written", gives_way=1)
    size_bytes_before: int = shown("bytes before", gives_way=2)
    size_bytes: int | None = shown("bytes", gives_way=2)


def due(parts: Sequence[Part]) -> list[Part]:
    """Return the small parts of a table of whose size there are many."""
    few_rows = [part for part in parts if part.row_count < LARGE_ROWS]
    sizes = Counter(len(str(part.row_count)) for part in few_rows)
    return [part for part in few_rows if sizes[len(str(part.row_count))] >= MANY]


def small(parts: Sequence[Part]) -> list[Part]:
    """Return the small parts of a table, if there are several."""
    few_rows = [part for part in parts if part.row_count < LARGE_ROWS]
    return few_rows if len(few_rows) > 1 else []


def total(sums: Sequence[Sums]) -> Sums:
    """Return what several parts of a table come to together."""
    amounts = [part.amount for part in sums if part.amount is not None]
    return Sums(
        row_count=sum(part.row_count for part in sums),
        purchase_no_sum=sum(part.purchase_no_sum for part in sums),
        amount=sum(amounts, Decimal(0)) if amounts else None,
    )


def merge_due(store: Store, job: Job) -> tuple[list[MergeResult], CardoffersError | None]:
    """Merge what there are many of, as `merge` does, beside work that it must not stop.

    Return what became of the parts, and why nothing did.
    """
    try:
        return merge(store, job, due), None
    except CardoffersError as error:
        return [], error
    except OSError as error:
        return [], CardoffersError(f"The folder of the history: {error.strerror}.")


def merge(store: Store, job: Job, choice: Choice) -> list[MergeResult]:
    """Merge the parts of a choice; return what became of them by table.

    The store must be open for writing, and in no transaction. The run is written first, so that
    whose the folders are is known whatever happens. Raises `StoreDamaged` where a part does not
    come to what those do that it was made of.
    """
    archive = archive_of(store)
    merging = _chosen(archive, choice) if archive else {}
    if not archive or not merging:
        return []
    began = time.monotonic()
    with store.transaction():
        run = start_run(store, kind=MERGE, now=job.now, actor=job.actor)
    planned = _planned(store, archive, merging)
    written = _write(store, archive, merging, run)
    with store.transaction():
        for table, parts in merging.items():
            archive.add(table, run, expected=total(parts))
            old_parts = {"table_name": table, "run_ids": [part.run_id for part in parts]}
            store.execute("archive/export:leave", **old_parts, left_at=job.now)
            store.execute("archive/export:unlist", **old_parts)
        rows = [replace(row, size_bytes=_size(store, [written[row.table_name]])) for row in planned]
        seconds = round(time.monotonic() - began, 3)
        commit_run(store, run, {"tables": rows, "seconds": seconds})
    archive.show()
    return rows


def mergeable(store: Store, choice: Choice) -> list[MergeResult]:
    """Return what `merge` would tell, but for the sizes after it."""
    archive = archive_of(store)
    return _planned(store, archive, _chosen(archive, choice)) if archive else []


def left(store: Store) -> dict[str, int]:
    """Return how many parts were merged, whose folders are there, by table if it has any."""
    return {row["table_name"]: row["parts"] for row in store.rows("archive/export:left_by_table")}


def _chosen(archive: Archive, choice: Choice) -> dict[str, list[Part]]:
    """Return the parts that are to become one, by table, of those tables that have any."""
    parts = archive.parts()
    chosen = {
        table: choice([part for part in parts if part.table_name == table]) for table in TABLES
    }
    return {table: some for table, some in chosen.items() if some}


def _write(
    store: Store, archive: Archive, merging: Mapping[str, Sequence[Part]], run: Writer
) -> dict[str, str]:
    """Write the merged parts of a run, which nothing reads yet; a failure leaves none.

    Return the file of each table.
    """
    written = {}
    try:
        for table, parts in merging.items():
            written[table] = file = archive.new_file(table, run)
            with no_space_said(file.removesuffix(f"/{FILE}")):
                files = archive.files_of(parts)
                store.execute("archive/export:merge", files=files, file=file)
    except BaseException:
        for table in merging:
            part_folder(archive.root, table, run.run_id).remove()
        raise
    return written


def _planned(
    store: Store, archive: Archive, merging: Mapping[str, Sequence[Part]]
) -> list[MergeResult]:
    """Return how many parts each table has before and after, and how much is written anew."""
    listed = Counter(part.table_name for part in archive.parts())
    return [
        MergeResult(
            table_name=table,
            parts_before=listed[table],
            parts=listed[table] - len(parts) + 1,
            row_count=total(parts).row_count,
            size_bytes_before=_size(store, archive.files_of(parts)),
            size_bytes=None,
        )
        for table, parts in merging.items()
    ]


def _size(store: Store, files: Sequence[str]) -> int:
    return int(store.value("archive/export:size", files=files))


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
    # After a store was put back the days are counted anew: its other copy may have listed them,
    # and its backups with it.
    before = job.now - timedelta(days=job.settings.history_keep_days)
    rows = store.rows("archive/export:left", before=before)
    put_back_at = journal.put_back_at(job.path) if rows else None
    if put_back_at is not None and put_back_at >= before:
        return
    listed = {(part.table_name, part.run_id) for part in archive.parts()}
    for row in rows:
        folder = part_folder(archive.root, row["table_name"], row["run_id"])
        if (row["table_name"], row["run_id"]) not in listed:
            folder.remove()
            if not folder.names():
                store.execute("archive/export:forget", **row)


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
    with job.store(read_only=dry_run) as store, nullcontext() if dry_run else engine_lock(job.path):
        root = _root(store, to)
        if dry_run:
            archive.check_root(store, root)
            moved = {table: sums.row_count for table, sums in archive.recent(store).items()}
            merged, failure = mergeable(store, due), None
        else:
            sweep(store, job, root)
            moved = move_recent(store, job, root)
            merged, failure = merge_due(store, job)
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
        raise UsageError.from_table("archive", "history_missing")
    return current.root


# Compact: an archive of fewer parts, and the store as a new, smaller file in the place of the old.
#
# The small parts of the archive are merged first. What was deleted or updated leaves room
# in the file that is not given back. The copy is made beside the store, compared with
# it table by table, and takes its place in one step; killed before that, the store is as it was and
# a draft is left, which the next time removes. The file before has no name then, as a store has one
# (`kernel/store/identity.py`), so nothing can go on with it.


class Compacted(Record, sheet="store size_bytes_before size_bytes"):
    """A store that was written anew, and the parts of its archive that were merged before.

    How small it would be, a dry run does not know.
    """

    store: str
    size_bytes_before: int = shown("bytes before")
    size_bytes: int | None = shown("bytes")
    merged: Sequence[MergeResult]
    dry_run: bool


def compact(job: Job, *, dry_run: bool = False) -> Compacted:
    """Merge the archive and write the store anew, under its lock; return what each was and is.

    With `dry_run` nothing is written. Raises
    `NoSpace` before anything is begun, `StoreBusy` while another writes to the archive, and
    `StoreDamaged` if what was written is not what was read.
    """
    must_exist(job.path)
    with lock_for(job.opening()):
        before = copying.size_with_log(job.path)
        check_room(job.path.parent, before, "The new file")
        with opened(job.opening(read_only=dry_run)) as store:
            archive = archive_of(store)
            if dry_run or archive is None:
                merged = mergeable(store, small)
            else:
                with engine_lock(job.path):
                    sweep(store, job, archive.root)
                    merged = merge(store, job, small)
        if not dry_run:
            _write_anew(job)
        return Compacted(
            store=str(job.path),
            size_bytes_before=before,
            size_bytes=None if dry_run else job.path.stat().st_size,
            merged=merged,
            dry_run=dry_run,
        )


def _write_anew(job: Job) -> None:
    draft = draft_path(job.path, "compact")
    with opened(job.opening()) as store:
        original = copying.contents(store)
        store.execute("kernel/store/copying:checkpoint")
    put_logs_aside(job.path, job.opening().since or job.now)
    try:
        copying.copy_store(job.path, draft, job.settings)
        with open_copy(draft, job.settings) as store:
            copying.check_copy(original, copying.contents(store))
        copying.put_in_place(draft, job.path)
        erasures.unmark(job.path)
    finally:
        copying.discard(draft)
