"""Verify statements and invoices: what each says again of the ledger, and of the one before it."""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents import closing, invoices, invoicing
from cardoffers_cli.documents.invoices import InvoiceDraft
from cardoffers_cli.documents.questions import (
    LineSums,
    Statement,
    csv_lines,
    find_statement,
    list_statements,
)
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record, if_any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.documents.invoices import Invoice
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

_ALL = 1_000_000


class VerifiedDocument(Record):
    """A statement of an institution, or an invoice or credit note of a merchant, and the ledger.

    `differences` are sentences, none if it is ok; `sha256` is the digest of its file as it would be
    written now.
    """

    number: str
    institution: str | None = if_any()
    merchant_name: str | None = if_any("merchant")
    period: str
    ok: bool
    differences: Sequence[str]
    sha256: str | None


def verify(
    job: Job, number: str | None = None, institution: str | None = None
) -> list[VerifiedDocument]:
    """Verify one statement, those of an institution, or all; raise `NotFound`."""
    with job.store(read_only=True) as store:
        wanted = find_statement(store, number) if number else None
        owner = find_institution(store, institution).id if institution else None
        of = wanted.institution_id if wanted else owner
        statements = list_statements(store, institution_id=of, limit=_ALL)
        statements.sort(key=lambda statement: (statement.institution, statement.from_at))
        pairs = [
            (before, statement)
            for _, of_one in groupby(statements, key=lambda statement: statement.institution)
            for before, statement in _pairs([*of_one])
            if wanted is None or statement.number == wanted.number
        ]
        return [_verified(store, statement, before) for before, statement in pairs]


def _pairs(statements: Sequence[Statement]) -> Iterator[tuple[Statement | None, Statement]]:
    """Yield each statement with the one before it."""
    return zip([None, *statements[:-1]], statements, strict=True)


def _verified(store: Store, statement: Statement, before: Statement | None) -> VerifiedDocument:
    lines = csv_lines(store, statement.institution_id, statement.statement_no)
    sha256 = closing.STATEMENT.digest(
        {**statement, "from": statement.from_at, "to": statement.to_at}, lines
    )
    differences = [
        *_of_sums(store, statement),
        *_of_chain(statement, before),
        *(["its file would have another digest"] if sha256 != statement.sha256 else []),
    ]
    return VerifiedDocument(
        number=statement.number,
        institution=statement.institution,
        period=str(Period(statement.from_at)),
        ok=not differences,
        differences=differences,
        sha256=sha256,
    )


def _of_sums(store: Store, statement: Statement) -> Iterator[str]:
    """Yield what differs between the statement and its lines in the ledger."""
    of = {"institution_id": statement.institution_id, "statement_no": statement.statement_no}
    taken = store.rows("documents/questions:taken", **of)[0]
    sums = LineSums.of({**taken, "currency": statement.currency})
    for name in ("entry_count", "adjustment_count"):
        if sums[name] != statement[name]:
            yield f"{name} is {statement[name]}, and {sums[name]} in the ledger"
    for name in ("entries", "adjustments"):
        if sums[name] != statement[name]:
            stated, is_there = (money_text(side[name], side.currency) for side in (statement, sums))
            yield f"{name} are {stated}, and {is_there} in the ledger"
    balance = statement.carried_in + statement.entries + statement.adjustments
    if (statement.payable, statement.carried_out) != (
        max(balance, Decimal()),
        min(balance, Decimal()),
    ):
        yield "what is payable and carried out is not the sum of the rest"


def _of_chain(statement: Statement, before: Statement | None) -> Iterator[str]:
    """Yield what differs between the statement and the one before it."""
    carried = before.carried_out if before else Decimal(0)
    if statement.carried_in != carried:
        yield f"carried_in is {statement.carried_in}, and {carried} was carried out before it"
    if statement.previous_number != (before.number if before else None):
        yield "it names another statement as the one before it"
    if statement.previous_sha256 != (before.sha256 if before else None):
        yield "the digest of the one before it is another by now"
    if before is not None and statement.from_at != before.to_at:
        yield "its period does not begin where the one before it ends"
    is_first = before is None or before.year != statement.year
    if statement.place != (1 if is_first or before is None else before.place + 1):
        yield "its number does not follow the one before it"


# Invoices


def verify_invoices(job: Job, number: str | None = None) -> list[VerifiedDocument]:
    """Verify one invoice or credit note, or all, in the order of the numbers; raise `NotFound`.

    The lines of a period are read once for all that is of it.
    """
    with job.store(read_only=True) as store:
        wanted = invoices.find_invoice(store, number) if number else None
        every = sorted(invoices.list_invoices(store), key=lambda invoice: invoice.invoice_no)
        before: dict[str, Invoice] = {}
        results = []
        for period_no, of_period in groupby(every, key=lambda invoice: invoice.period_no):
            is_asked = wanted is None or wanted.period_no == period_no
            now = _now(store, [*of_period]) if is_asked else {}
            for invoice in (row for row in every if row.period_no == period_no):
                if wanted is None or wanted.number == invoice.number:
                    results.append(_verified_invoice(invoice, before.get(invoice.series), now))
                before[invoice.series] = invoice
    return results


Now = dict[tuple[Any, ...], tuple[int, Decimal, str]]
"""The lines, the amount and the digest that invoices have by now, by merchant and the like."""


def _now(store: Store, of_period: Sequence[Invoice]) -> Now:
    """Compute the invoices of a period again, from the ledger."""
    by_key = {_told_by(row): row for row in of_period}
    drafts = store.records(
        InvoiceDraft, "documents/invoices:drafts", period_no=of_period[0].period_no
    )
    lines = invoices.csv_lines(store, of_period[0].period_no)
    now: Now = {}
    for draft, (key, of_draft) in zip(drafts, lines, strict=True):
        invoice = by_key.get(key)
        document = {**invoice, "from": invoice.from_at, "to": invoice.to_at} if invoice else None
        sha256 = invoicing.INVOICE.digest(document, of_draft) if document else ""
        now[key] = draft.line_count, draft.amount, sha256
    return now


def _told_by(invoice: Invoice) -> tuple[Any, ...]:
    return invoice.merchant_id, invoice.currency, invoice.amended_period_no


def _verified_invoice(invoice: Invoice, before: Invoice | None, now: Now) -> VerifiedDocument:
    line_count, amount, sha256 = now.get(_told_by(invoice), (0, Decimal(0), None))
    differences = []
    if (line_count, amount) != (invoice.line_count, invoice.amount):
        stated, is_there = (
            money_text(value, invoice.currency) for value in (invoice.amount, amount)
        )
        differences.append(
            f"it has {invoice.line_count} lines of {stated}, and {line_count} of {is_there} in the "
            "ledger"
        )
    if sha256 != invoice.sha256:
        differences.append("its file would have another digest")
    if invoice.previous_number != (before.number if before else None):
        differences.append("it names another number as the one before it")
    if invoice.previous_sha256 != (before.sha256 if before else None):
        differences.append("the digest of the one before it is another by now")
    is_first = before is None or before.year != invoice.year
    if invoice.place != (1 if is_first or before is None else before.place + 1):
        differences.append("its number does not follow the one before it")
    return VerifiedDocument(
        number=invoice.number,
        merchant_name=invoice.merchant_name,
        period=str(Period(invoice.from_at)),
        ok=not differences,
        differences=differences,
        sha256=sha256,
    )
