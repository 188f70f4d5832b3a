"""Merge: the small parts of a history become few, beside the work that adds to them.

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

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.domain.records import Record
from cardoffers_cli.jobs.runs import commit_run, start_run
from cardoffers_cli.store import history, merging

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.jobs.runs import Run
    from cardoffers_cli.store.history import Part
    from cardoffers_cli.store.places import Place
    from cardoffers_cli.store.store import Store

KIND = "merge"


class MergedParts(Record):
    """How many parts of one table there were and are, and how much was written anew.

    `row_count` and `size_bytes_before` are of the parts that were merged, `size_bytes` is of what
    they became, None while that is not known.
    """

    table_name: str
    parts_before: int
    parts: int
    row_count: int
    size_bytes_before: int
    size_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What became of the parts of tables, or why nothing did."""

    tables: list[MergedParts]
    failure: CardoffersError | None = None


def sweep(store: Store, job: Job, root: Place) -> None:
    """Remove from the history at `root` what nobody needs any more, under the engine's lock."""
    history.sweep(store, job.path, root)
    before = job.now - timedelta(days=job.settings.history_keep_days)
    merging.sweep(store, job.path, root, before=before)


def merge_due(store: Store, job: Job) -> Merged:
    """Merge what there are many of, as `merge` does, beside work that it must not stop."""
    try:
        return Merged(tables=merge(store, job, merging.due))
    except CardoffersError as error:
        return Merged(tables=[], failure=error)
    except OSError as error:
        failure = CardoffersError(f"The folder of the history: {error.strerror}.")
        return Merged(tables=[], failure=failure)


def merge(store: Store, job: Job, choice: merging.Choice) -> list[MergedParts]:
    """Merge the parts of a choice; return what became of them by table.

    The store must be open for writing, and in no transaction.
    """
    merged = merging.chosen(store, choice)
    if not merged:
        return []
    began = time.monotonic()
    with store.transaction():
        run = start_run(store, kind=KIND, now=job.now, actor=job.actor)
    told = planned(store, merged)
    merging.write(store, merged, run.run_id)
    with store.transaction():
        merging.replace(store, merged, run.run_no, run.run_id, left_at=job.now)
        sizes = _sizes(store, run)
        told = [replace(row, size_bytes=sizes[row.table_name]) for row in told]
        seconds = round(time.monotonic() - began, 3)
        commit_run(store, run, {"tables": told, "seconds": seconds})
    history.show(store)
    return told


def planned(store: Store, merged: dict[str, list[Part]]) -> list[MergedParts]:
    """Return how many parts each table has before and after, and how much is written anew."""
    listed = Counter(part.table for part in history.parts(store))
    return [
        MergedParts(
            table_name=table,
            parts_before=listed[table],
            parts=listed[table] - len(parts) + 1,
            row_count=merging.total([part.sums for part in parts]).row_count,
            size_bytes_before=merging.size(store, parts),
            size_bytes=None,
        )
        for table, parts in merged.items()
    ]


def _sizes(store: Store, run: Run) -> dict[str, int]:
    """Return the bytes of the parts of a run, by table."""
    parts = [part for part in history.parts(store) if part.run_id == run.run_id]
    return {part.table: merging.size(store, [part]) for part in parts}
