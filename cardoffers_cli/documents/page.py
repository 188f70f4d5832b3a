"""The pages of documents, made for print: what is payable, asked or given back, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents.kinds import NOTES, StatedSettlement, Subtotal
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.sentences import amount_text, counted, date_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


COLUMNS = (
    "created_at kind transaction_ref purchased_on purchase_amount merchant_funded_amount"
    " commission_amount institution_payout_amount currency merchant_name offer_id"
)
"""The columns of the lines for which a sheet of paper has room."""

_ENTRIES = (
    "An entry is a redemption that was settled; an adjustment takes one back that was reversed."
)


def statement_page(
    statement: Mapping[str, Any],
    lines: Sheet,
    subtotals: Sequence[Subtotal],
    settlements: Sequence[StatedSettlement],
) -> Page:
    """Return the page of a statement; it has the first of many lines."""
    period = Period.ending(statement["to"]).title
    payable = amount_text(statement["payable"], statement["currency"])
    entries = counted(statement["entry_count"], "redemption")
    reversed_ = counted(statement["adjustment_count"], "reversal")
    in_all = statement["entry_count"] + statement["adjustment_count"]
    on_it = Sheet.of(StatedSettlement, "settlements", settlements)
    return Page(
        title=_title("Statement", statement),
        headline=f"{payable} is payable to {statement['institution']} "
        f"for {period}: {entries} settled, {reversed_} taken back.",
        as_of=statement["closed_at"],
        about=[f"Closed by {statement['actor']}."],
        facts=list(_facts(statement)),
        sections=[
            _head("statement", statement, "institution", statement["institution"]),
            *([Section(title="Settlements on it", sheet=on_it)] if settlements else []),
            *_subtotals("By offer", subtotals),
            _lines("statement", statement, lines, in_all),
        ],
        notes=[
            "Carried in + entries + adjustments = payable + carried out.",
            "What is below zero is not asked back: it is deducted from the next statement.",
            _ENTRIES,
            "What is pending is on hold, shown for information; it comes onto a later statement.",
        ],
    )


def invoice_page(invoice: Mapping[str, Any], lines: Sheet, subtotals: Sequence[Subtotal]) -> Page:
    """Return the page of an invoice or credit note; it has the first of many lines.

    An invoice that names nobody who issues it is no tax invoice, and its title says so.
    """
    tax, line_count = invoice.get("tax"), invoice["line_count"]
    amount = invoice["amount"] + (tax or 0)
    asked = amount_text(abs(amount), invoice["currency"])
    if tax:
        asked += f" with {amount_text(abs(tax), invoice['currency'])} of tax"
    due_on, terms = date_text(invoice["due_on"]), f"net {invoice['net_days']} days"
    dates = {"issued on": date_text(invoice["issued_on"]), "due on": due_on, "terms": terms}
    merchant, amends, pay_to = invoice["merchant_name"], invoice["amends"], invoice.get("pay_to")
    if amends is not None:
        noun = "Credit note"
        headline = (
            f"{asked} goes back to {merchant} on {amends}: "
            f"{counted(line_count, 'redemption')} reversed."
        )
    else:
        noun = "Invoice" if invoice.get("issuer") else "Billing note, not a tax invoice,"
        headline = (
            f"{asked} is due from {merchant} for "
            f"{Period.ending(invoice['to']).title}, by {counted(line_count, 'line')}."
        )
    return Page(
        title=_title(noun, invoice),
        headline=headline,
        as_of=invoice["closed_at"],
        about=[f"Pay to {pay_to}, with the reference {invoice['number']}."] if pay_to else [],
        facts=[
            Fact.of("amount", amount_text(amount, invoice["currency"])),
            Fact.of("due on", due_on, terms),
            Fact.of("lines", line_count),
        ],
        sections=[
            _head("invoice", invoice, "merchant", merchant, dates),
            *_from_accounting(invoice),
            *_subtotals("By institution", subtotals),
            _lines("invoice", invoice, lines, line_count),
        ],
        notes=[
            "What a merchant funds of a redemption is the cashback and the commission on it.",
            "No tax is computed here.",
        ],
    )


def _from_accounting(invoice: Mapping[str, Any]) -> list[Section]:
    """Return what the accounting system said of an invoice after it was closed."""
    tax, currency = invoice.get("tax"), invoice["currency"]
    fields = {
        "legal number": invoice.get("legal_number"),
        "tax": None if tax is None else amount_text(tax, currency),
        "amount with tax": None if tax is None else amount_text(invoice["amount"] + tax, currency),
    }
    sheet = Sheet.of_fields("accounting", {name: text for name, text in fields.items() if text})
    title = "From the accounting system; not part of the digest"
    return [Section(title=title, sheet=sheet, is_whole=True)] if any(fields.values()) else []


def _title(noun: str, document: Mapping[str, Any]) -> str:
    rehearsal = "REHEARSAL: " if document["is_rehearsal"] else ""
    return f"{rehearsal}{noun} {document['number']}"


def _subtotals(title: str, subtotals: Sequence[Subtotal]) -> list[Section]:
    sheet = Sheet.of(Subtotal, "subtotals", subtotals)
    return [Section(title=title, sheet=sheet)] if subtotals else []


def _facts(statement: Mapping[str, Any]) -> Iterator[Fact]:
    previous = statement["previous_number"]
    notes = {
        "carried_in": f"from {previous}" if previous else "",
        "entries": counted(statement["entry_count"], "entry", "entries"),
        "adjustments": counted(statement["adjustment_count"], "adjustment"),
        "carried_out": "to the next statement",
        "payable": "",
        "pending": counted(statement["pending_count"], "entry", "entries") + ", for information",
    }
    for name, note in notes.items():
        amount = amount_text(statement[name], statement["currency"])
        yield Fact.of(name.replace("_", " "), amount, note)


def _head(
    noun: str,
    document: Mapping[str, Any],
    party: str,
    name: str,
    terms: Mapping[str, str] | None = None,
) -> Section:
    """Return what a document says of itself: whose it is, of when, and which one is before it."""
    is_statement = terms is None
    head = {
        "number": document["number"],
        party: name,
        f"{party} id": str(document[f"{party}_id"]),
        **({"amends": document["amends"]} if document.get("amends") else {}),
        "from, included": format_brief(document["from"]),
        "to, excluded": format_brief(document["to"]),
        **(terms or {}),
        **{name.replace("_", " "): document[name] for name in NOTES if document.get(name)},
        "SHA-256 of its head and lines": document["sha256"],
        f"{'statement' if is_statement else 'number'} before it": document["previous_number"]
        or "none",
        "SHA-256 of that": document["previous_sha256"] or "none",
    }
    title = "The statement" if is_statement else "The document"
    return Section(title=title, sheet=Sheet.of_fields(noun, head), is_whole=True)


def _lines(noun: str, document: Mapping[str, Any], lines: Sheet, in_all: int) -> Section:
    number = document["number"]
    more = f"cardoffers {noun} export {number} -o {number}.csv"
    return Section(title="Lines", sheet=lines, in_all=in_all, more=more)
