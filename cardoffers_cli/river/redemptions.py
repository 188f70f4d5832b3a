"""One redemption: find it, show it, reverse it (rules.md#reversals)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import redemption_id
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.institutions import find_institution, institution_of
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import finish_run, machine_at, start_run
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_minute, format_moment
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.publish import publish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class RedemptionSummary(Record):
    """A redemption with the state of its ledger entry, and what people know it by."""

    redemption_no: int
    redemption_id: UUID
    institution_id: UUID
    institution: str
    transaction_ref: str
    offer_id: str
    merchant_name: str
    currency: str
    merchant_funded_amount: Amount
    commission_amount: Amount
    institution_payout_amount: Amount
    status: str
    created_at: datetime
    settled_at: datetime | None
    reversed_at: datetime | None


class RedemptionRecord(Record):
    """A redemption with its purchase, its offer, its ledger entry and how far its webhook is."""

    redemption_id: UUID
    institution: str
    status: str
    transaction_ref: str
    amount: Amount
    currency: str
    transacted_at: datetime
    received_at: datetime
    offer_id: str
    offer_title: str | None
    merchant_id: UUID
    merchant_name: str
    entry_id: UUID
    merchant_funded_amount: Amount
    commission_amount: Amount
    institution_payout_amount: Amount
    created_at: datetime
    settles_at: datetime
    settled_at: datetime | None
    reversed_at: datetime | None
    reversal_reason: str | None
    settlement_id: UUID | None
    deducted_by_settlement_id: UUID | None
    webhook_state: str | None
    webhook_attempts: int | None
    webhook_next_attempt_at: datetime | None
    cardholder_token_masked: str


class StateMove(Record, sheet="moved_at status actor reason"):
    """A change of the state of a redemption: by whom, and why, if that was said."""

    status: str
    moved_at: datetime
    actor: str
    reason: str | None


class RedemptionDetails(RedemptionRecord):
    """A redemption with all that belongs to it, and its changes of state in their order."""

    history: Sequence[StateMove]


def show_redemption(store: Store, redemption_id: str) -> RedemptionDetails:
    """Return a redemption with all that belongs to it, and its history; raise `NotFound`."""
    of = {"redemption_id": redemption_id}
    row = store.record(RedemptionRecord, "river/redemptions:show", **of)
    if row is None:
        raise _unknown()
    moves = store.records(StateMove, "river/redemptions:moves", **of)
    return RedemptionDetails(**row, history=moves)


def reverse_redemption(
    store: Store, redemption_id: str, *, reason: str, run_no: int, now: datetime, actor: str
) -> RedemptionSummary:
    """Reverse a pending or settled redemption; return it as it was before.

    Raises `Refused` if it is reversed already, and as `reverse_all` does.
    """
    of = {"redemption_id": redemption_id}
    redemption = store.record(RedemptionSummary, "river/redemptions:find", **of)
    if redemption is None:
        raise _unknown()
    if redemption.status == "reversed":
        raise Refused.from_table(
            "river", "already_reversed", redemption=format_minute(redemption["reversed_at"])
        )
    number = redemption.redemption_no
    reversals = store.make("river/redemptions:one_reversal", redemption_no=number)
    reverse_all(store, reversals, reason=reason, run_no=run_no, now=now, actor=actor)
    return redemption


def reverse_all(
    store: Store, reversals: Table, *, reason: str, run_no: int, now: datetime, actor: str
) -> None:
    """Reverse redemptions that are pending or settled, in the caller's transaction.

    The budgets and the uses come back by themselves, as only entries that are not reversed count.
    Settled entries leave negative adjustments. Raises `Refused` for a moment before one of them was
    made or settled.
    """
    last = store.row("river/redemptions:newest_move", reversals)
    if last is None:
        return
    if now < last["moved_at"]:
        state = "settled" if last["is_settled"] else "made"
        raise Refused.from_table(
            "river", "reversal_too_early", state=state, last=format_moment(last["moved_at"])
        )
    store.execute("river/redemptions:adjust", reversals, now=now)
    store.execute("river/redemptions:release", reversals)
    store.execute("river/redemptions:reverse", reversals, now=now, reason=reason)
    store.execute(
        "river/redemptions:record_reversals",
        reversals,
        run_no=run_no,
        now=now,
        actor=actor,
        reason=reason,
    )


def _unknown() -> NotFound:
    return NotFound.from_table("river", "redemption_not_found")


# Redemptions: look at one, with all that belongs to it.


def show(redemption: str, job: Job, *, institution: str | None = None) -> RedemptionDetails:
    """Return a redemption, its purchase, money, webhook and history; raise `NotFound`.

    It is named by its id, the beginning of that, its purchase's reference, or `latest`.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        return show_redemption(source.store, redemption_id(source.store, redemption, owner))


# Reverse: take one redemption back, with a reason.
#
# A reversal is dated by the clock of the job. One that lies in the future would give nothing back
# for as long, because no settlement would take it; so a clock that was set by hand (`--as-of`) may
# be ahead of the real one only where the store is, as in a rehearsal: by at most a day of the
# newest run in it.


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
    """Raise `Refused` where the clock of the job is ahead of the machine's, beyond tolerance."""
    if job.now - machine_at(store, job.now) > timedelta(hours=job.settings.clock_tolerance_hours):
        raise Refused.from_table("river", "reversal_in_future", now=format_moment(job.now))
