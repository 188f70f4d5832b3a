"""What a person decides of refunds: this one is of that purchase, or is to be laid aside.

A link is made as the step makes it, with the same effects; it says who made it and why, and is for
ever. Only a refund that waits can be linked or dismissed. Of several at once each is judged for
itself, and those that cannot be linked say why.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.institutions import asked_institutions, find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.refunds.apply import find_open, refusals, settle_claims
from cardoffers_cli.refunds.questions import NamedRefund, dismiss, find_refund, list_refunds
from cardoffers_cli.refunds.texts import TEXTS
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.handles import Claims

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

MESSAGES = TEXTS["messages"]
"""Why a refund cannot be linked, by code."""


class RefundLink(Record):
    """What a person says: this refund is of that purchase, and why."""

    refund_ref: str
    transaction_ref: str
    reason: str


class LinkedRefund(
    Record, sheet="* code amount net_after currency message redemption_id reason -approval -dry_run"
):
    """What became of a refund that a person linked; `code` says why it was not."""

    refund_ref: str = shown("refund")
    transaction_ref: str = shown("purchase")
    is_linked: bool = shown("linked", gives_way=1)
    code: str | None = shown(gives_way=2)
    message: str | None = shown(gives_way=6)
    outcome: str | None = shown(gives_way=2)
    amount: Amount | None = shown(gives_way=3)
    net_after: Amount | None = shown("left of it", gives_way=4)
    currency: str | None = shown(gives_way=5)
    redemption_id: UUID | None = shown(gives_way=12)
    reason: str = shown(gives_way=7)
    approval: str | None = if_any()
    dry_run: bool


class DismissedRefund(Record):
    """A refund that a person laid aside."""

    refund_ref: str
    amount: Amount
    currency: str
    state: str
    reason: str
    approval: str | None = if_any()
    dry_run: bool


def link_refund(
    job: Job, institution: str, request: RefundLink, *, dry_run: bool = False
) -> LinkedRefund:
    """Link one refund; raise `NotFound` or `Refused` where it cannot be, and write nothing then."""
    (result,) = link_refunds(job, institution, [request], dry_run=True)
    if result.code in {"refund_not_found", "purchase_not_received"}:
        raise NotFound(result.message or "", code=result.code, hint=_HINT)
    if result.code:
        raise Refused(result.message or "", code=result.code, hint=_HINT)
    return result if dry_run else link_refunds(job, institution, [request])[0]


def link_refunds(
    job: Job, institution: str, requests: Sequence[RefundLink], *, dry_run: bool = False
) -> list[LinkedRefund]:
    """Link refunds in one transaction, those that can be; return what became of each.

    Raises `ApprovalNeeded` where they come to more than one person may link.
    """
    if any(not request.reason.strip() for request in requests):
        raise UsageError("A link needs a reason.", hint='Say why: --reason "same till receipt".')
    with approvable(job, dry_run=dry_run) as store:
        owner = find_institution(store, institution)
        with run_record(store, kind="refund_link", now=job.now, actor=job.actor) as run:
            rows = [{"line": line, **request} for line, request in enumerate(requests)]
            table = store.make("refunds/questions:said", said=rows)
            named = store.records(
                NamedRefund, "refunds/questions:named", table, institution_id=owner.id
            )
            against = _against(named)
            _link(store, named, against, run)
            results = _told(store, owner, named, against, dry_run=dry_run)
            linked = [result for result in results if result.is_linked]
            approval = linked and require_approval(
                *(store, run, owner),
                action="refund_link",
                subject=", ".join(sorted(each.refund_ref for each in linked)),
                details={each.refund_ref: [each.transaction_ref, each.reason] for each in linked},
                amount=sum((each.amount or Decimal(0) for each in linked), Decimal(0)),
                currency=owner.currency,
                dry_run=dry_run,
            )
            run.counts["linked"] = len(linked)
        if not dry_run:
            keep_counts(store)
    return [replace(each, approval=approval or None) for each in results]


def dismiss_refund(
    job: Job, institution: str | None, refund_ref: str, reason: str, *, dry_run: bool = False
) -> DismissedRefund:
    """Lay a refund aside that waits.

    Raises `NotFound`, `Refused` refund_not_waiting, and `ApprovalNeeded`.
    """
    if not reason.strip():
        raise UsageError("A dismissal needs a reason.", hint='Say why: --reason "sent twice".')
    with approvable(job, dry_run=dry_run) as store:
        (owner,) = asked_institutions(store, institution)
        refund = find_refund(store, owner.id, refund_ref)
        if refund.state != "waiting":
            code = "refund_not_waiting"
            raise Refused(MESSAGES[code], code=code, hint=f"It is {refund.state}.")
        with run_record(store, kind="refund_dismiss", now=job.now, actor=job.actor) as run:
            approval = require_approval(
                store,
                run,
                owner,
                action="refund_dismiss",
                subject=refund_ref,
                details={"reason": reason.strip()},
                amount=refund.amount,
                currency=refund.currency,
                dry_run=dry_run,
            )
            by = {"actor": job.actor, "reason": reason.strip(), "run_no": run.run_no}
            dismiss(store, refund, owner.id, now=job.now, **by)
            run.counts["refund_ref"] = refund_ref
        after = find_refund(store, owner.id, refund_ref)
    return DismissedRefund.part(after, reason=reason.strip(), approval=approval, dry_run=dry_run)


_HINT = "`cardoffers refund show REFUND_REF -i INST` tells what is known of it."


def _against(named: Sequence[NamedRefund]) -> dict[int, str]:
    """Return what is against rows before the purchase is looked at, by their lines."""
    times = Counter(refund.refund_ref for refund in named)
    codes = {}
    for refund in named:
        if refund.refund_no is None:
            codes[refund.line] = "refund_not_found"
        elif times[refund.refund_ref] > 1:
            codes[refund.line] = "refund_named_twice"
        elif refund.state != "waiting":
            codes[refund.line] = "refund_not_waiting"
        elif refund.purchase_no is None:
            codes[refund.line] = "purchase_not_received"
    return codes


def _link(store: Store, named: Sequence[NamedRefund], against: dict[int, str], run: Run) -> None:
    """Link what nothing is against, and add what then was against the others."""
    fitting = {row.refund_no: row for row in named if row.line not in against and row.refund_no}
    open_refunds = find_open(store, refund_nos=list(fitting))
    rows = [
        {"refund_no": number, "purchase_no": row.purchase_no, "reason": row.reason.strip()}
        for number, row in fitting.items()
    ]
    named_purchases = store.make("refunds/apply:named_by_person", said=rows)
    claims = store.make("refunds/apply:referenced", open_refunds.rows, named_purchases)
    tables = settle_claims(store, Claims(rows=claims, how="person"), run)
    for number, code in refusals(store, tables).items():
        against[fitting[number].line] = code


def _told(
    store: Store,
    owner: Institution,
    named: Sequence[NamedRefund],
    against: Mapping[int, str],
    *,
    dry_run: bool,
) -> list[LinkedRefund]:
    refs = [refund.refund_ref for refund in named]
    now = {
        row.refund_ref: row
        for row in list_refunds(store, owner.id, refund_refs=refs, limit=len(refs))
    }
    results = []
    for refund in named:
        current = now.get(refund.refund_ref)
        is_linked = refund.line not in against and current is not None and current.state == "linked"
        code = None if is_linked else against.get(refund.line, "reversal_too_early")
        linked = current if is_linked else None
        results.append(
            LinkedRefund(
                refund_ref=refund.refund_ref,
                transaction_ref=refund.transaction_ref,
                is_linked=is_linked,
                code=code,
                message=MESSAGES[code] if code else None,
                outcome=linked.outcome if linked else None,
                amount=linked.amount if linked else None,
                net_after=linked.net_after if linked else None,
                currency=linked.currency if linked else None,
                redemption_id=linked.redemption_id if linked else None,
                reason=refund.reason,
                dry_run=dry_run,
            )
        )
    return results
