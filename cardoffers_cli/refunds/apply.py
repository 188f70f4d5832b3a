"""Apply refunds: link what names its purchase, then what the policies choose; reverse what is due.

It runs between match and settle, over all institutions at once, and can be run again: what waits
then is looked for again, and nothing else is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.money import quantize
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.handles import Claims, OpenRefunds, ReversalTables
from cardoffers_cli.river.publish import publish
from cardoffers_cli.river.redeem import AMOUNTS
from cardoffers_cli.river.redemptions import reverse_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


# Refund: goods that went back are linked to their purchase, and take back what it earned.
#
# A refund that names its purchase is linked by that reference. Of the others each has candidates;
# one becomes a link by a named person, or where the institution's policy says so. Whoever found the
# purchase, `take_back` does the rest, in the same way: the refunds that claim a purchase take turns
# by time, then reference, and each is linked if what is left of the purchase covers it in full; the
# first that leaves less than the offer asked for reverses the redemption. That description is
# serial (rules.md#turns-of-refunds); the statements go through all purchases at once.
#
# Nothing that was found is found again: a linked, refused or dismissed refund is not open any more.
# One whose purchase is not there waits, and every run looks for it.


REFUNDED = "refunded"
"""The reason of a reversal by a refund."""


class RefundCounts(Record):
    """What a run made of the refunds that were open before it; `waiting` are open still.

    Of those that were linked, four moved nothing: the purchase still reaches the minimum (`kept`),
    was given back before, was settled too long ago, or never redeemed. `not_matched_yet` purchases
    will be matched by what is left of them.
    """

    considered: int
    reversed: int
    kept: int
    reduced: int | None = if_any()
    already_reversed: int
    outside_clawback_window: int
    not_redeemed: int
    not_matched_yet: int
    refused: int
    waiting: int


def find_open(
    store: Store, institution_id: UUID | None = None, refund_nos: Sequence[int] | None = None
) -> OpenRefunds:
    """Find the refunds that wait: all, or those of one institution, or of these numbers."""
    of = {"institution_id": institution_id, "refund_nos": refund_nos}
    return OpenRefunds(rows=store.make("refunds/apply:open_refunds", **of))


def take_back(
    store: Store, claims: Claims, *, run_no: int, now: datetime, actor: str
) -> ReversalTables:
    """Link refunds and reduce redemptions; return what becomes of each, and what is to be reversed.

    The caller reverses them in the same transaction.
    """
    asking = store.make("refunds/apply:asking", claims.rows, now=now)
    taking = store.make("refunds/apply:taking", asking)
    effects = store.make("refunds/apply:effects", claims.rows, taking)
    by = {"run_no": run_no, "actor": actor, "now": now}
    store.execute("refunds/apply:links", effects, how=claims.how, **by)
    store.execute("refunds/apply:outcomes", effects, how=claims.how, run_no=run_no)
    store.execute("river/redemptions:reduce", effects, run_no=run_no, now=now)
    reversals = store.make("refunds/apply:reversals", effects)
    return ReversalTables(effects=effects, reversals=reversals)


def refusals(store: Store, tables: ReversalTables) -> dict[int, str]:
    """Return why claims were not linked, by the number of the refund."""
    rows = store.rows("refunds/apply:refusals", tables.effects)
    return {row["refund_no"]: row["outcome"] for row in rows}


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
        # the purchases that they name, by the hash of the reference, then its text
        named = store.make("refunds/apply:named_purchases", refunds.rows)
        rows = store.make("refunds/apply:referenced", refunds.rows, named)
        referenced = Claims(rows=rows, how="referenced")
        settle_claims(store, referenced, run)
        store.execute(
            "refunds/apply:not_received", refunds.rows, referenced.rows, run_no=run.run_no
        )
        # of institutions that link some by themselves
        candidates = store.make("refunds/apply:candidates", refunds.rows, by_policy=True)
        chosen = store.make("refunds/apply:by_policy", candidates)
        settle_claims(store, Claims(rows=chosen, how="policy"), run)
        counts = store.records(
            RefundCounts, "refunds/apply:counts", refunds.rows, run_no=run.run_no
        )[0]
        back = store.rows("refunds/apply:given_back", run_no=run.run_no)
        amounts = {
            name: {row["currency"]: quantize(row[name], row["currency"]) for row in back}
            for name in AMOUNTS
        }
        result = RefundsApplied(
            run_id=run.run_id,
            **counts,
            merchant_funded_amount=amounts["merchant_funded_amount"],
            commission_amount=amounts["commission_amount"],
            institution_payout_amount=amounts["institution_payout_amount"],
            dry_run=dry_run,
        )
        run.counts.update(result)
    if not dry_run:
        keep_counts(store)
    return result


def settle_claims(store: Store, claims: Claims, run: Run) -> ReversalTables:
    """Link the refunds of claims, and reverse the redemptions that these take back."""
    tables = take_back(store, claims, **run.by)
    reverse_all(store, tables.reversals, reason=REFUNDED, **run.by)
    publish(store, "reversals", run_no=run.run_no)
    return tables
