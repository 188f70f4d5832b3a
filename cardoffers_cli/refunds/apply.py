"""Apply refunds: link what names its purchase, then what the policies choose; reverse what is due.

It runs between match and settle, over all institutions at once, and can be run again: what waits
then is looked for again, and nothing else is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.refunds.refund import (
    REFUNDED,
    RefundCounts,
    counted,
    find_by_policy,
    find_candidates,
    find_open,
    find_referenced,
    given_back,
    keep_not_received,
    take_back,
)
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.publish import publish
from cardoffers_cli.river.redeem import AMOUNTS
from cardoffers_cli.river.redemptions import reverse_all

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Claims, ReversalTables


class RefundsApplied(RefundCounts):
    """What a run made of refunds, and what it took back by currency, as `refund apply` tells it."""

    run_id: UUID
    merchant_funded_amount: Mapping[str, Decimal]
    commission_amount: Mapping[str, Decimal]
    institution_payout_amount: Mapping[str, Decimal]
    dry_run: bool


def apply_refunds(job: Job, *, dry_run: bool = False) -> RefundsApplied:
    """Apply the refunds that wait, in one transaction; return the shape of `refund apply`."""
    with job.store() as store, store.transaction(keep=not dry_run):
        return apply_in(store, job, dry_run=dry_run)


def apply_in(store: Store, job: Job, *, dry_run: bool = False) -> RefundsApplied:
    """Apply the refunds that wait in the caller's transaction, as one run."""
    with run_record(store, kind="refund", now=job.now, actor=job.actor) as run:
        refunds = find_open(store)
        referenced = find_referenced(store, refunds)
        settle_claims(store, referenced, run)
        keep_not_received(store, refunds, referenced, run_no=run.run_no)
        candidates = find_candidates(store, refunds, by_policy=True)
        settle_claims(store, find_by_policy(store, candidates), run)
        counts = counted(store, refunds, run_no=run.run_no)
        back = amounts_back(store, run)
        told = RefundsApplied(
            run_id=run.run_id,
            **counts,
            merchant_funded_amount=back["merchant_funded_amount"],
            commission_amount=back["commission_amount"],
            institution_payout_amount=back["institution_payout_amount"],
            dry_run=dry_run,
        )
        run.counts.update(told)
    if not dry_run:
        keep_counts(store)
    return told


def settle_claims(store: Store, claims: Claims, run: Run) -> ReversalTables:
    """Link the refunds of claims, and reverse the redemptions that these take back."""
    taken = take_back(store, claims, **run.by)
    reverse_all(store, taken.reversals, reason=REFUNDED, **run.by)
    publish(store, "reversals", run_no=run.run_no)
    return taken


def amounts_back(store: Store, run: Run) -> dict[str, dict[str, Decimal]]:
    """Return what a run took back, by the name of the amount and by currency."""
    back = given_back(store, run_no=run.run_no)
    return {
        name: {each.currency: quantize(each[name], each.currency) for each in back}
        for name in AMOUNTS
    }
