"""Invoices and credit notes: what merchants are asked for a period, taken once and kept for ever.

A period takes whole settlements of all institutions, each once, and with them its lines; of every
merchant and currency in them it has one invoice, and one credit note for each earlier invoice of
which something was reversed (rules.md#invoices).
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

_ALL = 100_000_000


class InvoicePeriod(Record):
    """A month for which all merchants were invoiced."""

    period_no: int
    from_at: datetime
    to_at: datetime
    closed_at: datetime
    actor: str


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


class Invoice(InvoiceDraft):
    """An invoice or a credit note as it was closed; `invoices` is how many were asked for."""

    invoice_no: int
    number: str
    series: str
    year: int
    place: int
    period_no: int
    issued_on: date
    due_on: date
    sha256: str
    previous_number: str | None
    previous_sha256: str | None
    from_at: datetime
    to_at: datetime
    closed_at: datetime
    actor: str
    invoices: int


class InvoiceLine(Record, first="created_at kind merchant_funded_amount"):
    """A line of an invoice or credit note."""

    kind: str
    created_at: datetime
    redemption_id: UUID = shown(gives_way=1)
    offer_id: str = shown(gives_way=2)
    settled_at: datetime = shown(gives_way=3)
    currency: str
    commission_amount: Amount = shown("commission", gives_way=4)
    institution_payout_amount: Amount = shown("payout", gives_way=3)
    merchant_funded_amount: Amount = shown("funded")


def take_settlements(store: Store, *, to_at: datetime) -> int:
    """Put into a new period what was settled before `to_at` and is in none; return its number.

    `write_period` is to follow.
    """
    period_no = int(store.value("documents/invoices:next_period_no"))
    store.execute("documents/invoices:take_settlements", period_no=period_no, to_at=to_at)
    return period_no


def csv_lines(
    store: Store, period_no: int
) -> Iterator[tuple[tuple[UUID, str, int | None], Iterator[list[str]]]]:
    """Yield the lines of each draft of a period as they stand in its CSV file, in their order.

    Each comes with (merchant_id, currency, amended_period_no); the store runs nothing else
    meanwhile.
    """
    every = dict.fromkeys(("merchant_id", "currency", "amended_period_no"))
    pages = store.pages("documents/invoices:csv_lines", period_no=period_no, **every)
    rows = (row for page in pages for row in page)
    for key, of_one in groupby(rows, key=itemgetter(*every)):
        yield key, ([row["line"]] for row in of_one)


def list_invoices(
    store: Store,
    *,
    number: str | None = None,
    merchant_id: UUID | None = None,
    period_no: int | None = None,
    limit: int = _ALL,
) -> list[Invoice]:
    """Return invoices and credit notes, the newest first."""
    return store.records(
        Invoice,
        "documents/invoices:list",
        number=number,
        merchant_id=merchant_id,
        period_no=period_no,
        limit=limit,
    )


def find_invoice(store: Store, number: str) -> Invoice:
    """Return the invoice or credit note of a number; raise `NotFound`."""
    invoices = list_invoices(store, number=number.strip().upper(), limit=1)
    if not invoices:
        raise NotFound(
            f"There is no invoice or credit note {number!r}.",
            code="invoice_not_found",
            hint="`cardoffers invoice list` shows them all.",
        )
    return invoices[0]


def merchant_of(store: Store, named: str) -> UUID:
    """Return the merchant that was invoiced under a name, in letters of either case, or of an id.

    Raises `NotFound`.
    """
    merchant_id: UUID | None = store.value("documents/invoices:merchant_of", named=named.strip())
    if merchant_id is None:
        raise NotFound(
            f"No merchant {named!r} was invoiced.",
            code="merchant_not_found",
            hint="`cardoffers invoice list --all` has their names.",
        )
    return merchant_id


def all_lines(store: Store, invoice: Invoice) -> Iterator[InvoiceLine]:
    """Yield every line of an invoice, in its order; the store runs nothing else meanwhile."""
    pages = store.pages("documents/invoices:lines", **key_of(invoice), limit=None)
    return (InvoiceLine.of(row) for page in pages for row in page)


def key_of(invoice: Invoice) -> Mapping[str, Any]:
    """Return what its lines are found by."""
    names = ("period_no", "merchant_id", "currency", "amended_period_no")
    return {name: invoice[name] for name in names}
