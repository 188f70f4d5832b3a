"""The page of an invoice or credit note, made for print: what a merchant is asked, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents.statements import taxes
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.sentences import amount_text, date_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


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
        headline=headline(invoice),
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


def headline(invoice: Mapping[str, Any]) -> str:
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
