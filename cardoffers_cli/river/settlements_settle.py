"""Settle: move what is due into settlements, one per institution and currency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.settle import NewSettlement, settle, still_pending

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class SettleResult(Record):
    """What was settled, and what waits, in the shape of `settle --format json`."""

    run_id: UUID
    settled: int
    still_pending: int
    next_settles_at: datetime | None
    settlements: Sequence[NewSettlement]
    dry_run: bool


def settle_due(job: Job, *, dry_run: bool = False) -> SettleResult:
    """Settle in one transaction; return the shape of `settle --format json`."""
    with job.store() as store, store.transaction(keep=not dry_run):
        return settle_in(store, job, dry_run=dry_run)


def settle_in(store: Store, job: Job, *, dry_run: bool = False) -> SettleResult:
    """Settle what is due in the caller's transaction, as one run."""
    with run_record(store, kind="settle", now=job.now, actor=job.actor) as run:
        made = settle(store, run_no=run.run_no, now=job.now, actor=job.actor)
        told = SettleResult(
            run_id=run.run_id,
            settled=sum(settlement.entries for settlement in made),
            **still_pending(store),
            settlements=made,
            dry_run=dry_run,
        )
        run.counts.update(told)
    if not dry_run:
        keep_counts(store)
    return told
