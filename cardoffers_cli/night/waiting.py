"""What waits when a nightly run has ended, as its page shows it: budgets, webhooks, and more."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Section
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import PrintedCommand
from cardoffers_cli.reports.page import MOST_ROWS, ending_soon, when_it_ends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cardoffers_cli.kernel.sheets.sheets import Rows

_BUDGETS = (
    *(Column("title", "offer"), Column("currency"), Column("left_amount", "left", "money")),
    *(Column("budget_amount", "budget", "money"), Column("spent_share", "spent", "share")),
    *(Column("outlook", "ends"), Column("merchant_funded_amount", "cost in 30 days", "money")),
    *(Column("merchant_name", "merchant"), Column("offer_id", "offer id", "id")),
)
_DELIVERIES = (
    *(Column("institution"), Column("due", "to be sent", "integer")),
    Column("failed", "failed, tried again", "integer"),
    *(Column("exhausted", "given up", "integer"), Column("stopped", kind="integer")),
    *(Column("delivered", kind="integer"), Column("next", "what to do")),
)
_WAITING = (
    *(Column("waits", "what waits"), Column("count", kind="integer"), Column("next", "what to do")),
)
_RATE = (
    "At the rate of the last 28 days; in brackets, at that of the quickest and of the slowest of"
    " those four weeks."
)


def to_do(text: str | None) -> Any:
    """Return what to do as a command, where it is one."""
    return PrintedCommand(text) if text and text.startswith("cardoffers ") else text


def budgets_that_end(offers: Rows, now: datetime) -> Iterator[Section]:
    """Show the budgets that end soon; rows as `reports/offer_results.py` has."""
    ending = ending_soon(offers, now)
    rows = [
        {
            **row,
            "title": row["title"] or row["offer_id"],
            "left_amount": max(row["budget_amount"] - row["spent_amount"], Decimal(0)),
            "outlook": when_it_ends(row, now),
        }
        for row in ending[:MOST_ROWS]
    ]
    if rows:
        yield Section(
            title="Budgets that end within 14 days",
            lines=[_RATE],
            sheet=Sheet("budgets", _BUDGETS, rows),
            in_all=len(ending),
            more="cardoffers report offers --order ends -o offers.html",
        )


def webhooks_that_wait(deliveries: Rows) -> Iterator[Section]:
    """Show the events that wait; rows as `events/questions.py` counts them."""
    waiting = ("due", "failed", "exhausted", "stopped")
    rows = [
        {**row, "next": PrintedCommand(f"cardoffers webhook list -i {row['institution']}")}
        for row in deliveries
        if any(row[name] for name in waiting)
    ]
    sent = sum(row["delivered"] for row in deliveries)
    were = "was" if sent == 1 else "were"
    sentence = f"Of the events of the last 30 days, {sent:,} {were} delivered"
    if deliveries:
        yield Section(
            title="Webhooks that wait",
            lines=[f"{sentence}{'; these were not.' if rows else ', and none waits.'}"],
            sheet=Sheet("deliveries", _DELIVERIES, rows) if rows else None,
        )


def what_else_waits(waiting: Rows) -> Iterator[Section]:
    """Show what else waits: `waits`, `count`, and what to do `next`."""
    rows = [{**row, "next": to_do(row["next"])} for row in waiting if row["count"]]
    if rows:
        yield Section(title="What else waits", sheet=Sheet("waiting", _WAITING, rows))
