"""Allocate a receipt: a person says which invoices it pays (rules.md#bank-entries).

For receipts without the number of one invoice, for bookings of several without details, and to
correct a wrong match. A new allocation replaces the one before; the journal has the difference.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval, who_decides
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.payouts.files.entries import BankValueError, amount_of
from cardoffers_cli.payouts.questions import list_entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.payouts.questions import BankEntryRow

SUSPENSE = "suspense"
"""The account of what is of no invoice, which a part may be put into."""


class AllocatedReceipt(Record):
    """A receipt, what it was taken for, and the part of it that is of each invoice now."""

    entry_id: UUID
    amount: Amount
    currency: str
    taken_for: str
    parts: Mapping[str, Amount]
    reason: str
    approval: str | None = if_any()
    dry_run: bool


def allocate_receipt(
    job: Job, entry: str, to: Sequence[str], reason: str, *, dry_run: bool = False
) -> AllocatedReceipt:
    """Write which invoices a receipt pays, each as `NUMBER=AMOUNT`.

    Raises `NotFound`, `UsageError` where the parts cannot be read, `Refused` where the entry is no
    receipt that counts or they do not come to it, and `ApprovalNeeded`.
    """
    why = reason.strip()
    if not why:
        raise UsageError("An allocation needs a reason.", hint='Say why: --reason "their letter".')
    with approvable(job, dry_run=dry_run) as store:
        receipt = _receipt(store, entry)
        amount, currency = receipt.amount or Decimal(0), receipt.currency or ""
        parts = _parts(store, to, currency)
        if (total := sum(parts.values(), Decimal(0))) != amount:
            raise Refused(
                f"The parts add up to {money_text(total, currency)}, and the receipt is"
                f" {money_text(amount, currency)}.",
                code="parts_differ",
                hint=f"Add what is missing; --to {SUSPENSE}=AMOUNT is for what is of no invoice.",
            )
        with run_record(store, kind="bank_allocate", now=job.now, actor=job.actor) as run:
            subject = str(receipt.entry_id)
            details = {"taken_for": receipt.invoice, "parts": parts, "reason": why}
            approval = require_approval(
                *(store, run, who_decides(store)),
                action="receipt_allocate",
                subject=subject,
                details=details,
                amount=amount,
                currency=currency,
                dry_run=dry_run,
            )
            for number, part in parts.items():
                of = {"number": number, "amount": part, "actor": job.actor, "reason": why}
                store.execute("payouts/bank:allocate", run_no=run.run_no, entry_id=subject, **of)
            acts.append(store, "receipt_allocated", run.by, subject=subject, details=details)
            run.counts["entry_id"] = subject
    return AllocatedReceipt.part(receipt, **details, approval=approval, dry_run=dry_run)


def _receipt(store: Store, entry: str) -> BankEntryRow:
    found = list_entries(store, entry_id=entry.strip().lower() or "-")
    hint = "`cardoffers bank list` shows what the bank said, with ids."
    if len(found) != 1:
        said = "No entry begins" if not found else f"{len(found)} entries begin"
        raise NotFound(f"{said} with {entry}.", code="entry_not_found", hint=hint)
    if found[0].invoice is None:
        message = f"The entry {found[0].entry_id} is not a receipt that counts."
        raise Refused(message, code="entry_not_receipt", hint=hint)
    return found[0]


def _parts(store: Store, to: Sequence[str], currency: str) -> dict[str, Decimal]:
    """Return the part of each invoice; they are all in one currency."""
    parts: dict[str, Decimal] = {}
    for text in to:
        number, _, amount = text.partition("=")
        try:
            part = amount_of(amount, currency)
        except BankValueError:
            part = Decimal(0)
        if not part or number in parts:
            raise UsageError.from_table("payouts", "part_invalid", text=text, currency=currency)
        found = store.value("payouts/bank:invoice_currency", number=number)
        if number != SUSPENSE and found != currency:
            raise NotFound.from_table(
                "payouts", "invoice_not_found", number=number, currency=currency
            )
        parts[number] = part
    return parts
