"""Match: decide every purchase that is not decided yet, over all institutions at once.

All at once, because offers share their budget between institutions and the order of purchases runs
through all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.match import depends_on_purchases, match
from cardoffers_cli.river.publish import publish
from cardoffers_cli.river.redeem import (
    AMOUNTS,
    Redeemed,
    counted,
    find_held,
    keep_decisions,
    keep_redemptions,
    redeem,
)
from cardoffers_cli.river.resolve import (
    find_not_redeemed,
    find_refunded,
    find_undecided,
    find_waiting,
    keep_waiting,
    one_purchase,
    purchases_of_import,
    resolve,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Decided, MatchCounts, Undecided


_NO_RUN = 2**62
"""The number of a run that is not kept: it comes after every run that was."""


class MatchResult(Record):
    """What a match came to, the amounts by currency, in the shape of `match --format json`."""

    run_id: UUID
    considered: int
    redeemed: int
    merchant_unresolved: int
    not_redeemed: int
    rounds: int
    refusals: int
    merchant_funded_amount: Mapping[str, Decimal]
    commission_amount: Mapping[str, Decimal]
    institution_payout_amount: Mapping[str, Decimal]
    dry_run: bool
    unmerged: str | None = if_any()


@dataclass(frozen=True, kw_only=True)
class MatchReport:
    """One match run and what it came to.

    `unmerged` says why small parts of the archive were left as they are, if they were to be merged.
    """

    run_id: UUID
    redeemed: Redeemed
    dry_run: bool
    unmerged: str | None = None

    def document(self) -> MatchResult:
        """Return the report in the shape of `match --format json`."""
        counts = self.redeemed
        return MatchResult(
            run_id=self.run_id,
            considered=counts.considered,
            redeemed=counts.redeemed,
            merchant_unresolved=counts.merchant_unresolved,
            not_redeemed=counts.not_redeemed,
            rounds=counts.rounds,
            refusals=counts.refusals,
            **{
                name: {currency: quantize(amount, currency) for currency, amount in sums.items()}
                for name, sums in counts.amounts.items()
            },
            dry_run=self.dry_run,
            unmerged=self.unmerged or None,
        )


def decide(store: Store, job: Job, *, rematch: bool = False, dry_run: bool = False) -> MatchReport:
    """Decide what waits, in the caller's transaction, as one run."""
    engine = engine_of(store)
    if rematch:
        undecided = find_not_redeemed(engine, find_refunded(store))
    else:
        undecided = find_undecided(engine, find_waiting(store))
    return _decide(store, job, undecided, dry_run=dry_run)


def decide_one(store: Store, job: Job, import_no: int) -> None:
    """Decide the one purchase of an import, out of its turn, in a transaction that is not kept.

    It writes what answers are read from, and no run, moves or events.
    """
    undecided = purchases_of_import(store, import_no)
    decided = _decided(store, undecided, _NO_RUN)
    keep_decisions(store, decided)
    keep_redemptions(store, decided.redemptions, run_no=_NO_RUN, created_at=job.now)


def decide_again(store: Store, job: Job, purchase_no: int) -> MatchReport:
    """Decide one purchase as if it had redeemed nothing, in a transaction that is not kept."""
    undecided = one_purchase(store, purchase_no)
    return _decide(store, job, undecided, without=purchase_no, dry_run=True)


def engine_of(store: Store) -> DuckEngine:
    """Return the engine that computes on the store's own connection."""
    return DuckEngine(store.connection, store.tables)


def _decide(
    store: Store, job: Job, undecided: Undecided, *, without: int | None = None, dry_run: bool
) -> MatchReport:
    """Resolve, match, redeem and publish, as one run."""
    run = start_run(store, kind="match", now=job.now, actor=job.actor)
    decided = _decided(store, undecided, run.run_no, without=without)
    with store.guarded():
        counts = counted(engine_of(store), decided)
    keep_decisions(store, decided)
    keep_waiting(store, run_no=run.run_no)
    report = record(store, job, run, decided.redemptions, counts, dry_run=dry_run)
    finish_run(store, run, report.document())
    return report


def _decided(
    store: Store, undecided: Undecided, run_no: int, *, without: int | None = None
) -> Decided:
    """Resolve, match and redeem."""
    engine, is_priced = engine_of(store), depends_on_purchases(store)
    with store.guarded():  # the engine computes on the store's connection and raises what it raises
        resolutions = resolve(engine, undecided)
        candidates = match(engine, resolutions, is_priced=is_priced)
        for often_read in (candidates.terms, candidates.enrolled):
            store.compute(often_read)
        hold = find_held(store, candidates, run_no, without=without)
        return redeem(engine, resolutions, candidates, hold)


def record(
    store: Store,
    job: Job,
    run: Run,
    redemptions: Table,
    counts: MatchCounts,
    *,
    dry_run: bool = False,
) -> MatchReport:
    """Write the redemptions of a run with their ledger and their events, and count them."""
    keep_redemptions(store, redemptions, run_no=run.run_no, created_at=job.now)
    store.execute("river/redeem:ledger_moves", run_no=run.run_no, actor=job.actor)
    funded = store.rows("river/redeem:funded", run_no=run.run_no)
    redeemed = Redeemed(
        **vars(counts),
        redeemed=sum(row["redeemed"] for row in funded),
        amounts={name: {row["currency"]: row[name] for row in funded} for name in AMOUNTS},
    )
    publish(store, "redemptions", run_no=run.run_no)
    if not dry_run:
        keep_counts(store)
    return MatchReport(run_id=run.run_id, redeemed=redeemed, dry_run=dry_run)
