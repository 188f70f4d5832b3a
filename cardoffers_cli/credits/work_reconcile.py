"""Reconcile: what was credited, and what banks paid, against what is owed, in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.credits.reconcile import (
    BankTotal,
    ControlTotals,
    FindingStates,
    VerdictTotal,
    ask,
    control,
    find_both,
    judge,
    refer,
    said,
    states,
)
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.records import if_any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


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
    asked = ask(store, institution_id)
    if asked is None:
        nothing = ControlTotals(redemptions=0, credited_rows=0, verdicts=0)
        none = FindingStates(open=0, accepted=0, resolved=0)
        return ReconcileResult(run_id=None, verdicts=[], **none, control=nothing, dry_run=dry_run)
    with run_record(store, kind="reconcile", now=job.now, actor=job.actor) as run:
        referred = refer(store, asked, run_no=run.run_no)
        both = find_both(store, referred, run_no=run.run_no)
        judge(store, referred, both, run_no=run.run_no, now=job.now)
        verdicts, bank = said(store, run_no=run.run_no, now=job.now)
        told = ReconcileResult(
            run_id=run.run_id,
            verdicts=verdicts,
            **states(store, run_no=run.run_no),
            control=control(store, run_no=run.run_no),
            bank=bank or None,
            dry_run=dry_run,
        )
        run.counts.update(told)
    return told
