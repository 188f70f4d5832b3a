"""What is shown of credited rows: a list, and one of them beside what is owed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.credits.questions import Credit, CreditDetails, CreditRow, find_credit
from cardoffers_cli.credits.reconcile import (
    BankTotal,
    ControlTotals,
    FindingStates,
    VerdictTotal,
    ask,
    control,
    judge,
    said,
)
from cardoffers_cli.kernel.store.institutions import asked_institutions, find_institution
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.records import if_any, shown
from cardoffers_cli.river.handles import CreditTables, ReconciliationTables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.credits.questions import CreditStatus
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class ListedCredit(Credit, sheet="institution *"):
    """A credited row as it was sent, in the shape of `credit list --format json`."""

    institution: str = shown(gives_way=6)


def credit_rows(
    job: Job,
    institution: str | None,
    *,
    status: CreditStatus | None = None,
    limit: int,
    everywhere: bool = False,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
) -> tuple[list[ListedCredit], int]:
    """Return the credited rows of an institution, the newest first, and how many there are in all.

    `from_at` and `to_at` are the beginning and the end of when they were credited, if any.
    """
    listed: list[ListedCredit] = []
    credited = 0
    with reading(job) as source:
        for owner in asked_institutions(source.store, institution, everywhere=everywhere):
            rows = source.store.records(
                CreditRow,
                "credits/credits:listed",
                institution_id=owner.id,
                status=status,
                limit=limit,
                from_at=from_at,
                to_at=to_at,
            )
            listed += [ListedCredit.part(row, institution=owner.slug) for row in rows]
            credited += rows[0].credits if rows else 0
    return [without_cards(row) for row in listed[:limit]], credited


def show_credit(job: Job, institution: str | None, credit_ref: str) -> CreditDetails:
    """Return one credited row with all that is known of it; raise `NotFound`."""
    with reading(job) as source:
        (owner,) = asked_institutions(source.store, institution)
        credit = find_credit(source.store, owner.id, credit_ref)
        of = credit.owed_redemption_id
        same = (
            source.store.rows(
                "credits/credits:of_redemption",
                institution_id=owner.id,
                redemption_id=of,
                transaction_ref=credit.owed_transaction_ref,
            )
            if of
            else []
        )
    others = [Credit.part(row) for row in same if row["credit_ref"] != credit_ref]
    details: CreditDetails = without_cards(replace(credit, institution=owner.slug, others=others))
    return details


# Reconcile: what was credited, and what banks paid, against what is owed, in one transaction.


class ReconcileResult(FindingStates):
    """What a run found, in the shape of `reconcile --format json`.

    Where nobody sent a credited row, and nobody is paid, there is no run, and nothing is said.
    `bank` is the side of the bank, where there is one: what is paid of statements
    (rules.md#bank-verdicts).
    """

    run_id: UUID | None
    verdicts: Sequence[VerdictTotal]
    control: ControlTotals
    bank: Sequence[BankTotal] | None = if_any()
    dry_run: bool


def reconcile(
    job: Job, institution: str | None = None, *, dry_run: bool = False
) -> ReconcileResult:
    """Reconcile one institution, or all, in one transaction; raise `NotFound` for an unknown."""
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution).id if institution else None
        return reconcile_in(store, job, owner, dry_run=dry_run)


def reconcile_in(
    store: Store, job: Job, institution_id: UUID | None = None, *, dry_run: bool = False
) -> ReconcileResult:
    """Reconcile in the caller's transaction, as one run, whoever sent credited rows or is paid."""
    institutions = ask(store, institution_id)
    if institutions is None:
        nothing = ControlTotals(redemptions=0, credited_rows=0, verdicts=0)
        none = FindingStates(open=0, accepted=0, resolved=0)
        return ReconcileResult(run_id=None, verdicts=[], **none, control=nothing, dry_run=dry_run)
    with run_record(store, kind="reconcile", now=job.now, actor=job.actor) as run:
        # which redemptions credited rows are of
        rows = store.define("credits/reconcile:referring", institutions)
        store.execute("credits/reconcile:credit_links", rows, run_no=run.run_no)
        referred = CreditTables(asked=institutions, rows=rows)
        # the redemptions to look at, and what stands as credited of each
        owed = store.make("credits/reconcile:to_reconcile", institutions, run_no=run.run_no)
        credited = store.define("credits/reconcile:credited", owed)
        both = ReconciliationTables(redemptions=owed, credited=credited)
        judge(store, referred, both, run_no=run.run_no, now=job.now)
        verdicts, bank = said(store, run_no=run.run_no, now=job.now)
        result = ReconcileResult(
            run_id=run.run_id,
            verdicts=verdicts,
            **store.records(FindingStates, "credits/reconcile:states", run_no=run.run_no)[0],
            control=control(store, run_no=run.run_no),
            bank=bank or None,
            dry_run=dry_run,
        )
        run.counts.update(result)
    return result
