"""The page of a statement, made for print: what is payable for a period, and of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.documents.statements import taxes
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.sentences import amount_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    said = amount_text(statement["payable"], statement["currency"])
    entries = counted(statement["entry_count"], "redemption")
    reversed_ = counted(statement["adjustment_count"], "reversal")
    return (
        f"{said} is payable to {statement['institution']} "
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
