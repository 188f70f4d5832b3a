"""The pages of offers and of a funnel: which work, which end when, and whether people take them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import (
    Bar,
    Picture,
    bars,
    beside,
    drawn_by_day,
    firsts,
    periods,
    pictured,
)
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import State
from cardoffers_cli.kernel.words.sentences import (
    amount_text,
    amounts_text,
    compared,
    counted,
    date_text,
    day_text,
    listed,
    percent,
)
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.reports.funnel import people_compared, share, volumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from cardoffers_cli.kernel.sheets.pages import ReportScope
    from cardoffers_cli.kernel.sheets.sheets import Row, Rows


SOON = timedelta(days=14)
MOST_ROWS = 50
"""Offers in one order of a table at most."""
_AHEAD = Decimal("0.1")
_LISTED = 3
_COLUMNS = (
    *(Column("title", "offer"), Column("currency"), Column("spend_amount", "spend", "money")),
    *(Column("redemptions", kind="integer"), Column("merchant_funded_amount", "cost", "money")),
    Column("cashback_share", "cashback per spend", "share"),
    *(Column("spent_share", "of its budget", "share"), Column("ends", "budget ends")),
    *(Column("expires_on", "offer ends", "date"), Column("merchant_name", "merchant")),
    Column("offer_id", "offer id", "id"),
)
_ORDERS = {"spend": "most spend", "redemptions": "most redeemed", "ends": "first to end"}
_MEANS = (
    (
        "Spend is what was paid at the merchant in purchases that redeemed, cost what the merchant"
        " funds; both without what was reversed since."
    ),
    (
        "A budget ends on the first day whose cumulated cost exceeds it at the rate of the last 28"
        " days; in brackets, at the rates of the quickest and of the slowest of those four weeks."
    ),
)


def offers_page(data: Mapping[str, Rows], scope: ReportScope) -> Page:
    """Return the page; `data` has the rows of `reports/work.py` in each order."""
    return Page(
        title=scope.titled("Offers"),
        headline=headline(data, scope),
        as_of=scope.as_of,
        about=list(scope.said("Redemptions decided")),
        facts=list(_facts(data, scope)) if data["spend"] else [],
        sections=list(offer_sections(data, scope)),
        notes=_MEANS,
    )


def headline(data: Mapping[str, Rows], scope: ReportScope) -> str:
    """Return how many offers were redeemed, which one sold most, and which budgets end."""
    rows = data["spend"]
    if not rows:
        return "No offer is running, and none was redeemed."
    of_each = firsts(rows)
    offers = sum(row["offers"] for row in of_each)
    redeemed = sum(row["redeemed"] for row in of_each)
    ending = ending_soon(data["ends"], scope.as_of)
    ends = "ends" if len(ending) == 1 else "end"
    soon = f"{counted(len(ending), 'budget') if ending else 'no budgets'} {ends} within 14 days"
    return f"{redeemed:,} of {counted(offers, 'offer')} redeemed{scope.ending}; {soon}."


def ending_soon(rows: Rows, now: datetime) -> list[Row]:
    """Return the offers whose budgets end soon, those that are spent already left out."""
    last = (now + SOON).date()
    return [row for row in rows if row["state"] == "runs_out" and row["ends_on"] <= last]


def _facts(data: Mapping[str, Rows], scope: ReportScope) -> Iterator[Fact]:
    of_each = firsts(data["spend"])
    earlier = {row["currency"]: row["spend_in_all"] for row in data.get("before", ())}
    for row in of_each[:_LISTED]:
        spend = row["spend_in_all"]
        words = compared(spend, earlier.get(row["currency"]))
        share = row["cashback_in_all"] / spend if spend else None
        notes = [
            f"{words} that of the time before" if words else "",
            f"{percent(share)} of it came back as cashback" if share is not None else "",
        ]
        yield Fact.of(
            f"spend at merchants, {row['currency']}",
            amount_text(spend, row["currency"]),
            "; ".join(filter(None, notes)),
        )
    for row in of_each[:_LISTED]:
        if row["redemptions"]:
            yield Fact.of(
                f"most spend by one offer, {row['currency']}",
                amount_text(row["spend_amount"], row["currency"]),
                shortened(row["title"] or row["offer_id"], 60),
            )
    ending = ending_soon(data["ends"], scope.as_of)
    spent = sum(row["spent_offers"] for row in of_each)
    yield Fact.of(
        "budgets that end within 14 days",
        len(ending),
        f"{spent:,} {'is' if spent == 1 else 'are'} spent already" if spent else "",
    )


def offer_sections(data: Mapping[str, Rows], scope: ReportScope) -> Iterator[Section]:
    """Show the offers of each currency, in each of the orders that were found."""
    more = scope.command("offers", file="offers.csv")
    for first in firsts(data["spend"]):
        currency = first["currency"]
        orders = {
            order: [
                _shown(row, scope.as_of)
                for row in rows
                if row["currency"] == currency and (row["redemptions"] or order == "ends")
            ]
            for order, rows in data.items()
            if order in _ORDERS
        }
        filled = {_ORDERS[order]: rows[:MOST_ROWS] for order, rows in orders.items() if rows}
        if not filled:
            continue
        (order, rows), *others = filled.items()
        yield Section(
            title=f"Offers in {currency}",
            lines=[_idle(first["offers"] - first["redeemed"], first["offers"])],
            pictures=_pictures(orders, currency),
            sheet=Sheet("offers", _COLUMNS, rows),
            order=order,
            orders=dict(others),
            in_all=first["redeemed"] if orders["spend"] else first["offers"],
            more=more,
        )


def _idle(count: int, in_all: int) -> str:
    """Say how many of the offers run that nobody redeemed."""
    run = "runs" if count == 1 else "run"
    if count and count == in_all:
        return f"{counted(count, 'offer')} {run}, and none was redeemed."
    return f"{counted(count, 'other offer')} {run} unredeemed." if count else ""


def _shown(row: Row, now: datetime) -> Row:
    return {
        **row,
        "title": row["title"] or row["merchant_name"],
        "ends": when_it_ends(row, now),
        "expires_on": row["expires_at"].date(),
    }


def when_it_ends(row: Row, now: datetime) -> Any:
    """Return in words when a budget ends, with its band; one ahead of its plan is marked."""
    match row["state"]:
        case "ended" | "no_budget":
            return row["outlook"]
        case "not_at_this_rate":
            return "after the offer"
        case "spent" if row["ends_on"]:
            return State(f"spent on {day_text(row['ends_on'])}", "alarm")
        case "spent":
            return State(row["outlook"], "alarm")
    text = day_text(row["ends_on"])
    if first := row["ends_from"]:
        last = row["ends_until"]
        until = f" to {day_text(last)}" if last else " at the earliest"
        text = f"{text} ({day_text(first)}{'' if first == last else until})"
    is_soon = row["ends_on"] <= (now + SOON).date()
    if row["spent_share"] > row["planned_share"] + _AHEAD:
        text = f"{text}, ahead of plan"
    return State(text, "warn") if is_soon else text


def _pictures(orders: Mapping[str, Rows], currency: str) -> list[Picture]:
    spend = beside(
        f"Spend at merchants in {currency}, by offer",
        [
            (
                row["title"],
                f"{row['spend_amount']:,} · {counted(row['redemptions'], 'redemption')}",
                row["spend_amount"],
            )
            for row in orders["spend"]
            if row["redemptions"]
        ],
    )
    budgets = bars(
        f"Budgets in {currency} that end before their offers",
        [_budget(row) for row in orders.get("ends", ()) if row["state"] == "runs_out"],
        subtitle="Spent of each budget; the line across is where even spending would be by now.",
    )
    return pictured(spend, budgets)


def _budget(row: Row) -> Bar:
    text = row["ends"].text if isinstance(row["ends"], State) else row["ends"]
    return Bar(
        row["title"],
        f"{percent(row['spent_share'])} · {text}",
        [(min(row["spent_share"], Decimal(1)), "accent")],
        mark=row["planned_share"],
    )


# The page of merchants, which answers: what did each of them fund.


_MERCHANTS_LISTED = 3
_MERCHANTS_ORDERS = {"redemptions": "most redeemed"}


def merchants_page(data: Mapping[str, Rows], scope: ReportScope) -> Page:
    """Return the page; `data` has the rows of `reports/work.py` in each order."""
    return Page(
        title=scope.titled("Merchants"),
        headline=merchant_headline(data["funded"], scope),
        as_of=scope.as_of,
        about=list(scope.said("Redemptions decided")),
        facts=list(_merchants_facts(data)),
        sections=list(merchant_sections(data, scope)),
        notes=["Money is without what was reversed since, which stands beside it."],
    )


def merchant_headline(rows: Rows, scope: ReportScope) -> str:
    """Return what merchants funded, and who the most."""
    of_each = firsts(rows)
    if not of_each:
        return f"No merchant funded anything{scope.ending}."
    merchants = sum(row["merchants"] for row in of_each)
    sums = {row["currency"]: row["funded_in_all"] for row in of_each}
    most = [
        f"{shortened(row['merchant_name'], 60)} with"
        f" {amount_text(row['merchant_funded_amount'], row['currency'])}"
        f" ({percent(row['merchant_funded_amount'] / row['funded_in_all'])})"
        for row in of_each[:_MERCHANTS_LISTED]
        if row["merchant_funded_amount"]
    ]
    sentence = f"{counted(merchants, 'merchant')} funded {amounts_text(sums)}{scope.ending}"
    return f"{sentence}; the most {listed(most)}." if most else f"{sentence}."


def _merchants_facts(data: Mapping[str, Rows]) -> Iterator[Fact]:
    of_each = firsts(data["funded"])
    earlier = {row["currency"]: row["funded_in_all"] for row in data.get("before", ())}
    for row in of_each[:_MERCHANTS_LISTED]:
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


def merchant_sections(data: Mapping[str, Rows], scope: ReportScope) -> Iterator[Section]:
    """Show the merchants of each currency, in each of the orders that were found."""
    for first in firsts(data["funded"]):
        currency = first["currency"]
        orders = {
            order: [row for row in rows if row["currency"] == currency]
            for order, rows in data.items()
            if order == "funded" or order in _MERCHANTS_ORDERS
        }
        drawn = [
            (
                row["merchant_name"],
                f"{row['merchant_funded_amount']:,} · {counted(row['redemptions'], 'redemption')}",
                row["merchant_funded_amount"],
            )
            for row in orders["funded"]
            if row["merchant_funded_amount"]
        ]
        yield Section(
            title=f"Merchants in {currency}",
            pictures=pictured(beside(f"Funded in {currency}, by merchant", drawn)),
            sheet=Sheet.of_rows("merchants", orders["funded"]),
            order="most funded",
            orders={name: orders[key] for key, name in _MERCHANTS_ORDERS.items() if key in orders},
            in_all=first["merchants"],
            more=scope.command("merchants", file="merchants.csv"),
        )


PAGES = {"offers": offers_page, "merchants": merchants_page}


if TYPE_CHECKING:
    Found = Mapping[str, Any]

MOST_OFFERS = 50
_BY_DAY = (
    *(Column("label", "day"), Column("purchase_day_redemptions", "redemptions", "integer")),
    Column("widget_views", "views", "integer"),
    Column("unique_cardholders", "cardholders who viewed", "integer"),
    Column("offer_impressions", "offers shown", "integer"),
    Column("offer_add_successes", "offers added", "integer"),
)
_FIRST = ("title", "merchant_name", "redemptions", "offer_add_successes", "offer_impressions")


def funnel_page(funnel: Found, scope: ReportScope) -> Page:
    """Return the page; `funnel` is the document of `reports/work.py`."""
    facts = []
    for row in volumes(funnel["data"], funnel["previous"]["data"]):
        words = compared(row["count"], row["previous"], fewer="fewer")
        before = f"{words} the {row['previous']:,} before" if words else "none before"
        facts.append(Fact.of(row["label"].lower(), row["count"], before))
    return Page(
        title=scope.titled("Funnel"),
        headline=funnel_headline(funnel, scope),
        as_of=scope.as_of,
        about=list(scope.said("What happened")),
        facts=facts,
        sections=[
            *people_sections(funnel),
            *([_by_day(funnel, scope)] if funnel["days"] else []),
            *(_by(by, funnel[f"{by}s"], scope) for by in ("offer", "merchant") if funnel[f"{by}s"]),
        ],
    )


def funnel_headline(funnel: Found, scope: ReportScope) -> str:
    """Return how many of those who saw offers added and redeemed, in a sentence."""
    people, others = funnel["people"], _others(funnel)
    if not people["saw"]:
        text = f"Nobody saw an offer{scope.ending}"
        return f"{text}; {counted(others, 'cardholder')} redeemed." if others else f"{text}."
    redeemed = share(people["redeemed"], people["saw"])
    text = (
        f"{counted(people['saw'], 'cardholder')} saw offers{scope.ending};"
        f" {people['added']:,} of them had added one, and {people['redeemed']:,} redeemed,"
        f" {percent(redeemed)} of those who saw"
    )
    before = funnel["previous"]["people"]
    earlier = share(before["redeemed"], before["saw"])
    return f"{text} ({percent(earlier)} in the time before)." if before["saw"] else f"{text}."


def _others(funnel: Found) -> int:
    return int(funnel["people"]["all_who_redeemed"] - funnel["people"]["redeemed"])


def people_sections(funnel: Found) -> Iterator[Section]:
    """Show the cardholders, each a part of the one before, and what happened beside them."""
    rows = list(people_compared(funnel["people"], funnel["previous"]["people"]))
    others = _others(funnel)
    lines = ["Each line counts cardholders who are among those of the line above it."]
    if others:
        who = f"{counted(others, 'more cardholder')} redeemed"
        lines.append(f"{who} who saw no offer in this time, or had added none.")
    if funnel["people"]["saw"]:
        yield Section(
            title="Cardholders",
            lines=lines,
            pictures=[_steps(rows)],
            sheet=Sheet.of_rows("people", rows, title="Cardholders, step by step"),
        )
    happened = [
        row
        for row in volumes(funnel["data"], funnel["previous"]["data"])
        if row["count"] or row["previous"]
    ]
    if happened:
        window = funnel["previous"]["window"]
        first, last = date_text(window["from"]), date_text(window["to"])
        before = f"Before means the time of the same length before this one: {first} to {last}."
        yield Section(
            title="What happened",
            lines=[
                "Each line counts another thing, so none is a part of another.",
                before if any(row["previous"] for row in happened) else "",
            ],
            sheet=Sheet.of_rows("volumes", happened),
        )


def _steps(rows: Rows) -> Any:
    shares = ["" if row["share"] is None else f" · {percent(row['share'])}" for row in rows]
    drawn = [
        (row["step"], f"{row['count']:,}{share}", row["count"])
        for row, share in zip(rows, shares, strict=True)
    ]
    subtitle = "Cardholders, and their share of the step before."
    return beside("From offers seen to offers redeemed", drawn, subtitle=subtitle)


def _by_day(funnel: Found, scope: ReportScope) -> Section:
    unit, rows = periods(funnel["days"])
    before = funnel["data"]["redemptions"] - sum(row["purchase_day_redemptions"] for row in rows)
    lines = ["Views and adds on their own day, redemptions on the day of their purchase."]
    if before:
        lines.append(f"{counted(before, 'redemption')} of purchases before this time are left out.")
    drawn = drawn_by_day(f"Redemptions by {unit} of purchase", rows, "purchase_day_redemptions")
    return Section(
        title=f"By {unit}",
        lines=lines,
        pictures=[drawn],
        sheet=Sheet("days", _BY_DAY, rows[::-1], quiet="label", unit=unit),
        more=scope.command("funnel", "--by day", file="days.csv", every=""),
    )


def _by(by: str, counted_by: Rows, scope: ReportScope) -> Section:
    def first(name: str) -> Rows:
        ordered = sorted(
            counted_by, key=lambda row: (-row[name], -row["redemptions"], str(row[f"{by}_id"]))
        )
        return ordered[:MOST_OFFERS]

    return Section(
        title=f"By {by}",
        lines=["How often offers were shown, added and redeemed, whoever did it."],
        sheet=Sheet.of_rows(f"{by}s", first("redemptions"), first=_FIRST),
        order="most redeemed",
        orders={
            "most added": first("offer_add_successes"),
            "most shown": first("offer_impressions"),
        },
        in_all=len(counted_by),
        more=scope.command("funnel", f"--by {by}", file=f"{by}s.csv", every=""),
    )
