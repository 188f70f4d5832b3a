"""Close a period: what was settled before its end, and is on no document of that kind yet.

Statements are closed for one institution at a time, invoices for all merchants at once, over all
institutions. Numbers are taken in the transaction that closes: what fails leaves no gap. A period
that was closed is answered as it was closed, whatever happened since.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.documents.kinds import (
    CUSTOMER,
    INVOICE,
    STATEMENT,
    InvoiceResult,
    StatedAmounts,
    StatementResult,
)
from cardoffers_cli.documents.questions import csv_lines, find_document, list_documents
from cardoffers_cli.kernel.store.approval_requests import ON, approvable, require_approval
from cardoffers_cli.kernel.store.institutions import find_institution, list_institutions
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import machine_at, run_record
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.money import money_text, quantize
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.sentences import listed
from cardoffers_cli.river.publish import publish

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.credits.questions import OpenFindings
    from cardoffers_cli.documents.kinds import Statement
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

    Notes = Mapping[str, str | None]

KIND = "statement_close"
_TAKE = "documents/questions:take"
INVOICES, CREDIT_NOTES = "INV", "CN"
"""The series of numbers of what merchants get; that of an institution's statements is its slug."""


class CloseResult(Record, sheet="institution period state number payable currency message"):
    """What became of one institution where all were closed.

    The state is closed, closed_before or refused; `code`, `message` and `hint` say why.
    """

    institution: str
    period: str
    state: str
    number: str | None
    currency: str
    payable: Amount | None
    sha256: str | None
    code: str | None
    message: str | None
    hint: str | None
    dry_run: bool


class InvoicePeriod(Record):
    """A month for which all merchants were invoiced."""

    period_no: int
    from_: datetime
    to: datetime
    closed_at: datetime
    actor: str


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


class InvoiceDraft(Record):
    """What becomes an invoice, or a credit note where it `amends` one."""

    merchant_id: UUID
    merchant_name: str
    currency: str
    amended_period_no: int | None
    amends: str | None
    line_count: int
    amount: Amount
    net_days: int
    tax_id: str | None
    tax_note: str | None
    address: str | None
    country: str | None


class LineSums(Record):
    """How many entries and adjustments there are, and what they come to."""

    entry_count: int
    adjustment_count: int
    entries: Amount
    adjustments: Amount
    currency: str


class PendingTotals(Record):
    """Entries on hold: how many, what they pay, and how many of them settle should have taken."""

    pending_count: int
    pending: Amount
    overdue_count: int
    currency: str


def close_statement(
    job: Job, institution: str, period: str, *, dry_run: bool = False
) -> StatementResult:
    """Close a period in one transaction; return its statement, as it is if it was closed before.

    Raises `NotFound`, `UsageError` period_invalid, and `Refused` period_not_ended,
    period_out_of_order, findings_open or approval_required (rules.md#statements).
    """
    with approvable(job, dry_run=dry_run) as store:
        owner = find_institution(store, institution)
        wanted = Period.of(period, job.now, owner.time_zone)
        statement = close_in(store, job, owner, wanted, dry_run=dry_run)
    return replace(StatementResult.cut(statement), dry_run=dry_run)


def close_all(job: Job, period: str, *, dry_run: bool = False) -> list[CloseResult]:
    """Close a period of every institution, each in its own transaction; one refused stops none."""
    Period.of(period, job.now)  # what is no month is refused once
    with job.store(read_only=True) as store:
        owners = list_institutions(store)
    return [
        _closed_one(job, owner, Period.of(period, job.now, owner.time_zone), dry_run=dry_run)
        for owner in owners
    ]


def close_in(
    store: Store, job: Job, owner: Institution, period: Period, *, dry_run: bool = False
) -> Statement:
    """Close a period in the caller's transaction, as one run; what is closed is returned as it is.

    Raises as `close_statement`.
    """
    before = list_documents(store, STATEMENT, party_id=owner.id)
    closed = next((earlier for earlier in before if Period.ending(earlier.to) == period), None)
    if closed is not None:
        return closed
    last = before[0] if before else None
    period = period.following(last.to if last else None)
    _refuse_unless_next(store, job, period, last, owner)
    with run_record(store, kind=KIND, now=job.now, actor=job.actor) as run:
        _refuse_open_findings(store, run, owner, period, dry_run=dry_run)
        statement = _close(store, owner, period, last, _issuer(job))
        by = {"closed_at": job.now, "run_no": run.run_no, "actor": job.actor}
        store.execute("documents/questions:write_statement", **statement, **by)
        publish(store, "closed_statements", run_no=run.run_no)
        run.counts["number"] = statement["number"]
    return find_document(store, STATEMENT, statement["number"])


def preview(job: Job, institution: str, period: str) -> StatedAmounts:
    """Return what a statement of a period would come to now; of a closed one, what it came to."""
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution)
        wanted = Period.of(period, job.now, owner.time_zone)
        before = list_documents(store, STATEMENT, party_id=owner.id)
        for row in before:
            if Period.ending(row.to) == wanted:
                return StatedAmounts.part(row.__dict__, overdue_count=0)
        last = before[0] if before else None
        if last is not None and wanted < Period.ending(last.to):
            raise _out_of_order(wanted, last, owner)
        sums = statement_sums(store, owner.id, owner.currency, to_at=wanted.to_at)
        pending = _on_hold(store, owner, wanted)
    amounts = _amounts(owner, last, sums)
    return StatedAmounts.part(
        {**amounts, **pending, "from_": wanted.from_at, "to": wanted.to_at}, number=None
    )


def close_invoices(job: Job, period: str, *, dry_run: bool = False) -> InvoicedPeriod:
    """Invoice all merchants for a period in one transaction; as it was, if it was closed before.

    Raises `UsageError` period_invalid, and `Refused` period_not_ended or period_out_of_order.
    """
    wanted = Period.of(period, job.now, job.settings.time_zone)
    with job.store() as store, store.transaction(keep=not dry_run):
        before = store.records(InvoicePeriod, "documents/questions:periods")
        if not any(Period.ending(row.to) == wanted for row in before):
            last = before[0] if before else None
            wanted = wanted.following(last.to if last else None)
            _refuse_unless_next(store, job, wanted, last)
            with run_record(store, kind="invoice_close", now=job.now, actor=job.actor) as run:
                period_no = _invoice(store, job, wanted)
                span = {"from_at": wanted.from_at, "to_at": wanted.to_at}
                by = {"closed_at": job.now, "run_no": run.run_no, "actor": job.actor}
                store.execute("documents/questions:write_period", period_no=period_no, **span, **by)
                run.counts["period"] = str(wanted)
        periods = store.records(InvoicePeriod, "documents/questions:periods")
        closed = next(row for row in periods if Period.ending(row.to) == wanted)
        documents = list_documents(store, INVOICE, closing_no=closed.period_no)
    amounts: dict[str, Decimal] = {}
    for invoice in sorted(documents, key=lambda invoice: invoice.currency):
        amounts[invoice.currency] = amounts.get(invoice.currency, Decimal(0)) + invoice.amount
    return InvoicedPeriod.part(
        closed.__dict__,
        invoices=sum(invoice.series == INVOICES for invoice in documents),
        credit_notes=sum(invoice.series == CREDIT_NOTES for invoice in documents),
        amount=amounts,
        documents=[InvoiceResult.cut(invoice) for invoice in reversed(documents)],
        dry_run=dry_run,
    )


def statement_sums(
    store: Store,
    institution_id: UUID,
    currency: str,
    *,
    statement_no: int | None = None,
    to_at: datetime | None = None,
) -> LineSums:
    """Return what a statement comes to or, without one, what was settled before and is on none."""
    of = {"institution_id": institution_id, "statement_no": statement_no, "to_at": to_at}
    address = "documents/questions:statement_sums"
    return store.records(LineSums, address, **of, currency=currency)[0]


def _close(
    store: Store, owner: Institution, period: Period, last: Statement | None, issuer: Notes
) -> Mapping[str, Any]:
    """Take what is to be on a statement; return the columns of it that are of the ledger."""
    statement_no = _next_no(store, "statement_no")
    of = {"institution_id": owner.id, "statement_no": statement_no}
    taken = {"institution_id": owner.id, "to_at": period.to_at}
    closing = {"document": STATEMENT.noun, "closing_no": statement_no}
    store.execute(_TAKE, **closing, **taken)
    store.execute("documents/questions:name_offers", **closing, languages="|".join(owner.languages))
    sums = statement_sums(store, owner.id, owner.currency, statement_no=statement_no)
    pending = _on_hold(store, owner, period)
    statement: Mapping[str, Any] = {
        **_amounts(owner, last, sums),
        **_numbered(owner.slug.upper(), period, last),
        **of,
        "pending_count": pending.pending_count,
        "pending": pending.pending,
        **{name: getattr(owner, name) for name in CUSTOMER},
        **issuer,
    }
    lines = (some for _, of_one in csv_lines(store, STATEMENT, statement) for some in of_one)
    return {
        **_without(statement, "institution", "from", "to"),
        "from_at": period.from_at,
        "to_at": period.to_at,
        "sha256": STATEMENT.digest(statement, lines),
    }


def _invoice(store: Store, job: Job, period: Period) -> int:
    """Take what is to be invoiced, and write it under the next numbers; return the period's.

    The lines are read once, in the order of the numbers, so that it takes no memory by their
    number.
    """
    period_no, issued_on = _next_no(store, "period_no"), job.now.date()
    taken = {"institution_id": None, "to_at": period.to_at}
    closing = {"document": INVOICE.noun, "closing_no": period_no}
    store.execute(_TAKE, **closing, **taken)
    store.execute("documents/questions:name_offers", **closing, languages=None)
    last: dict[str, Mapping[str, Any] | None] = {
        series: store.row("documents/questions:newest_invoice", series=series)
        for series in (INVOICES, CREDIT_NOTES)
    }
    drafts = store.records(InvoiceDraft, "documents/questions:drafts", period_no=period_no)
    lines = csv_lines(store, INVOICE, {"period_no": period_no}, of_all=True)
    written = []
    for draft, (_, of_draft) in zip(drafts, lines, strict=True):
        series = CREDIT_NOTES if draft.amends else INVOICES
        due_on = issued_on + timedelta(days=draft.net_days)
        numbered = _numbered(series, period, last[series])
        invoice: dict[str, Any] = {**draft, **numbered, "issued_on": issued_on, "due_on": due_on}
        invoice |= _issuer(job)
        invoice["pay_to"] = None if draft.amends else job.settings.payer_account
        invoice["time_zone"] = job.settings.time_zone
        invoice["sha256"] = INVOICE.digest(invoice, of_draft)
        last[series] = invoice
        written.append(_without(invoice, "from", "to"))
    for invoice_no, columns in enumerate(written, start=_next_no(store, "invoice_no")):
        numbers = {"invoice_no": invoice_no, "period_no": period_no}
        store.execute("documents/questions:write_invoice", **columns, **numbers)
    return period_no


def _issuer(job: Job) -> Notes:
    said = job.settings
    of = {"issuer_address": said.issuer_address, "issuer_tax_id": said.issuer_tax_id}
    return {"issuer": said.issuer or said.payer_name, **of}


def _next_no(store: Store, name: str) -> int:
    numbers = store.row("documents/questions:next_numbers") or {}
    return int(numbers[name])


def _numbered(series: str, period: Period, last: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return what a document is called, of which period, and which one is before it.

    Places count from 1 without a gap, and anew each year.
    """
    year = period.first.year
    place = last["place"] + 1 if last and last["year"] == year else 1
    return {
        "number": f"{series}-{year}-{place:06}",
        "series": series,
        "year": year,
        "place": place,
        "from": period.from_at,
        "to": period.to_at,
        "previous_number": last["number"] if last else None,
        "previous_sha256": last["sha256"] if last else None,
    }


def _without(document: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def _on_hold(store: Store, owner: Institution, period: Period) -> PendingTotals:
    """Return the entries of before the end of a period that are on hold."""
    of = {"institution_id": owner.id, "to_at": period.to_at, "currency": owner.currency}
    return store.records(PendingTotals, "documents/questions:pending", **of)[0]


def _amounts(owner: Institution, last: Statement | None, sums: LineSums) -> Mapping[str, Any]:
    """Return what a period comes to: what is below zero is carried into the next one."""
    nothing = quantize(Decimal(0), owner.currency)
    carried_in = last.carried_out if last else nothing
    balance = carried_in + sums.entries + sums.adjustments
    return {
        "institution_id": owner.id,
        "institution": owner.slug,
        **sums,
        "carried_in": carried_in,
        "carried_out": min(balance, nothing),
        "payable": max(balance, nothing),
        "previous_number": last.number if last else None,
    }


def _refuse_unless_next(
    store: Store,
    job: Job,
    period: Period,
    last: Statement | InvoicePeriod | None,
    owner: Institution | None = None,
) -> None:
    """Raise `Refused` for a period that has not ended, or is not the next one to close."""
    if last is not None and period != Period.ending(last.to).after:
        raise _out_of_order(period, last, owner)
    if min(job.now, machine_at(store, job.now)) < period.to_at:
        days = f"--from {period.first} --to {period.after.first}"
        preview = f"statement preview -i {owner.slug} --period {period}" if owner else None
        raise Refused.from_table(
            "documents",
            "period_not_ended",
            period=period,
            to_at=format_brief(period.to_at),
            command=preview or f"report merchants {days}",
        )


def _out_of_order(
    period: Period, last: Statement | InvoicePeriod, owner: Institution | None
) -> Refused:
    """Return the refusal of a period that is not the next one to close."""
    closed = Period.ending(last.to)
    following = closed.after
    of_whom = owner.slug if owner else "invoices"
    if period > following:
        message = f"{following.title} of {of_whom} is not closed yet, and comes first."
    else:
        message = (
            f"{period.title} of {of_whom} is before the last one that was closed, "
            f"{closed.title}. What was settled late comes onto the next one."
        )
    close = f"statement close -i {owner.slug}" if owner else "invoice close"
    return Refused(
        message,
        code="period_out_of_order",
        hint=f"`cardoffers {close} --period {following}` closes the next.",
    )


def _refuse_open_findings(
    store: Store, run: Run, owner: Institution, period: Period, *, dry_run: bool
) -> None:
    """Raise `Refused` where what reconciliation found is open and above the institution's limit.

    An approval that lists the findings closes it nevertheless, where approvals are on.
    """
    rows = open_findings(store, owner.id, before=period.to_at)
    amount = sum((row.amount for row in rows if row.currency == owner.currency), Decimal(0))
    is_other = any(row.currency != owner.currency for row in rows)
    if not rows or (not is_other and amount <= (owner.approval_limit or 0)):
        return
    findings = listed([f"{row.findings} {row.code} ({_money(row)})" for row in rows])
    if owner.approvals != ON:
        raise Refused(
            f"{period.title} of {owner.slug} has open findings of the reconciliation: {findings}.",
            code="findings_open",
            hint=f"`cardoffers reconcile list -i {owner.slug} --state open` shows them; "
            "`cardoffers reconcile accept` accepts one, with a reason.",
        )
    require_approval(
        store,
        run,
        owner,
        action=KIND,
        subject=f"{owner.slug} {period}",
        details={f"{row.code} {row.currency}": f"{row.findings} of {_money(row)}" for row in rows},
        amount=amount,
        currency=owner.currency,
        dry_run=dry_run,
    )


def _money(findings: OpenFindings) -> str:
    return money_text(findings.amount, findings.currency)


def _closed_one(job: Job, owner: Institution, period: Period, *, dry_run: bool) -> CloseResult:
    base: Mapping[str, Any] = {
        "institution": owner.slug,
        "period": str(period),
        "currency": owner.currency,
        "dry_run": dry_run,
    }
    none = dict.fromkeys(("number", "payable", "sha256", "code", "message", "hint"))
    try:
        with approvable(job, dry_run=dry_run) as store:
            newest = list_documents(store, STATEMENT, party_id=owner.id, limit=1)
            statement = close_in(store, job, owner, period, dry_run=dry_run)
    except Refused as error:
        why = {"code": error.code, "message": error.message, "hint": error.hint}
        return CloseResult(**{**base, **none, **why}, state="refused")
    is_old = bool(newest) and newest[0].to >= statement.to
    more = {name: statement[name] for name in ("number", "payable", "sha256")}
    return CloseResult(**{**base, **none, **more}, state="closed_before" if is_old else "closed")
