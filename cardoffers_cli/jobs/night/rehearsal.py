"""The rehearsal of a night: everything that stays in the store, in one transaction that is undone.

Files are read and judged, matched and settled as the night would; nothing is moved, sent or kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.night.checks import check_clock, check_places, check_space
from cardoffers_cli.jobs.night.looking import look_twice
from cardoffers_cli.jobs.night.order import Onlooker
from cardoffers_cli.jobs.night.result import result_of
from cardoffers_cli.jobs.night.run import begin, work_of
from cardoffers_cli.jobs.night.steps import STEPS
from cardoffers_cli.jobs.night.steps import rehearse as rehearse_step
from cardoffers_cli.services import nights

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.jobs.night.order import Order


def rehearse(job: Job, order: Order) -> dict[str, Any]:
    """Return the result that the night would have, as far as the store decides it."""
    remarks = check_places(job, order)
    with job.store(read_only=True) as store:
        check_clock(job, order, nights.newest_finished(store)[0])
    found = look_twice(job, order.drop)
    check_space(job)
    with job.store() as store, store.transaction(keep=False):
        work = work_of(job, begin(store, job, order, found.files), order, Onlooker())
        work.remarks = [*remarks, *found.remarks]
        for position, step in enumerate(STEPS, start=1):
            rehearse_step(step, position, work, store)
        result = result_of(store, job.path, work.night, status="rehearsed")
    return {**result, "dry_run": True}
