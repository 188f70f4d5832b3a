"""Match: decide every purchase that is not decided yet, over all institutions at once.

All at once, because offers share their budget between institutions and the order of purchases
runs through all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize
from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.jobs.runs import finish_run, start_run
from cardoffers_cli.pipeline.match import match
from cardoffers_cli.pipeline.publish import publish
from cardoffers_cli.pipeline.redeem import (
    Found,
    Redeemed,
    hold,
    keep_decisions,
    keep_redemptions,
    redeem,
)
from cardoffers_cli.pipeline.resolve import resolve, resolve_import, resolve_purchase

if TYPE_CHECKING:
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.jobs.runs import Run
    from cardoffers_cli.store.store import Store


@dataclass(frozen=True, kw_only=True)
class MatchReport:
    """One match run and what it came to.

    `unmerged` says why small parts of the history were left as they are, if they were to be merged.
    """

    run_id: UUID
    redeemed: Redeemed
    dry_run: bool
    unmerged: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the report in the shape of `match --format json`."""
        found = self.redeemed
        return {
            "run_id": self.run_id,
            "considered": found.considered,
            "redeemed": found.redeemed,
            "merchant_unresolved": found.merchant_unresolved,
            "not_redeemed": found.not_redeemed,
            "rounds": found.rounds,
            "refusals": found.refusals,
            **{name: _with_decimals(by_currency) for name, by_currency in found.amounts.items()},
            "dry_run": self.dry_run,
            **({"unmerged": self.unmerged} if self.unmerged else {}),
        }


def decide(
    store: Store,
    job: Job,
    *,
    rematch: bool = False,
    import_no: int | None = None,
    purchase_no: int | None = None,
    dry_run: bool = False,
) -> MatchReport:
    """Resolve, match, redeem and publish in the caller's transaction, as one run.

    With an `import_no` decide that import alone, with a `purchase_no` that purchase, out of their
    turn: for what is not kept.
    """
    run = start_run(store, kind="match", now=job.now, actor=job.actor)
    found = _decided(store, run, rematch, import_no, purchase_no)
    keep_decisions(store)
    report = record(store, job, run, found, dry_run=dry_run)
    finish_run(store, run, report.document())
    return report


def _decided(
    store: Store, run: Run, rematch: bool, import_no: int | None, purchase_no: int | None
) -> Found:
    engine = DuckEngine(store.connection)
    with store.guarded():  # the engine computes on the store's connection and raises what it raises
        if purchase_no is not None:
            resolve_purchase(store, engine, purchase_no)
        elif import_no is not None:
            resolve_import(store, engine, import_no)
        else:
            resolve(engine, rematch=rematch)
        match(engine)
        hold(store, run.run_no)
        return redeem(engine)


def record(store: Store, job: Job, run: Run, found: Found, *, dry_run: bool = False) -> MatchReport:
    """Write the redemptions of a run with their ledger and their events."""
    redeemed = keep_redemptions(
        store, found, run_no=run.run_no, created_at=job.now, actor=job.actor
    )
    publish(store, run_no=run.run_no)
    return MatchReport(run_id=run.run_id, redeemed=redeemed, dry_run=dry_run)


def _with_decimals(by_currency: dict[str, Decimal]) -> dict[str, Decimal]:
    return {currency: quantize(amount, currency) for currency, amount in by_currency.items()}
