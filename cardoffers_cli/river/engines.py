"""Match here or elsewhere: where the job names an engine, it computes, and the store keeps it.

An engine reads the parts of the archive where they are. What else it needs is handed to it, and of
what it finds only redemptions, known refs and counts travel; decisions and outcomes it writes into
parts of the archive. It never writes to the store, and the store lists a part only in the
transaction that keeps the run.

An engine computes while the store is closed; what came in meanwhile waits for the next match. One
transaction keeps what it found, unless the run is not the one to be kept any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.archive.archive import Archive, archive_of, part_folder, recent
from cardoffers_cli.archive.buckets import place_of
from cardoffers_cli.archive.export import merge_due, move_recent, sweep
from cardoffers_cli.archive.target import EngineInput, EngineTarget, given
from cardoffers_cli.kernel.store.layout import history_root
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.runs import Run, check_uncommitted, commit_run, start_run
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.river.decide import MatchReport, decide, record
from cardoffers_cli.river.handles import ReservedTables, Waiting
from cardoffers_cli.river.match import depends_on_purchases, match
from cardoffers_cli.river.redeem import counted, find_all_held, redeem
from cardoffers_cli.river.resolve import (
    find_not_redeemed,
    find_undecided,
    find_waiting,
    keep_waiting,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from cardoffers_cli.archive.archive import Sums
    from cardoffers_cli.archive.spark import SparkEngine
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.errors import CardoffersError
    from cardoffers_cli.river.handles import Decided, MatchCounts


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
    redemptions = store.make("river/redeem:fetched_redemptions", frame=computed.redeemed)
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
    # In the caller's transaction, which is not kept, redemptions are there then, and of one import
    # the decisions and outcomes.
    run = start_run(store, kind="match", now=job.now, actor=job.actor)
    more = []
    if import_no is not None:
        more = [store.make("river/resolve:import_looked_at", import_no=import_no)]
    rows = _given(store, target, run, *more)
    with target.engine(uuid4()) as engine:
        there = rows.to(engine)
        decided, counts = _decided(engine, there, rows, rematch=rematch)
        redeemed = engine.fetch(decided.redemptions)
        if import_no is not None:
            tables = (decided.decisions, decided.outcomes, there["import_looked_at"])
            of_import = engine.define("of_import", *tables)
            decisions = engine.fetch(of_import["decided_of_import"])
            outcomes = engine.fetch(of_import["outcomes_of_import"])
            store.load("river/redeem:fetched_decisions", decisions)
            store.load("river/redeem:fetched_outcomes", outcomes)
    redemptions = store.make("river/redeem:fetched_redemptions", frame=redeemed)
    return record(store, job, run, redemptions, counts, dry_run=True)


_READ = ("purchases", "decisions")
"""The archived tables that a match reads."""
_SAVED = ("decisions", "outcomes")
"""The archived tables that a match adds a part to."""


@dataclass(frozen=True, kw_only=True)
class EngineOutput:
    """What an engine made of a run that was begun: counts, redemptions, and parts to be listed.

    `unmerged` says why small parts of the archive were not merged before it, if they were to be.
    """

    target: EngineTarget
    run: Run
    counts: MatchCounts
    redeemed: pa.Table
    parts: dict[str, Sums]
    unmerged: CardoffersError | None


@dataclass(frozen=True, kw_only=True)
class _MatchInput(EngineInput):
    """What an engine is given for a match; `still_unknown` are purchases that it need not see."""

    still_unknown: int
    is_priced: bool


def target_of(store: Store, job: Job) -> EngineTarget | None:
    """Return where the engine of a job works, or None if it has none.

    Raises `Refused` for a store with purchases and no archive: an engine cannot read them.
    """
    if job.settings.engine is None:
        return None
    archive = archive_of(store)
    if archive is None and recent(store):
        raise Refused.from_table("river", "history_missing")
    root = archive.root if archive else place_of(history_root(job.path))
    named = (job.settings.engine_root or str(root)).rstrip("/")
    return EngineTarget(url=job.settings.engine, root=root, named=named)


def compute(job: Job, *, rematch: bool = False) -> EngineOutput:
    """Begin a run of match and compute it, the store being closed meanwhile.

    Everything recent moves into the archive first, where many small parts become few. Raises
    `EngineFailed`; if nobody answers, nothing was begun.
    """
    with job.store(read_only=True) as store:
        target = target_of(store, job)
    if target is None:
        raise UsageError("No engine is named.", hint="Name one with --engine sc://host:port.")
    with engine_lock(job.path), target.engine(uuid4()) as engine:
        run, rows, unmerged = _begin(job, target)
        decided, counts = _decided(engine, rows.to(engine), rows, rematch=rematch)
        return EngineOutput(
            target=target,
            run=run,
            counts=counts,
            redeemed=engine.fetch(decided.redemptions),
            parts={
                name: engine.save(
                    getattr(decided, name),
                    target.there(part_folder(target.root, name, run.run_id)),
                )
                for name in _SAVED
            },
            unmerged=unmerged,
        )


def _begin(job: Job, target: EngineTarget) -> tuple[Run, _MatchInput, CardoffersError | None]:
    """Record a run, so that what it leaves behind is known, and take what the engine is given."""
    with job.store() as store:
        sweep(store, job, target.root)
        move_recent(store, job, target.root)
        _, unmerged = merge_due(store, job)
        with store.transaction():
            run = start_run(store, kind="match", now=job.now, actor=job.actor)
        return run, _given(store, target, run), unmerged


def _given(store: Store, target: EngineTarget, run: Run, *more: Table) -> _MatchInput:
    """Take what an engine needs for a match: with what waits, and what earlier runs hold."""
    waiting, hold = find_waiting(store), find_all_held(store, run.run_no)
    handed = (waiting.watermark, waiting.known_now, waiting.refunded, *vars(hold).values(), *more)
    rows = given(store, target, handed, *_READ)
    return _MatchInput(
        **vars(rows),
        still_unknown=waiting.still_unknown,
        is_priced=depends_on_purchases(store),
    )


def _decided(
    engine: SparkEngine, there: Mapping[str, Table], rows: _MatchInput, *, rematch: bool
) -> tuple[Decided, MatchCounts]:
    named = {name: there[name] for name in ("watermark", "known_now", "refunded")}
    waiting = Waiting(**named, still_unknown=rows.still_unknown)
    if rematch:
        undecided = find_not_redeemed(engine, waiting.refunded)
    else:
        undecided = find_undecided(engine, waiting)
    resolutions = resolve(engine, undecided)
    hold = ReservedTables(**{name: there[name] for name in ("reserved", "uses", "this_run")})
    candidates = match(engine, resolutions, is_priced=rows.is_priced)
    decided = redeem(engine, resolutions, candidates, hold)
    return decided, counted(engine, decided)
