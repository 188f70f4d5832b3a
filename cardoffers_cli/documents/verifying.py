"""Verify documents: what each says again of the ledger, and of the one before it."""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents.closing import InvoiceDraft, LineSums, statement_sums
from cardoffers_cli.documents.kinds import Statement
from cardoffers_cli.documents.questions import csv_lines, find_document, list_documents
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import Record, if_any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.documents.kinds import D, Document, DocumentKind
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class VerifiedDocument(Record):
    """A statement of an institution, or an invoice or credit note of a merchant, and the ledger.

    `differences` are sentences, none if it is ok; `sha256` is the digest of its files as they would
    be written now.
    """

    number: str
    institution: str | None = if_any()
    merchant_name: str | None = if_any("merchant")
    period: str
    ok: bool
    differences: Sequence[str]
    sha256: str | None


def verify(
    job: Job, kind: DocumentKind[D], number: str | None = None, institution: str | None = None
) -> list[VerifiedDocument]:
    """Verify one document, those of an institution, or all, in their order; raise `NotFound`.

    The lines of a closing are read once for all documents that are of it.
    """
    results = []
    with job.store(read_only=True) as store:
        wanted = find_document(store, kind, number).number if number else None
        owner = find_institution(store, institution).slug if institution else None
        before: dict[str, Document] = {}
        every = sorted(list_documents(store, kind), key=itemgetter(*kind.order))
        for _, of_closing in groupby(every, key=itemgetter(kind.closing)):
            documents: list[Any] = [*of_closing]
            asked = [
                each.number
                for each in documents
                if wanted in {None, each.number} and (owner is None or each.institution == owner)
            ]
            digests = _digests(store, kind, documents) if asked else {}
            sums = _sums(store, kind, documents) if asked else {}
            for each in documents:
                if each.number in asked:
                    last, key = before.get(each[kind.chain]), kind.key_of(each)
                    results.append(_verified(kind, each, last, sums.get(key), digests[key]))
                before[each[kind.chain]] = each
    return results


def _digests(
    store: Store, kind: DocumentKind[D], documents: Sequence[Mapping[str, Any]]
) -> Mapping[str, str]:
    """Return the digests that the documents of a closing would have now."""
    by_key = {kind.key_of(each): each for each in documents}
    digests = {key: kind.digest(each, ()) for key, each in by_key.items()}
    for key, lines in csv_lines(store, kind, documents[0], of_all=True):
        if key in by_key:
            digests[key] = kind.digest(by_key[key], lines)
    return digests


def _sums(
    store: Store, kind: DocumentKind[D], documents: Sequence[Document]
) -> Mapping[str, LineSums | InvoiceDraft]:
    """Return what the lines of the documents of a closing come to now."""
    first = documents[0]
    if isinstance(first, Statement):
        sums = statement_sums(
            store, first.institution_id, first.currency, statement_no=first.statement_no
        )
        return {kind.key_of(first): sums}
    drafts = store.records(InvoiceDraft, "documents/questions:drafts", period_no=first.period_no)
    return {kind.key_of({**first, **draft}): draft for draft in drafts}


def _verified(
    kind: DocumentKind[D], document: Any, before: Any, sums: Any, sha256: str
) -> VerifiedDocument:
    differences = [
        *_of_sums(kind, document, sums),
        *(_of_statement(document, before) if isinstance(document, Statement) else []),
        *(["its files would have another digest"] if sha256 != document.sha256 else []),
        *_of_chain(document, before),
    ]
    return VerifiedDocument.part(
        document,
        period=str(Period.ending(document.to)),
        ok=not differences,
        differences=differences,
        sha256=sha256,
    )


def _of_sums(
    kind: DocumentKind[D], document: Document, sums: LineSums | InvoiceDraft | None
) -> Iterator[str]:
    """Yield what a document says otherwise than the journal, or the ledger of an invoice."""
    for name in kind.sums:
        stated = document[name]
        found = sums[name] if sums else type(stated)(0)
        if stated != found and isinstance(stated, Decimal):
            stated, found = (money_text(each, document.currency) for each in (stated, found))
        if stated != found:
            yield f"{name} says {stated}, and the books {found}"


def _of_statement(statement: Statement, before: Statement | None) -> Iterator[str]:
    """Yield what differs between what a statement carries and pays, and the one before it."""
    balance = statement.carried_in + statement.entries + statement.adjustments
    if (statement.payable, statement.carried_out) != (max(balance, 0), min(balance, 0)):
        yield "what is payable and carried out is not the sum of the rest"
    carried = before.carried_out if before else Decimal(0)
    if statement.carried_in != carried:
        yield f"carried_in is {statement.carried_in}, and {carried} was carried out before it"
    if before is not None and statement.from_ != before.to:
        yield "its period does not begin where the one before it ends"


def _of_chain(document: Document, before: Document | None) -> Iterator[str]:
    """Yield what differs between a document and the one before it."""
    if document.previous_number != (before.number if before else None):
        other = "statement" if isinstance(document, Statement) else "number"
        yield f"it names another {other} as the one before it"
    if document.previous_sha256 != (before.sha256 if before else None):
        yield "the digest of the one before it is another by now"
    is_first = before is None or before.year != document.year
    if document.place != (1 if is_first or before is None else before.place + 1):
        yield "its number does not follow the one before it"
