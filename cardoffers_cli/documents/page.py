"""The page of a statement, made for print: what is payable for a period, and of what."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.exports import csv_cell
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.sheets import Sheet, guarded_text
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.sentences import amount_text, counted, date_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.sheets.sheets import Column


# The CSV files of statements and invoices: bytes that never change, and their digests.
#
# Each is one table, so that any program reads it: rows of its head, its lines, and rows of its end,
# each with its `kind`. Amounts stand in the last column of amounts where they add up, and
# everything else in `value`: carried_in + entry lines + adjustment lines = carried_out + payable of
# a statement, and the lines of an invoice make its amount.


TAXES = ("tax_id", "tax_note")
"""What is said of tax: it comes from the catalogue, and nothing is computed of it."""


@dataclass(frozen=True, kw_only=True)
class SealedForm:
    """How a file is made: the columns of its lines, its head, and its amounts before and behind.

    The names are those that JSON has. Fields `passing` through stand in the head where there
    are any: so what has none has the bytes that it always had.
    """

    columns: tuple[Column, ...]
    head: tuple[str, ...]
    passing: tuple[str, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]

    def pieces(
        self, document: Mapping[str, Any], lines: Iterable[Sequence[str]]
    ) -> Iterator[bytes]:
        """Yield the file of a document piece by piece; `lines` are those of its lines, as CSV."""
        header = ",".join([*(column.name for column in self.columns), "value"])
        names = (*self.head, *(name for name in self.passing if document.get(name)))
        head = (self._row(name, document, value=guarded_text(document[name])) for name in names)
        yield _joined([header, *head, *(self._amount(name, document) for name in self.before)])
        for some in lines:
            yield _joined(some)
        yield _joined([self._amount(name, document) for name in self.behind])

    def digest(self, document: Mapping[str, Any], lines: Iterable[Sequence[str]]) -> str:
        """Return the SHA-256 of the file, in hex."""
        digest = hashlib.sha256()
        for piece in self.pieces(document, lines):
            digest.update(piece)
        return digest.hexdigest()

    def _amount(self, name: str, document: Mapping[str, Any]) -> str:
        return self._row(name, document, amount=guarded_text(document[name]))

    def _row(
        self, kind: str, document: Mapping[str, Any], *, amount: str = "", value: str = ""
    ) -> str:
        """Write a row that is no line: its kind, the currency, and an amount or a value."""
        cells = {"kind": kind, "currency": document["currency"], self.columns[-1].name: amount}
        texts = [cells.get(column.name, "") for column in self.columns]
        return ",".join(map(csv_cell, [*texts, value]))


def taxes(document: Mapping[str, Any]) -> Mapping[str, str]:
    """Return what a statement or invoice says of tax, by what a page calls it."""
    return {name.replace("_", " "): document[name] for name in TAXES if document.get(name)}


def _joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


_NOTES = (
    "Carried in + entries + adjustments = payable + carried out.",
    "What is below zero is not asked back: it is deducted from the next statement.",
    "An entry is a redemption that was settled; an adjustment takes one back that was reversed.",
    "What is pending is on hold, shown for information; it comes onto a later statement.",
)


def statement_page(statement: Mapping[str, Any], settlements: Sheet, lines: Sheet) -> Page:
    """Return the page of a statement; it has the first of many lines."""
    return Page(
        title=f"Statement {statement['number']}",
        headline=headline(statement),
        as_of=statement["closed_at"],
        about=[f"Closed by {statement['actor']}."],
        facts=list(_facts(statement)),
        sections=list(_sections(statement, settlements, lines)),
        notes=_NOTES,
    )


def headline(statement: Mapping[str, Any]) -> str:
    """Say in a sentence what is payable, and of what."""
    period = Period(statement["from"]).title
    amount = amount_text(statement["payable"], statement["currency"])
    entries = counted(statement["entry_count"], "redemption")
    reversed_ = counted(statement["adjustment_count"], "reversal")
    return (
        f"{amount} is payable to {statement['institution']} "
        f"for {period}: {entries} settled, {reversed_} taken back."
    )


def _facts(statement: Mapping[str, Any]) -> Iterator[Fact]:
    currency = statement["currency"]
    notes = {
        "carried_in": f"from {statement['previous_number']}"
        if statement["previous_number"]
        else "",
        "entries": counted(statement["entry_count"], "entry", "entries"),
        "adjustments": counted(statement["adjustment_count"], "adjustment"),
        "carried_out": "to the next statement",
        "payable": "",
        "pending": counted(statement["pending_count"], "entry", "entries") + ", for information",
    }
    for name, note in notes.items():
        yield Fact.of(name.replace("_", " "), amount_text(statement[name], currency), note)


def _sections(statement: Mapping[str, Any], settlements: Sheet, lines: Sheet) -> Iterator[Section]:
    head = {
        "number": statement["number"],
        "institution": statement["institution"],
        "institution id": str(statement["institution_id"]),
        "from, included": format_brief(statement["from"]),
        "to, excluded": format_brief(statement["to"]),
        **taxes(statement),
        "SHA-256 of its CSV file": statement["sha256"],
        "statement before it": statement["previous_number"] or "none",
        "SHA-256 of that": statement["previous_sha256"] or "none",
    }
    yield Section(title="The statement", sheet=Sheet.of_fields("statement", head), is_whole=True)
    if settlements.rows:
        yield Section(title="Settlements on it", sheet=settlements)
    number = statement["number"]
    yield Section(
        title="Lines",
        sheet=lines,
        in_all=statement["entry_count"] + statement["adjustment_count"],
        more=f"cardoffers statement export {number} -o {number}.csv",
    )


# The page of an invoice or credit note, made for print: what a merchant is asked, and of what.


def invoice_page(invoice: Mapping[str, Any], lines: Sheet, *, closed_at: datetime) -> Page:
    """Return the page of an invoice; it has the first of many lines."""
    number, is_note = invoice["number"], invoice["amends"] is not None
    head = {
        "number": number,
        "merchant": invoice["merchant_name"],
        "merchant id": str(invoice["merchant_id"]),
        **({"amends": invoice["amends"]} if is_note else {}),
        "from, included": format_brief(invoice["from"]),
        "to, excluded": format_brief(invoice["to"]),
        "issued on": date_text(invoice["issued_on"]),
        "due on": date_text(invoice["due_on"]),
        "terms": f"net {invoice['net_days']} days",
        **taxes(invoice),
        "SHA-256 of its CSV file": invoice["sha256"],
        "number before it": invoice["previous_number"] or "none",
        "SHA-256 of that": invoice["previous_sha256"] or "none",
    }
    more = f"cardoffers invoice export {number} -o {number}.csv"
    return Page(
        title=f"{'Credit note' if is_note else 'Invoice'} {number}",
        headline=invoice_headline(invoice),
        as_of=closed_at,
        facts=[
            Fact.of("amount", amount_text(invoice["amount"], invoice["currency"])),
            Fact.of("due on", date_text(invoice["due_on"]), f"net {invoice['net_days']} days"),
            Fact.of("lines", invoice["line_count"]),
        ],
        sections=[
            Section(title="The document", sheet=Sheet.of_fields("invoice", head), is_whole=True),
            Section(title="Lines", sheet=lines, in_all=invoice["line_count"], more=more),
        ],
        notes=[
            "What a merchant funds of a redemption is the cashback and the commission on it.",
            "No tax is computed here.",
        ],
    )


def invoice_headline(invoice: Mapping[str, Any]) -> str:
    """Say in a sentence what is asked, or given back."""
    period = Period(invoice["from"]).title
    merchant = invoice["merchant_name"]
    if invoice["amends"] is not None:
        back = amount_text(-invoice["amount"], invoice["currency"])
        reversals = counted(invoice["line_count"], "redemption")
        return f"{back} goes back to {merchant} on {invoice['amends']}: {reversals} reversed."
    amount = amount_text(invoice["amount"], invoice["currency"])
    lines = counted(invoice["line_count"], "line")
    return f"{amount} is due from {merchant} for {period}, by {lines}."
