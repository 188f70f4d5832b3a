"""Merge: the small parts of an archive become few, beside the work that adds to them.

Whoever holds the engine's lock may merge: a match on an engine and an export do, once there are
many of a size; compacting does, whatever there is. The run is written first, so that whose the
folders are is known whatever happens.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.archive.archive import Archive, archive_of
from cardoffers_cli.archive.parts import due, total
from cardoffers_cli.kernel.store import journal
from cardoffers_cli.kernel.store.leftovers import is_alive
from cardoffers_cli.kernel.store.runs import commit_id, commit_run, start_run
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from cardoffers_cli.archive.archive import Merging
    from cardoffers_cli.archive.buckets import Place
    from cardoffers_cli.archive.parts import Choice
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

KIND = "merge"


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


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What became of the parts of tables, or why nothing did."""

    tables: list[MergeResult]
    failure: CardoffersError | None = None


def sweep(store: Store, job: Job, root: Place) -> None:
    """Remove from the archive at `root` what nobody needs any more, under the engine's lock.

    A store that was put back to an earlier state may take a run for unfinished whose parts another
    copy of it lists: the journal knows better. It also keeps the parts that were merged before: its
    other copy may have listed them, and its backups with it. Raises `NetworkFailure` where the
    place cannot be reached.
    """
    archive = Archive(store, root)
    archive.remove_work(is_alive)
    if unfinished := archive.unfinished():
        committed = journal.all_ids(job.path)
        for run_id, folder in unfinished:
            if commit_id(run_id) not in committed:
                folder.remove()
    before = job.now - timedelta(days=job.settings.history_keep_days)
    if archive.has_left(before):
        put_back_at = journal.put_back_at(job.path)
        if put_back_at is None or put_back_at < before:
            archive.remove_left(before)


def merge_due(store: Store, job: Job) -> Merged:
    """Merge what there are many of, as `merge` does, beside work that it must not stop."""
    try:
        return Merged(tables=merge(store, job, due))
    except CardoffersError as error:
        return Merged(tables=[], failure=error)
    except OSError as error:
        failure = CardoffersError(f"The folder of the history: {error.strerror}.")
        return Merged(tables=[], failure=failure)


def merge(store: Store, job: Job, choice: Choice) -> list[MergeResult]:
    """Merge the parts of a choice; return what became of them by table.

    The store must be open for writing, and in no transaction.
    """
    archive = archive_of(store)
    merging = archive.mergeable(choice) if archive else {}
    if not archive or not merging:
        return []
    began = time.monotonic()
    with store.transaction():
        run = start_run(store, kind=KIND, now=job.now, actor=job.actor)
    told = planned(archive, merging)
    archive.write_merged(merging, run)
    with store.transaction():
        archive.replace(merging, run, job.now)
        made = {part.table_name: part for part in archive.parts() if part.run_id == run.run_id}
        told = [replace(row, size_bytes=archive.size([made[row.table_name]])) for row in told]
        seconds = round(time.monotonic() - began, 3)
        commit_run(store, run, {"tables": told, "seconds": seconds})
    archive.show()
    return told


def mergeable(store: Store, choice: Choice) -> list[MergeResult]:
    """Return what `merge` would tell, but for the sizes after it."""
    archive = archive_of(store)
    return planned(archive, archive.mergeable(choice)) if archive else []


def planned(archive: Archive, merging: Merging) -> list[MergeResult]:
    """Return how many parts each table has before and after, and how much is written anew."""
    listed = Counter(part.table_name for part in archive.parts())
    return [
        MergeResult(
            table_name=table,
            parts_before=listed[table],
            parts=listed[table] - len(parts) + 1,
            row_count=total(parts).row_count,
            size_bytes_before=archive.size(parts),
            size_bytes=None,
        )
        for table, parts in merging.items()
    ]
