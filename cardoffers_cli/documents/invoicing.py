"""Invoice the merchants for a period: what they fund of what was settled and is on no invoice yet.

All merchants are invoiced at once, over all institutions, in one transaction. The lines are read
once, in the order of the numbers, so that it takes no memory by their number.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents import invoices
from cardoffers_cli.documents.closing import PeriodRefusal, refuse_unless_next
from cardoffers_cli.documents.invoices import (
    InvoiceDraft,
    InvoiceLine,
    InvoicePeriod,
    list_invoices,
)
from cardoffers_cli.documents.page import TAXES, SealedForm
from cardoffers_cli.kernel.sheets.sheets import columns_of
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.documents.invoices import Invoice
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

INVOICES, CREDIT_NOTES = "INV", "CN"
"""The series of numbers."""
INVOICE = SealedForm(
    columns=columns_of(InvoiceLine),
    head=(
        *("number", "merchant_id", "merchant_name", "from", "to", "issued_on", "net_days"),
        *("due_on", "amends", "previous_number", "previous_sha256"),
    ),
    passing=TAXES,
    before=(),
    behind=("amount",),
)
_SAID = PeriodRefusal(
    of_whom="of invoices",
    close="cardoffers invoice close --period {}",
    preview="cardoffers report merchants --from {0.from_at:%Y-%m-%d} --to {0.to_at:%Y-%m-%d}",
)


class InvoiceResult(
    Record,
    sheet="number merchant_name from to amount currency issued_on due_on amends line_count"
    " merchant_id sha256",
):
    """An invoice, or a credit note where it `amends` one, in the shape of `invoice list`."""

    number: str
    merchant_id: UUID = shown(gives_way=5)
    merchant_name: str = shown("merchant")
    currency: str
    from_: datetime = shown(gives_way=3)
    to: datetime = shown(gives_way=3)
    amends: str | None
    line_count: int = shown("lines", gives_way=4)
    amount: Amount
    issued_on: date = shown("issued", gives_way=2)
    net_days: int
    due_on: date = shown("due", gives_way=1)
    sha256: str = shown(gives_way=6)
    previous_number: str | None
    previous_sha256: str | None
    tax_id: str | None = if_any()
    tax_note: str | None = if_any()


class InvoicedPeriod(Record):
    """A period that was invoiced: how many of both, and what they come to by currency."""

    from_: datetime
    to: datetime
    invoices: int
    credit_notes: int
    amount: Mapping[str, Decimal]
    documents: Sequence[InvoiceResult]
    closed_at: datetime
    actor: str
    dry_run: bool | None = if_any()


def close_invoices(job: Job, period: str, *, dry_run: bool = False) -> InvoicedPeriod:
    """Invoice all merchants for a period in one transaction; as it was, if it was closed before.

    Raises `UsageError` period_invalid, and `Refused` period_not_ended or period_out_of_order.
    """
    wanted = Period.of(period, job.now)
    with job.store() as store, store.transaction(keep=not dry_run):
        return invoice_in(store, job, wanted, dry_run=dry_run)


def invoice_in(
    store: Store, job: Job, period: Period, *, dry_run: bool | None = None
) -> InvoicedPeriod:
    """Invoice a period in the caller's transaction, as one run. Raises as `close_invoices`."""
    before = store.records(InvoicePeriod, "documents/invoices:periods")
    if not any(row.from_at == period.from_at for row in before):
        refuse_unless_next(store, job, period, before[0] if before else None, _SAID)
        with run_record(store, kind="invoice_close", now=job.now, actor=job.actor) as run:
            period_no = _close(store, period, job.now.date())
            span = {"from_at": period.from_at, "to_at": period.to_at}
            by = {"closed_at": job.now, "run_no": run.run_no, "actor": job.actor}
            store.execute("documents/invoices:write_period", period_no=period_no, **span, **by)
            run.counts["period"] = str(period)
    closed = next(
        row
        for row in store.records(InvoicePeriod, "documents/invoices:periods")
        if row.from_at == period.from_at
    )
    documents = list_invoices(store, period_no=closed.period_no)
    amounts: dict[str, Decimal] = {}
    for invoice in sorted(documents, key=lambda invoice: invoice.currency):
        amounts[invoice.currency] = amounts.get(invoice.currency, Decimal(0)) + invoice.amount
    return InvoicedPeriod(
        from_=closed.from_at,
        to=closed.to_at,
        invoices=sum(invoice.series == INVOICES for invoice in documents),
        credit_notes=sum(invoice.series == CREDIT_NOTES for invoice in documents),
        amount=amounts,
        documents=[told_of(invoice) for invoice in reversed(documents)],
        closed_at=closed.closed_at,
        actor=closed.actor,
        dry_run=dry_run,
    )


def told_of(invoice: Invoice) -> InvoiceResult:
    """Return an invoice in the shape that it is told in."""
    return InvoiceResult.part({**invoice, "from_": invoice.from_at, "to": invoice.to_at})


def _close(store: Store, period: Period, issued_on: date) -> int:
    """Take what is to be invoiced, and write it under the next numbers; return the period's."""
    period_no = invoices.take_settlements(store, to_at=period.to_at)
    last = {series: _last(store, series) for series in (INVOICES, CREDIT_NOTES)}
    drafts = store.records(InvoiceDraft, "documents/invoices:drafts", period_no=period_no)
    written = []
    lines = invoices.csv_lines(store, period_no)
    for draft, (_, of_draft) in zip(drafts, lines, strict=True):
        invoice = _numbered(draft, period, issued_on, last)
        invoice["sha256"] = INVOICE.digest(invoice, of_draft)
        last[invoice["series"]] = invoice
        written.append(invoice)
    for number, invoice in enumerate(written, start=int(store.value("documents/invoices:next_no"))):
        columns = {name: value for name, value in invoice.items() if name not in {"from", "to"}}
        store.execute("documents/invoices:write", invoice_no=number, period_no=period_no, **columns)
    return period_no


def _last(store: Store, series: str) -> Mapping[str, Any]:
    newest = store.row("documents/invoices:newest", series=series)
    return newest or {"number": None, "sha256": None, "year": None, "place": 0}


def _numbered(
    draft: InvoiceDraft, period: Period, issued_on: date, last: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a draft as it is closed, without its digest; `last` are the newest of each series."""
    series = CREDIT_NOTES if draft.amends else INVOICES
    year = period.from_at.year
    place = 1 + (last[series]["place"] if last[series]["year"] == year else 0)
    return {
        **draft,
        "number": f"{series}-{year}-{place:06}",
        "series": series,
        "year": year,
        "place": place,
        "from": period.from_at,
        "to": period.to_at,
        "issued_on": issued_on,
        "due_on": issued_on + timedelta(days=draft.net_days),
        "previous_number": last[series]["number"],
        "previous_sha256": last[series]["sha256"],
    }
