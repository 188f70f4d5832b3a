"""Reverse: take one redemption back, with a reason.

A reversal is dated by the clock of the job. One that lies in the future would give nothing back for
as long, because no settlement would take it; so a clock that was set by hand (`--as-of`) may be
ahead of the real one only where the store is, as in a rehearsal: by at most a day of the newest run
in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import redemption_id
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.institutions import find_institution, institution_of
from cardoffers_cli.kernel.store.runs import finish_run, latest_clock, start_run
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.publish import publish
from cardoffers_cli.river.redemptions import reverse_redemption

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class Reversed(Record):
    """What was reversed, and what it was before."""

    redemption_id: UUID
    institution_id: UUID
    institution: str
    transaction_ref: str
    offer_id: str
    merchant_name: str
    status: str
    status_before: str
    currency: str
    merchant_funded_amount: Amount
    institution_payout_amount: Amount
    deducted: bool
    approval: str | None = if_any()
    reversed_at: datetime
    reason: str
    dry_run: bool


def reverse(
    redemption: str,
    reason: str,
    job: Job,
    *,
    institution: str | None = None,
    dry_run: bool = False,
) -> Reversed:
    """Reverse in one transaction; return what was reversed and what it was before.

    It is named by its id, the beginning of that, its purchase's reference, or `latest`. `deducted`
    says that the next settlement takes the money back, as one before has settled it; `approval`
    how far the approval of a second person is, where it needs one. Raises `ApprovalNeeded`.
    """
    if not reason.strip():
        raise UsageError("A reversal needs a reason.", hint='Say why: --reason "returned goods".')
    with approvable(job, dry_run=dry_run) as store:
        _not_in_the_future(store, job)
        owner = find_institution(store, institution).id if institution else None
        run = start_run(store, kind="reverse", now=job.now, actor=job.actor)
        before = reverse_redemption(
            store,
            redemption_id(store, redemption, owner),
            reason=reason.strip(),
            run_no=run.run_no,
            now=job.now,
            actor=job.actor,
        )
        approval = require_approval(
            store,
            run,
            institution_of(store, before.institution_id),
            action="redemption_reverse",
            subject=before.transaction_ref,
            amount=before.merchant_funded_amount,
            currency=before.currency,
            details={
                "redemption_id": before.redemption_id,
                "offer_id": before.offer_id,
                "merchant_name": before.merchant_name,
                "institution_payout_amount": before.institution_payout_amount,
                "reason": reason.strip(),
            },
            dry_run=dry_run,
        )
        publish(store, "reversals", run_no=run.run_no)
        report = Reversed.part(
            before,
            approval=approval,
            status="reversed",
            status_before=before.status,
            deducted=before.status == "settled",
            reversed_at=job.now,
            reason=reason.strip(),
            dry_run=dry_run,
        )
        finish_run(store, run, report)
        if not dry_run:
            keep_counts(store)
    return report


def _not_in_the_future(store: Store, job: Job) -> None:
    """Raise `Refused` where the clock of the job is ahead of the real one and of the store."""
    if job.now > latest_clock(store, job.now):
        raise Refused(
            f"The reversal lies in the future: {format_moment(job.now)}.",
            code="reversal_in_future",
            hint="Leave out --as-of; no settlement would take it before then.",
        )
