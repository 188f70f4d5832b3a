"""Statements and invoices as two kinds of one document: numbered, closed, and kept for ever.

A statement is what an institution is owed for a period, made of whole settlements, each of which is
on one statement at most. A period of invoices takes whole settlements of all institutions, each
once; of every merchant and currency in them it has one invoice, and one credit note for each
earlier invoice of which something was reversed. Lines are read of the ledger, which keeps them
(rules.md#statements, rules.md#invoices).

The files of a document have bytes that never change. One is a table of its lines, a row for each,
which any program reads; the other has what the document says of itself. The digest that is kept,
and that the next document names, is of both, the head first.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cardoffers_cli.kernel.sheets.exports import csv_cell
from cardoffers_cli.kernel.sheets.sheets import columns_of, guarded_text
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.kernel.words.records import Amount

# Statements


class StatedAmounts(Record):
    """What a period comes to, `from` included and `to` excluded.

    `entries`, `adjustments` and `pending` are amounts, beside their counts; what is pending is for
    information. `carried_in` and `carried_out` are zero or less, `payable` is zero or more. One
    that is not closed has no number, and `overdue_count` entries that wait for a run of settle.
    """

    number: str | None
    institution_id: UUID
    institution: str
    currency: str
    from_: datetime = shown(gives_way=2)
    to: datetime = shown(gives_way=3)
    carried_in: Amount = shown(gives_way=6)
    entries: Amount = shown("settled", gives_way=5)
    adjustments: Amount = shown("taken back", gives_way=5)
    carried_out: Amount = shown(gives_way=6)
    payable: Amount
    entry_count: int = shown("entries", gives_way=4)
    adjustment_count: int = shown("reversed", gives_way=6)
    pending_count: int
    pending: Amount
    previous_number: str | None
    overdue_count: int | None = if_any()


class Subtotal(Record):
    """What the lines of a document come to of one offer or, on an invoice, of one institution."""

    subject: str = shown("offer or institution")
    offer_title: str | None = if_any("offer")
    line_count: int = shown("count")
    currency: str
    amount: Amount


class StatementResult(
    StatedAmounts,
    sheet="number institution from to entry_count entries adjustment_count adjustments carried_in"
    " carried_out payable currency closed_at sha256",
):
    """A statement, in the shape of `statement close --format json`; tax fields as they were.

    One that is shown has the settlements that it took, and where anything is to be paid the
    `payout_state` of the bank's side (rules.md#bank-verdicts).
    """

    number: str
    sha256: str = shown(gives_way=9)
    previous_sha256: str | None
    closed_at: datetime = shown(gives_way=7)
    actor: str
    tax_id: str | None = if_any()
    tax_note: str | None = if_any()
    address: str | None = if_any()
    country: str | None = if_any()
    time_zone: str | None = if_any()
    issuer: str | None = if_any()
    issuer_address: str | None = if_any()
    issuer_tax_id: str | None = if_any()
    dry_run: bool | None = if_any()
    payout_state: str | None = if_any()
    bank_code: str | None = if_any()
    settlements: Sequence[StatedSettlement] | None = if_any()


class Statement(StatementResult):
    """A statement as it was closed; `in_all` is how many there are of those asked for.

    `recorded_at` is the machine's clock when it was closed.
    """

    statement_no: int
    series: str
    year: int
    place: int
    recorded_at: datetime
    is_rehearsal: bool
    in_all: int


class StatementLine(Record, first="created_at kind institution_payout_amount"):
    """A line of a statement: an entry that was settled, or the adjustment of one."""

    kind: str
    created_at: datetime
    redemption_id: UUID = shown(gives_way=1)
    offer_id: str = shown(gives_way=2)
    merchant_id: UUID = shown(gives_way=4)
    settlement_id: UUID = shown(gives_way=5)
    settled_at: datetime = shown(gives_way=3)
    currency: str
    merchant_funded_amount: Amount = shown("funded", gives_way=3)
    commission_amount: Amount = shown("commission", gives_way=4)
    institution_payout_amount: Amount = shown("payout")
    transaction_ref: str | None = shown("reference", gives_way=2)
    purchased_on: date | None = shown("bought", gives_way=3)
    purchase_amount: Amount | None = shown("purchase", gives_way=3)
    merchant_name: str | None = shown("merchant", gives_way=4)
    offer_title: str | None = shown("offer", gives_way=4)


class StatedSettlement(Record, sheet="* currency settlement_id"):
    """A settlement that a statement took; `entries` and `adjustments` are counts of its lines."""

    settled_at: datetime
    currency: str
    entries: int = shown(gives_way=2)
    adjustments: int = shown(gives_way=2)
    institution_payout_amount: Amount = shown("payout")
    settlement_id: UUID = shown(gives_way=3)


# Invoices and credit notes


class InvoiceResult(
    Record,
    sheet="number merchant_name from to amount currency issued_on due_on amends line_count"
    " merchant_id sha256",
):
    """An invoice, or a credit note where it `amends` one, in the shape of `invoice list`.

    `legal_number` and `tax` come later, from the accounting system: they are not in the digest.
    """

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
    issuer: str | None = if_any()
    pay_to: str | None = if_any()
    address: str | None = if_any()
    country: str | None = if_any()
    time_zone: str | None = if_any()
    issuer_address: str | None = if_any()
    issuer_tax_id: str | None = if_any()
    legal_number: str | None = if_any()
    tax: Amount | None = if_any()


class Invoice(InvoiceResult):
    """An invoice or a credit note as it was closed; `in_all` is how many were asked for."""

    invoice_no: int
    series: str
    year: int
    place: int
    period_no: int
    amended_period_no: int | None
    closed_at: datetime
    actor: str
    recorded_at: datetime
    is_rehearsal: bool
    in_all: int


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
    transaction_ref: str | None = shown("reference", gives_way=2)
    purchased_on: date | None = shown("bought", gives_way=3)
    purchase_amount: Amount | None = shown("purchase", gives_way=3)
    merchant_name: str | None = shown("merchant", gives_way=4)
    offer_title: str | None = shown("offer", gives_way=4)


# Both

Document = Statement | Invoice
D = TypeVar("D", bound=Document)
CUSTOMER = ("tax_id", "tax_note", "address", "country", "time_zone")
NOTES = (*CUSTOMER, "issuer", "issuer_address", "issuer_tax_id", "pay_to")
"""What a document says as the catalogue and the settings say it: nothing is computed of it."""


@dataclass(frozen=True, kw_only=True)
class DocumentKind(Generic[D]):
    """What tells one kind from the other: its words, its key, and what stands in its file.

    Lines are found by the field `closing`, and in that by those of `key`. Documents follow each
    other in `order`, each one that has the same `chain`. The `head` is by the names that JSON has,
    and its `sums` are of the lines.
    """

    noun: str
    title: str
    result: type[StatementResult | InvoiceResult]
    line: type[StatementLine | InvoiceLine]
    shape: type[D]
    closing: str
    key: tuple[str, ...]
    order: tuple[str, ...]
    chain: str
    head: tuple[str, ...]
    sums: tuple[str, ...]

    def told(self, document: D) -> Record:
        """Return a document in the shape that it is told in."""
        return self.result.cut(document)

    def lines_of(self, document: Mapping[str, Any], *, of_all: bool = False) -> Mapping[str, Any]:
        """Return what the lines of a document are found by, or those `of_all` of its closing."""
        key = None if of_all else self.key_of(document)
        return {"document": self.noun, "closing_no": document[self.closing], "key": key}

    def key_of(self, document: Mapping[str, Any]) -> str:
        """Return what tells the lines of a document from others of its closing."""
        values = (document[name] for name in self.key)
        return " ".join(str(value) for value in values if value is not None)

    def head_csv(self, document: Mapping[str, Any]) -> bytes:
        """Return the file of what a document says of itself: rows of a name and a value."""
        names = (*self.head, *(name for name in NOTES if document.get(name)))
        rows = (f"{name},{csv_cell(guarded_text(document[name]))}" for name in names)
        return _joined(["name,value", *rows])

    def lines_csv(self, lines: Iterable[Sequence[str]]) -> Iterator[bytes]:
        """Yield the file of the lines piece by piece; they come some at a time."""
        yield _joined([",".join(column.name for column in columns_of(self.line))])
        yield from map(_joined, lines)

    def digest(self, document: Mapping[str, Any], lines: Iterable[Sequence[str]]) -> str:
        """Return the SHA-256 of both files, the head first, in hex."""
        digest = hashlib.sha256(self.head_csv(document))
        for piece in self.lines_csv(lines):
            digest.update(piece)
        return digest.hexdigest()


def _joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


STATEMENT = DocumentKind(
    noun="statement",
    title="statement",
    result=StatementResult,
    line=StatementLine,
    shape=Statement,
    closing="statement_no",
    key=("institution_id",),
    order=("institution", "from"),
    chain="institution",
    head=(
        *("number", "institution_id", "from", "to", "previous_number", "previous_sha256"),
        *("currency", "carried_in", "entries", "adjustments", "carried_out", "payable"),
    ),
    sums=("entry_count", "adjustment_count", "entries", "adjustments"),
)
INVOICE = DocumentKind(
    noun="invoice",
    title="invoice or credit note",
    result=InvoiceResult,
    line=InvoiceLine,
    shape=Invoice,
    closing="period_no",
    key=("merchant_id", "currency", "amended_period_no"),
    order=("invoice_no",),
    chain="series",
    head=(
        *("number", "merchant_id", "merchant_name", "from", "to", "issued_on", "net_days"),
        *("due_on", "amends", "previous_number", "previous_sha256", "currency", "amount"),
    ),
    sums=("line_count", "amount"),
)
