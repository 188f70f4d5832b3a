"""The page of merchants, which answers: what did each of them fund."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.sheets.days import firsts
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import Picture, beside, pictured
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.sentences import (
    amount_text,
    amounts_text,
    compared,
    listed,
    percent,
)
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.reports.funnel_funnel import share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.sheets.asked import ReportScope
    from cardoffers_cli.kernel.sheets.sheets import Rows

_LISTED = 3
_ORDERS = {"redemptions": "most redeemed"}


def merchants_page(found: Mapping[str, Rows], asked: ReportScope) -> Page:
    """Return the page; `found` has the rows of `reports/merchant_results.py` in each order."""
    return Page(
        title=asked.titled("Merchants"),
        headline=headline(found["funded"], asked),
        as_of=asked.as_of,
        about=list(asked.said("Redemptions decided")),
        facts=list(_facts(found)),
        sections=list(merchant_sections(found, asked)),
        notes=["Money is without what was reversed since, which stands beside it."],
    )


def headline(rows: Rows, asked: ReportScope) -> str:
    """Return what merchants funded, and who the most."""
    of_each = firsts(rows)
    if not of_each:
        return f"No merchant funded anything{asked.ending}."
    merchants = sum(row["merchants"] for row in of_each)
    sums = {row["currency"]: row["funded_in_all"] for row in of_each}
    most = [
        f"{shortened(row['merchant_name'], 60)} with"
        f" {amount_text(row['merchant_funded_amount'], row['currency'])}"
        f" ({percent(row['merchant_funded_amount'] / row['funded_in_all'])})"
        for row in of_each[:_LISTED]
        if row["merchant_funded_amount"]
    ]
    said = f"{counted(merchants, 'merchant')} funded {amounts_text(sums)}{asked.ending}"
    return f"{said}; the most {listed(most)}." if most else f"{said}."


def _facts(found: Mapping[str, Rows]) -> Iterator[Fact]:
    of_each = firsts(found["funded"])
    earlier = {row["currency"]: row["funded_in_all"] for row in found.get("before", ())}
    for row in of_each[:_LISTED]:
        words = compared(row["funded_in_all"], earlier.get(row["currency"]))
        beside = f", {words} that of the time before" if words else ""
        yield Fact.of(
            f"funded, {row['currency']}",
            amount_text(row["funded_in_all"], row["currency"]),
            f"by {counted(row['merchants'], 'merchant')}{beside}",
        )
    redemptions = sum(row["redemptions_in_all"] for row in of_each)
    reversed_ = sum(row["reversed_in_all"] for row in of_each)
    if redemptions:
        yield Fact.of(
            "redemptions",
            redemptions,
            f"{reversed_:,} of them reversed, {percent(share(reversed_, redemptions))}"
            if reversed_
            else "none of them reversed",
        )


def merchant_sections(found: Mapping[str, Rows], asked: ReportScope) -> Iterator[Section]:
    """Show the merchants of each currency, in each of the orders that were found."""
    for first in firsts(found["funded"]):
        currency = first["currency"]
        orders = {
            order: [row for row in rows if row["currency"] == currency]
            for order, rows in found.items()
            if order == "funded" or order in _ORDERS
        }
        yield Section(
            title=f"Merchants in {currency}",
            pictures=_pictures(orders["funded"], currency),
            sheet=Sheet.of_rows("merchants", orders["funded"]),
            order="most funded",
            orders={name: orders[each] for each, name in _ORDERS.items() if each in orders},
            in_all=first["merchants"],
            more=asked.command("merchants", file="merchants.csv"),
        )


def _pictures(rows: Rows, currency: str) -> list[Picture]:
    drawn = [
        (
            row["merchant_name"],
            f"{row['merchant_funded_amount']:,} · {counted(row['redemptions'], 'redemption')}",
            row["merchant_funded_amount"],
        )
        for row in rows
        if row["merchant_funded_amount"]
    ]
    return pictured(beside(f"Funded in {currency}, by merchant", drawn))
