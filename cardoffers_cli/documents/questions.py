"""Documents as they were closed: listed, shown, and their lines read of the ledger."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents import kinds
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.payouts.questions import payout_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from cardoffers_cli.documents.kinds import D, Document, DocumentKind
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Record

_ALL = 100_000_000


def list_documents(
    store: Store,
    kind: DocumentKind[D],
    *,
    number: str | None = None,
    party_id: UUID | None = None,
    closing_no: int | None = None,
    limit: int = _ALL,
) -> list[D]:
    """Return documents of a kind, the newest first."""
    filters = {"number": number, "party_id": party_id, "closing_no": closing_no}
    address = f"documents/questions:{kind.noun}s"
    return store.records(kind.shape, address, **filters, limit=limit)


def find_document(store: Store, kind: DocumentKind[D], number: str) -> D:
    """Return the document of a number, in whatever case it is written; raise `NotFound`."""
    documents = list_documents(store, kind, number=number.strip().upper(), limit=1)
    if not documents:
        raise NotFound(
            f"There is no {kind.title} {number!r}.",
            code=f"{kind.noun}_not_found",
            hint=f"`cardoffers {kind.noun} list` shows them all.",
        )
    return documents[0]


def document_rows(
    job: Job, kind: DocumentKind[D], party: str | None, *, limit: int
) -> tuple[list[Record], int]:
    """Return documents, the newest first, and how many there are in all; raise `NotFound`.

    `party` is an institution or, of invoices, the name that a merchant bears on them, or its id.
    """
    with reading(job) as source:
        if party is None:
            party_id = None
        elif kind.noun == kinds.STATEMENT.noun:
            party_id = find_institution(source.store, party).id
        else:
            party_id = source.store.value("documents/questions:merchant_of", named=party.strip())
            if party_id is None:
                raise NotFound.from_table("documents", "merchant_not_found", named=party)
        documents = list_documents(source.store, kind, party_id=party_id, limit=limit)
    return [kind.told(each) for each in documents], documents[0].in_all if documents else 0


def show_document(job: Job, kind: DocumentKind[D], number: str) -> Record:
    """Return one document, a statement with its settlements and payout; raise `NotFound`."""
    with reading(job) as source:
        document = find_document(source.store, kind, number)
        told = kind.told(document)
        if not isinstance(told, kinds.StatementResult):
            return told
        settlements = settlements_of(source.store, document)
        owner = told.institution_id
        paid = payout_states(source.store, job.now, institution_id=owner, numbers=[told.number])
    return replace(
        told,
        settlements=settlements,
        payout_state=paid[0].state if paid else None,
        bank_code=paid[0].bank_code if paid else None,
    )


def settlements_of(store: Store, statement: Mapping[str, Any]) -> list[kinds.StatedSettlement]:
    """Return the settlements that a statement took, the first one first."""
    of = {name: statement[name] for name in ("institution_id", "statement_no")}
    return store.records(kinds.StatedSettlement, "documents/questions:settlements", **of)


def subtotals_of(
    store: Store, kind: DocumentKind[D], document: Mapping[str, Any]
) -> list[kinds.Subtotal]:
    """Return what the lines of a document come to by offer or, on an invoice, by institution."""
    return store.records(kinds.Subtotal, "documents/questions:subtotals", **kind.lines_of(document))


def lines(
    store: Store, kind: DocumentKind[D], document: Document, limit: int | None = None
) -> Iterator[Record]:
    """Yield the lines of a document, in their order for ever: the first ones, or all.

    The store runs nothing else meanwhile, as below.
    """
    of = kind.lines_of(document)
    pages = store.pages("documents/questions:lines", **of, limit=limit)
    return (kind.line.part(row) for page in pages for row in page)


def csv_lines(
    store: Store, kind: DocumentKind[D], document: Mapping[str, Any], *, of_all: bool = False
) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """Yield the lines of a document, or `of_all` of its closing, as they stand in CSV files.

    They come some at a time, those of each document behind its `DocumentKind.key_of`.
    """
    pages = store.pages("documents/questions:csv_lines", **kind.lines_of(document, of_all=of_all))
    pieces = (
        (key, [row["line"] for row in rows])
        for page in pages
        for key, rows in groupby(page, key=itemgetter("key"))
    )
    for key, of_one in groupby(pieces, key=itemgetter(0)):
        yield key, (some for _, some in of_one)
