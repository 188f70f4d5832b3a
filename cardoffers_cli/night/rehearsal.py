"""The rehearsal of a night: everything that stays in the store, in one transaction that is undone.

Files are read and judged, matched and settled as the night would; nothing is moved, sent or kept.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.bounds import picked_up
from cardoffers_cli.night.checks import check_clock, check_places, check_space
from cardoffers_cli.night.options import NightContext, NightObserver, NightOptions
from cardoffers_cli.night.result import result_of
from cardoffers_cli.night.run import begin, unfinished_night, work_of
from cardoffers_cli.night.select import look_twice
from cardoffers_cli.night.steps import STEPS
from cardoffers_cli.night.steps import rehearse as rehearse_step
from cardoffers_cli.night.watched import WatchedRun

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.result import NightResult


def rehearse(job: Job, order: NightOptions) -> NightResult:
    """Return the result that the night would have, as far as the store decides it."""
    watched = WatchedRun(job, NightObserver(), order.metrics_file)
    remarks = check_places(job, order)
    with job.store(read_only=True) as store:
        check_clock(job, order, nights.newest_finished(store)[0])
    picked = picked_up(job, order.drop, dry_run=True)
    selection = look_twice(job, order.drop)
    check_space(job)
    with job.store() as store, store.transaction(keep=False):
        work = work_of(job, begin(store, job, order, selection.files), order, NightObserver())
        work.remarks = [*remarks, *picked, *selection.remarks]
        return _rehearsed(store, work, watched)


def rehearse_rest(job: Job, run_id: str | None) -> NightResult:
    """Return the result that a night would have if it went on; raise as `resume_night` does."""
    watched = WatchedRun(job, NightObserver())
    night = unfinished_night(job, run_id)
    order = NightOptions(drop=Path(night.drop_folder))
    remarks = check_places(job, order)
    with job.store() as store, store.transaction(keep=False):
        work = work_of(job, night, order, NightObserver())
        work.remarks = remarks
        return _rehearsed(store, work, watched)


def _rehearsed(store: Store, work: NightContext, watched: WatchedRun) -> NightResult:
    """Rehearse the steps that are not recorded, in the caller's transaction."""
    recorded = {step.name for step in nights.steps(store, work.night)}
    for position, step in enumerate(STEPS, start=1):
        if step.name not in recorded:
            rehearse_step(step, position, work, store)
    result = result_of(store, work.job.path, work.night, status="rehearsed")
    return replace(result, dry_run=True, hooks=watched.would_tell())
