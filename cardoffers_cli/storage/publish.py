"""Publish: take a snapshot of the store, which readers are answered from while a job holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store import snapshot
from cardoffers_cli.kernel.store.layout import snapshot_path
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job


class PublishResult(Record):
    """A snapshot of the store: where, of when and how large; of a dry run there is no run."""

    run_id: UUID | None
    snapshot: str
    taken_at: datetime
    size_bytes: int
    dry_run: bool


def publish(job: Job, *, dry_run: bool = False) -> PublishResult:
    """Record the run and put a copy of the store into its folder; return where, when and how large.

    With `dry_run` the size is what the store has.
    """
    if dry_run:
        with job.store(read_only=True):
            return _report(job, None, snapshot_path(job.path), job.path, dry_run=True)
    with job.store() as store:
        with store.transaction():
            run = start_run(store, kind=snapshot.KIND, now=job.now, actor=job.actor)
            finish_run(store, run, {})
        path = snapshot.publish(store, job.path, job.settings)
    return _report(job, run.run_id, path, path, dry_run=False)


def _report(
    job: Job, run_id: UUID | None, path: Path, sized: Path, *, dry_run: bool
) -> PublishResult:
    return PublishResult(
        run_id=run_id,
        snapshot=str(path),
        taken_at=job.now,
        size_bytes=sized.stat().st_size,
        dry_run=dry_run,
    )
