"""Changes of an invoice after its closing: legal number, tax, settlement (rules.md#invoices).

What was closed, and its digest, stay as they are: the legal number and the tax stand beside it, and
the journal has the tax.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.accounting.questions import Receivable
from cardoffers_cli.documents.kinds import INVOICE
from cardoffers_cli.documents.questions import find_document, list_documents
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval, who_decides
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.payouts.files.entries import BankValueError, amount_of

if TYPE_CHECKING:
    from cardoffers_cli.documents.kinds import Invoice
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

_RECEIVABLES = "accounting/questions:receivables"
_LEGAL = re.compile(r"(?=.{5,35}$)[A-Za-z0-9]([A-Za-z0-9/._-]*[A-Za-z0-9])")
"""A number that is found as one word in the text of a payment, and seldom there by chance."""


class InvoiceUpdate(Record):
    """An invoice or credit note with its legal number and tax; `is_changed` by this."""

    number: str
    legal_number: str | None
    currency: str
    amount: Amount
    tax: Amount | None
    is_changed: bool
    approval: str | None = if_any()
    dry_run: bool


class InvoiceSettlement(Record):
    """What was settled of an invoice, and what is open of it then."""

    number: str
    amount: Amount
    currency: str
    settled_as: str
    reason: str
    open_amount: Amount
    approval: str | None = if_any()
    dry_run: bool


def set_invoice(
    job: Job,
    number: str,
    *,
    legal_number: str | None = None,
    tax: str | None = None,
    dry_run: bool = False,
) -> InvoiceUpdate:
    """Write the legal number or the tax of an invoice, or both; what is not given stays as it was.

    Raises `NotFound`, `UsageError` where one cannot be read, `Refused` legal_number_taken, and
    `ApprovalNeeded`.
    """
    if legal_number is None and tax is None:
        raise UsageError("There is nothing to set.", hint="Add --legal-number, --tax, or both.")
    approval = None
    with approvable(job, dry_run=dry_run) as store:
        invoice = find_document(store, INVOICE, number)
        before = {name: invoice.get(name) for name in ("legal_number", "tax")}
        said = dict(before)
        if legal_number is not None:
            said["legal_number"] = _legal_number(store, invoice, legal_number.strip())
        if tax is not None:
            amount = _amount(invoice, tax)
            said["tax"] = amount if invoice.amends is None else 0 - amount
        if said != before:
            with run_record(store, kind="invoice_set", now=job.now, actor=job.actor) as run:
                approval = require_approval(
                    *(store, run, who_decides(store)),
                    action="invoice_set",
                    subject=invoice.number,
                    details={name: [before[name], said[name]] for name in said},
                    amount=said["tax"],
                    currency=invoice.currency,
                    dry_run=dry_run,
                )
                of = {"run_no": run.run_no, "number": invoice.number}
                store.execute("documents/questions:write_legal_invoice", **of, **said)
                acts.append(store, "invoice_set", run.by, subject=invoice.number, details=said)
                run.counts["number"] = invoice.number
    more = {"is_changed": said != before, "approval": approval, "dry_run": dry_run}
    return InvoiceUpdate.part(invoice, **said, **more)


def settle_elsewhere(
    job: Job, number: str, amount: str, settled_as: str, reason: str, *, dry_run: bool = False
) -> InvoiceSettlement:
    """Settle what is open of an invoice, or a part, as a set-off, a write-off or a dispute.

    Raises `NotFound`, `UsageError`, `Refused` amount_not_open, and `ApprovalNeeded`.
    """
    details = {"settled_as": settled_as, "reason": reason.strip()}
    if not details["reason"]:
        raise UsageError("A settlement needs a reason.", hint='Say why: --reason "their letter".')
    with approvable(job, dry_run=dry_run) as store:
        invoice = find_document(store, INVOICE, number)
        taken = _amount(invoice, amount)
        owed = store.records(Receivable, _RECEIVABLES, institution_id=None, now=job.now)
        is_open = sum((row.open_amount for row in owed if row.number == invoice.number), Decimal(0))
        if not 0 < taken <= is_open:
            raise Refused(
                f"{money_text(is_open, invoice.currency)} is open of {invoice.number}.",
                code="amount_not_open",
                hint="Settle as much or less; a credit note is part of the invoice it amends.",
            )
        with run_record(store, kind="invoice_settle", now=job.now, actor=job.actor) as run:
            approval = require_approval(
                *(store, run, who_decides(store)),
                action="invoice_settle",
                subject=invoice.number,
                details=details,
                amount=taken,
                currency=invoice.currency,
                dry_run=dry_run,
            )
            said = {"settled_as": settled_as, "amount": taken}
            of = {"run_no": run.run_no, "number": invoice.number, "reason": details["reason"]}
            store.execute("documents/questions:write_settlement", **of, **said)
            acts.append(store, "invoice_settled", run.by, subject=invoice.number, details=said)
            run.counts["number"] = invoice.number
    more = {"open_amount": is_open - taken, "approval": approval, "dry_run": dry_run}
    return InvoiceSettlement.part(invoice, **details, amount=taken, **more)


def _legal_number(store: Store, invoice: Invoice, legal_number: str) -> str:
    if not _LEGAL.fullmatch(legal_number):
        raise UsageError.from_table("documents", "legal_number_invalid", legal_number=legal_number)
    for other in list_documents(store, INVOICE):
        named = {other.number, (other.legal_number or "").upper()}
        if other.number != invoice.number and legal_number.upper() in named:
            raise Refused(
                f"{legal_number} is the number of {other.number}.",
                code="legal_number_taken",
                hint=f"`cardoffers invoice show {other.number}` shows it.",
            )
    return legal_number


def _amount(invoice: Invoice, text: str) -> Decimal:
    try:
        return amount_of(text, invoice.currency)
    except BankValueError as error:
        raise UsageError.from_table(
            "documents", "amount_unreadable", text=text, invoice=invoice
        ) from error
