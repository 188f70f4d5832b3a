"""What the accounting system tells of an invoice after it was closed (rules.md#invoices).

What was closed, and its digest, stay as they are: the legal number and the tax stand beside it, and
the journal has the tax.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cardoffers_cli.documents.kinds import INVOICE
from cardoffers_cli.documents.questions import find_document
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.payouts.files.entries import BankValueError, amount_of

if TYPE_CHECKING:
    from decimal import Decimal

    from cardoffers_cli.documents.kinds import Invoice
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

_LEGAL = re.compile(r"(?=.{5,35}$)[A-Za-z0-9]([A-Za-z0-9/._-]*[A-Za-z0-9])")
"""A number that is found as one word in the text of a payment, and seldom there by chance."""


class ToldInvoice(Record):
    """An invoice or credit note with its legal number and tax; `is_changed` by this."""

    number: str
    legal_number: str | None
    currency: str
    amount: Amount
    tax: Amount | None
    is_changed: bool
    dry_run: bool


def tell_invoice(
    job: Job,
    number: str,
    *,
    legal_number: str | None = None,
    tax: str | None = None,
    dry_run: bool = False,
) -> ToldInvoice:
    """Write the legal number or the tax of an invoice, or both; what is not told stays as it was.

    Raises `NotFound`, `UsageError` where one cannot be read, and `Refused` legal_number_taken.
    """
    if legal_number is None and tax is None:
        raise UsageError("There is nothing to set.", hint="Add --legal-number, --tax, or both.")
    with job.store() as store, store.transaction(keep=not dry_run):
        invoice = find_document(store, INVOICE, number)
        before = {name: invoice.get(name) for name in ("legal_number", "tax")}
        said = dict(before)
        if legal_number is not None:
            said["legal_number"] = _legal_number(store, invoice, legal_number.strip())
        if tax is not None:
            said["tax"] = _tax(invoice, tax)
        if said != before:
            with run_record(store, kind="invoice_set", now=job.now, actor=job.actor) as run:
                of = {"run_no": run.run_no, "number": invoice.number, "actor": job.actor}
                store.execute("documents/questions:write_legal", **of, **said)
                acts.append(store, "invoice_told", run.by, subject=invoice.number, details=said)
                run.counts["number"] = invoice.number
    return ToldInvoice.part(invoice, **said, is_changed=said != before, dry_run=dry_run)


def _legal_number(store: Store, invoice: Invoice, legal_number: str) -> str:
    if not _LEGAL.fullmatch(legal_number):
        raise UsageError(
            f"{legal_number!r} cannot be looked for in the text of a payment.",
            code="legal_number_invalid",
            hint="Write 5 to 35 letters, digits, or / . _ - between them, without spaces.",
        )
    named = {"number": invoice.number, "legal_number": legal_number}
    if other := store.value("documents/questions:named_so", **named):
        raise Refused(
            f"{legal_number} is the number of {other}.",
            code="legal_number_taken",
            hint=f"`cardoffers invoice show {other}` shows it.",
        )
    return legal_number


def _tax(invoice: Invoice, text: str) -> Decimal:
    """Return the tax with the sign of its document: a credit note gives it back."""
    try:
        tax = amount_of(text, invoice.currency)
    except BankValueError as error:
        raise UsageError(
            f"{text!r} is not an amount of tax in {invoice.currency}.",
            code="tax_invalid",
            hint="Write it as 12.50, zero or more; a credit note gives it back.",
        ) from error
    return tax if invoice.amends is None else -tax
