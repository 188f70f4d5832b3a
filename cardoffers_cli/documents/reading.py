"""What is shown of statements and invoices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.documents.closing import StatementResult, told_of
from cardoffers_cli.documents.invoices import find_invoice, list_invoices, merchant_of
from cardoffers_cli.documents.invoicing import InvoiceResult
from cardoffers_cli.documents.invoicing import told_of as invoice_told
from cardoffers_cli.documents.questions import StatedSettlement, find_statement, list_statements
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.payouts.questions import payout_states

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


def statement_rows(
    job: Job, institution: str | None, *, limit: int
) -> tuple[list[StatementResult], int]:
    """Return statements, the newest period first, and how many there are in all."""
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        rows = list_statements(source.store, institution_id=owner, limit=limit)
    return [told_of(row) for row in rows], rows[0].statements if rows else 0


def show_statement(job: Job, number: str) -> StatementResult:
    """Return one statement; raise `NotFound`."""
    with reading(job) as source:
        statement = find_statement(source.store, number)
        settlements = source.store.records(
            StatedSettlement,
            "documents/questions:settlements",
            institution_id=statement.institution_id,
            statement_no=statement.statement_no,
        )
        owner = statement.institution_id
        paid = payout_states(source.store, job.now, institution_id=owner, number=number)
    return replace(
        told_of(statement),
        settlements=settlements,
        payout_state=paid[0].state if paid else None,
        bank_code=paid[0].bank_code if paid else None,
    )


def invoice_rows(job: Job, merchant: str | None, *, limit: int) -> tuple[list[InvoiceResult], int]:
    """Return invoices and credit notes, the newest first, and how many there are in all.

    `merchant` is the name that one bears on them, or its id. Raises `NotFound`.
    """
    with reading(job) as source:
        of = merchant_of(source.store, merchant) if merchant else None
        invoices = list_invoices(source.store, merchant_id=of, limit=limit)
    return [invoice_told(invoice) for invoice in invoices], invoices[0].invoices if invoices else 0


def show_invoice(job: Job, number: str) -> InvoiceResult:
    """Return one invoice or credit note; raise `NotFound`."""
    with reading(job) as source:
        return invoice_told(find_invoice(source.store, number))
