"""Match here or elsewhere: where the job names an engine, it computes, and the store keeps it.

An engine computes while the store is closed; what came in meanwhile waits for the next match. One
transaction keeps what it found, unless the run is not the one to be kept any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.archive.archive import Archive
from cardoffers_cli.kernel.store.runs import check_uncommitted, commit_run
from cardoffers_cli.river.decide import MatchReport, decide, record
from cardoffers_cli.river.engines import compute, decide_on, target_of
from cardoffers_cli.river.redeem import take_redemptions
from cardoffers_cli.river.resolve import keep_waiting

if TYPE_CHECKING:
    from cardoffers_cli.archive.target import EngineTarget
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.engines import EngineOutput


def match_purchases(job: Job, *, rematch: bool = False, dry_run: bool = False) -> MatchReport:
    """Match what is not decided yet; with `rematch` also what was decided and did not redeem.

    Without an engine that is one transaction; with one see above. With `dry_run` nothing is kept.
    """
    if not job.settings.engine:
        with job.store() as store, store.transaction(keep=not dry_run):
            return decide(store, job, rematch=rematch, dry_run=dry_run)
    if dry_run:
        with job.store() as store, store.transaction(keep=False):
            return decide_at(target_of(store, job), store, job, rematch=rematch)
    computed = compute(job, rematch=rematch)
    with job.store() as store, store.transaction():
        return keep(store, job, computed)


def keep(store: Store, job: Job, computed: EngineOutput) -> MatchReport:
    """Keep a run that an engine computed, in the caller's transaction.

    Raises `Refused` where the run is not the one to be kept any more.
    """
    check_uncommitted(store, computed.run)
    archive = Archive(store, computed.target.root)
    for table, sums in computed.parts.items():
        archive.add(table, computed.run, expected=sums)
    archive.show()
    keep_waiting(store, run_no=computed.run.run_no)
    redemptions = take_redemptions(store, computed.redeemed)
    unmerged = computed.unmerged.message if computed.unmerged else None
    match_report = record(store, job, computed.run, redemptions, computed.counts)
    report = replace(match_report, unmerged=unmerged)
    commit_run(store, computed.run, {**report.document(), "engine": computed.target.endpoint})
    return report


def decide_at(
    target: EngineTarget | None,
    store: Store,
    job: Job,
    *,
    rematch: bool = False,
    import_no: int | None = None,
) -> MatchReport:
    """Decide everything on a target, or else here, in a transaction of the caller, never kept.

    Redemptions are there then, and of one import the decisions and outcomes.
    """
    if target is None:
        return decide(store, job, rematch=rematch, dry_run=True)
    return decide_on(target, store, job, rematch=rematch, import_no=import_no)
