"""Findings of reconciliation: list them, show one, and accept one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.credits.questions import (
    CreditedRow,
    FindingProgress,
    ListedFinding,
    find_finding,
)
from cardoffers_cli.credits.rules import meaning_of
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval, who_decides
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import if_any
from cardoffers_cli.payouts.bank_codes import meaning_of as bank_meaning
from cardoffers_cli.payouts.questions import BankEntryRow, list_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.credits.questions import FindingState
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class FindingRow(ListedFinding, sheet="* bank_code bank_meaning"):
    """A finding, and what the bank means by its code."""

    bank_meaning: str | None = if_any("bank says", gives_way=10)


class FindingDetails(FindingProgress):
    """One finding: what it means, what to do next, and what it is about.

    That is credited rows, or what banks said.
    """

    meaning: str
    next: str | None
    bank_meaning: str | None = if_any()
    rows: Sequence[CreditedRow]
    bank: Sequence[BankEntryRow] | None = if_any()


class AcceptedFinding(ListedFinding):
    """A finding that was accepted, why, and the approval that this needed, if any."""

    reason: str
    approval: str | None = if_any()
    dry_run: bool


def finding_rows(
    job: Job,
    institution: str | None = None,
    *,
    code: str | None = None,
    state: FindingState | None = None,
    limit: int,
) -> tuple[list[FindingRow], int]:
    """Return findings, the open ones first, then the oldest; and how many there are in all."""
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        findings = source.store.records(
            FindingProgress,
            "credits/questions:findings",
            institution_id=owner,
            code=code,
            state=state,
            finding_id=None,
            now=job.now,
            limit=limit,
        )
    rows = [
        FindingRow(
            **without_cards(ListedFinding.cut(row)), bank_meaning=bank_meaning(row.bank_code)
        )
        for row in findings
    ]
    return rows, findings[0].findings if findings else 0


def show_finding(job: Job, finding: str, institution: str | None = None) -> FindingDetails:
    """Return one finding, named by its id or the beginning of that; raise `NotFound`."""
    with reading(job) as source:
        row = _find(source.store, job, finding, institution)
        owner = find_institution(source.store, row.institution) if row.institution else None
        meaning = meaning_of(row.code, owner.credit_days if owner else None)
        bank = None
        if row.subject == "statement":
            bank = list_entries(source.store, number=row.paid_as)
        elif row.subject == "entry":
            bank = list_entries(source.store, entry_no=row.subject_no)
        details: FindingDetails = without_cards(
            FindingDetails(
                **row,
                meaning=meaning.says,
                next=meaning.next_of(row.paid_as) if row.state == "open" else None,
                bank_meaning=bank_meaning(row.bank_code),
                rows=source.store.records(
                    CreditedRow, "credits/questions:credited_rows", finding_id=row.finding_id
                ),
                bank=bank,
            )
        )
    return details


def accept_finding(
    job: Job, finding: str, reason: str, *, institution: str | None = None, dry_run: bool = False
) -> AcceptedFinding:
    """Accept a finding that is open, for as long as no run finds anything new of it.

    Above the limit of its institution a second person approves it (rules.md#four-eyes): its amount
    counts, or what was credited if that is more. Raises `NotFound`, `Refused` finding_not_open, and
    `ApprovalNeeded`.
    """
    if not reason.strip():
        raise UsageError(
            "Accepting a finding needs a reason.", hint='Say why: --reason "paid by cheque".'
        )
    with approvable(job, dry_run=dry_run) as store:
        before = _find(store, job, finding, institution)
        if before.state != "open":
            raise Refused(
                f"The finding {before.finding_id} is {before.state} already.",
                code="finding_not_open",
                hint=_why_not(before),
            )
        with run_record(store, kind="reconcile_accept", now=job.now, actor=job.actor) as run:
            approval = require_approval(
                store,
                run,
                who_decides(store, before.institution),
                action="finding_accept",
                subject=before.transaction_ref or before.paid_as or before.code,
                amount=max(before.amount or before.credited_amount, before.credited_amount),
                currency=before.currency,
                details={
                    "finding_id": before.finding_id,
                    "code": before.code,
                    "amount": before.amount,
                    "credited_amount": before.credited_amount,
                    "reason": reason.strip(),
                },
                dry_run=dry_run,
            )
            by = {"actor": job.actor, "reason": reason.strip(), "run_no": run.run_no}
            store.execute(
                "credits/questions:accept", finding_id=before.finding_id, **by, now=job.now
            )
            run.counts["finding_id"] = before.finding_id
        after = find_finding(store, job.now, str(before.finding_id))
    row = ListedFinding.cut(after)
    return AcceptedFinding(
        **without_cards(row), reason=reason.strip(), approval=approval, dry_run=dry_run
    )


def _find(store: Store, job: Job, finding: str, institution: str | None) -> FindingProgress:
    owner = find_institution(store, institution).id if institution else None
    return find_finding(store, job.now, whole_id(store, "finding", finding, owner), owner)


def _why_not(finding: FindingProgress) -> str:
    """Say who accepted a finding, or which run found it no more."""
    if finding.state == "accepted" and finding.accepted_at:
        at = format_moment(finding.accepted_at)
        return f"{finding.accepted_by} did at {at}: {finding.accepted_reason}."
    return "A run did not find it any more: nothing is to be accepted."
