"""Parts of a page, each a function from rows to a section: its sentences, pictures and table.

The rows are those of `services/`; the columns of a table are those of the same report elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.funnel import LABELS, share_text
from cardoffers_cli.domain.money import money_text
from cardoffers_cli.domain.visible import shortened
from cardoffers_cli.files.html.charts import Bar, Day, bars, by_day
from cardoffers_cli.files.html.pages import Picture, Section
from cardoffers_cli.files.report_columns import (
    BUDGETS,
    COUNTED_BY,
    COUNTS,
    FUNNEL,
    REJECTS,
    TOTALS,
    UNRESOLVED,
    WEBHOOKS,
)
from cardoffers_cli.files.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.files.sheets import Column

    Row = Mapping[str, Any]
    Rows = Sequence[Row]
    Parts = list[tuple[Decimal, str]]

MOST_BARS = 10
MOST_DAYS = 92
"""Days of one picture, about a quarter of a year."""

_BURN = (
    "The budgets of running offers, those first that will be spent before the offer ends. A budget"
    " runs out on the first day whose cumulated spend exceeds it, at the rate of the last 28 days;"
    " it is spent when what is left does not cover one more redemption."
)
_ACCENT = "accent"
_STATES = {
    "delivered": _ACCENT,
    "due": "soft",
    "failed": "warn",
    "stopped": "quiet",
    "exhausted": "alarm",
}
_STATUSES = {"settled": _ACCENT, "pending": "soft", "reversed": "quiet"}


def plain_section(sheet: Sheet, *, title: str, lines: Sequence[str] = ()) -> Section:
    """Show a table that says enough without a picture."""
    return Section(title=title, lines=lines, sheet=replace(sheet, title=title))


def funnel_section(
    rows: Rows,
    *,
    title: str = "Funnel",
    lines: Sequence[str] = (),
    columns: Sequence[Column] = FUNNEL,
) -> Section:
    """Show a funnel; rows as `domain/funnel.py` yields them."""
    drawn = _ranked(rows, "count", lambda row: LABELS[row["step"]], _step_text)
    return Section(
        title=title,
        lines=lines,
        pictures=_pictures("From offers seen to offers redeemed", drawn),
        sheet=Sheet("funnel", tuple(columns), rows, title="Steps"),
    )


def _step_text(row: Row) -> str:
    share = share_text(row["conversion"])
    return f"{row['count']} ({share} of the step before)" if share else f"{row['count']}"


def days_section(
    rows: Rows,
    *,
    title: str = "Redemptions and payout by day",
    lines: Sequence[str] = (),
    more: str | None = None,
) -> Section:
    """Show redemptions by day: one picture of how many, and one of the payout in each currency.

    Rows as `services/reports.py` counts them, a row for each day and currency, the newest first.
    `more` is the command that has the days for which there is no room.
    """
    days = sorted({row["day"] for row in rows})
    first = days[-MOST_DAYS] if len(days) > MOST_DAYS else None
    shown = [row for row in rows if first is None or row["day"] >= first]
    which = f"The last {MOST_DAYS} of {len(days)} days, in UTC." if first else "Days are UTC."
    return Section(
        title=title,
        lines=[f"{which} What was reversed since counts in full, and is told beside it.", *lines],
        pictures=list(_day_pictures(shown)),
        sheet=Sheet("days", (*COUNTED_BY["day"], *COUNTS), shown, title="Redemptions by day"),
        in_all=len(rows),
        more=more,
    )


def _day_pictures(rows: Rows) -> Iterator[Picture]:
    ordered = sorted(rows, key=itemgetter("day", "currency"))
    counts = [
        _day(day, sum(row["redemptions"] for row in of_day))
        for day, of_day in groupby(ordered, key=itemgetter("day"))
    ]
    yield from _columns("Redemptions a day", counts)
    for currency in sorted({row["currency"] for row in rows}):
        payouts = [
            _day(row["day"], row["institution_payout_amount"])
            for row in ordered
            if row["currency"] == currency
        ]
        yield from _columns(f"Payout a day, {currency}", payouts)


def _day(day: Any, value: Any) -> Day:
    return Day(day, Decimal(value), f"{value}")


def _columns(title: str, days: Sequence[Day]) -> Iterator[Picture]:
    if days:
        highest = max(days, key=lambda each: (each.value, each.day))
        says = (
            f"{len(days)} days from {days[0].day} to {days[-1].day}."
            f" The most, {highest.text}, on {highest.day}."
        )
        yield Picture(title=title, says=says, spec=partial(by_day, days))


def counts_section(by: str, rows: Rows, *, title: str, lines: Sequence[str] = ()) -> Section:
    """Show redemptions by offer or merchant, the most redeemed first."""
    drawn = _ranked(rows, "redemptions", partial(_counted_name, by), _count_text)
    return Section(
        title=title,
        lines=lines,
        pictures=_pictures(f"Most redeemed, by {by}", drawn),
        sheet=Sheet("counts", (*COUNTED_BY[by], *COUNTS), rows, title=f"Redemptions by {by}"),
    )


def _counted_name(by: str, row: Row) -> str:
    if by == "merchant":
        return str(row["merchant_name"])
    return f"{row['merchant_name']}: {row['title'] or row['offer_id']}"


def _count_text(row: Row) -> str:
    payout = money_text(row["institution_payout_amount"], row["currency"])
    return f"{row['redemptions']} · {payout}"


def budgets_section(rows: Rows) -> Section:
    """Show how far budgets are spent and when each will be; rows as `services/budgets.py` has."""
    budgets = [row for row in rows if row["spent_share"] is not None][:MOST_BARS]
    drawn = [Bar(_offer_name(row), _budget_text(row), _budget_part(row)) for row in budgets]
    return Section(
        title="Budgets",
        lines=[_BURN],
        pictures=_pictures("Spent of each budget", drawn),
        sheet=Sheet("budgets", BUDGETS, rows, title="Budgets"),
        in_all=rows[0]["offers"] if rows else 0,
    )


def _offer_name(row: Row) -> str:
    return f"{row['merchant_name']}: {row['title'] or row['offer_id']}"


def _budget_text(row: Row) -> str:
    return f"{share_text(row['spent_share'])} · {row['outlook']}"


def _budget_part(row: Row) -> Parts:
    colour = "strong" if row["outlook"].startswith("spent") else _ACCENT
    return [(min(row["spent_share"], Decimal(1)), colour)]


def totals_section(rows: Rows, *, lines: Sequence[str] = ()) -> Section:
    """Show what ledger entries come to; rows as `services/reports.py` adds them up."""
    drawn = []
    for (slug, currency), group in groupby(rows, key=itemgetter("institution", "currency")):
        amounts = {row["status"]: row["institution_payout_amount"] for row in group}
        in_all = sum(amounts.values(), Decimal(0))
        text = money_text(in_all, currency)
        drawn.append(Bar(slug, text, _shares(amounts, in_all, _STATUSES)))
    return Section(
        title="Settlement totals",
        lines=[*lines, "Every ledger entry counts once, by the state that it is in."],
        pictures=_pictures("Payout, by state", drawn, keys=_STATUSES),
        sheet=Sheet("totals", TOTALS, rows, title="Ledger entries by state"),
    )


def webhooks_section(rows: Rows, *, lines: Sequence[str] = ()) -> Section:
    """Show how the events of each institution fare; rows as `services/webhooks.py` counts them."""
    drawn = [
        Bar(
            row["institution"],
            f"{row['delivered']} of {row['events']} delivered",
            _shares(row, row["events"], _STATES),
        )
        for row in rows
    ]
    return Section(
        title="Webhooks",
        lines=lines,
        pictures=_pictures("Events, by state", drawn, keys=_STATES),
        sheet=Sheet("webhooks", WEBHOOKS, rows, title="Events, and what the delivered ones took"),
    )


def rejects_section(rows: Rows, *, lines: Sequence[str] = ()) -> Section:
    """Show why rows of files were not accepted; rows as `services/imports.py` counts them."""
    ordered = sorted(rows, key=lambda row: (-row["errors"], row["code"], row["institution"]))
    drawn = _ranked(
        ordered, "errors", lambda row: f"{row['code']}, {row['institution']}", _error_text
    )
    return Section(
        title="Rejected rows",
        lines=lines,
        pictures=_pictures("Errors, by code", drawn),
        sheet=Sheet("rejects", REJECTS, ordered, title="Errors by institution and code"),
    )


def _error_text(row: Row) -> str:
    return str(row["errors"])


def unresolved_section(rows: Rows, **more: Any) -> Section:
    """Show the merchant identifiers that nobody knows, those with most purchases first."""
    drawn = _ranked(rows, "purchases", _identifier_name, _purchases_text)
    return Section(
        title="Unknown merchants",
        lines=["Their purchases wait: add the identifiers to the catalogue and match again."],
        pictures=_pictures("Purchases, by identifier", drawn),
        sheet=Sheet("unresolved", UNRESOLVED, rows, title="Identifiers, most purchases first"),
        **more,
    )


def _identifier_name(row: Row) -> str:
    name = row["merchant_identifier"] or row["merchant_id"] or "no merchant named"
    return f"{name}, {row['institution']}"


def _purchases_text(row: Row) -> str:
    return f"{row['purchases']} · {money_text(row['amount'], row['currency'])}"


def _ranked(rows: Rows, count: str, name: Any, text: Any) -> list[Bar]:
    """Make bars of the first rows, as long as their counts are beside the highest."""
    first = rows[:MOST_BARS]
    most = max((row[count] for row in first), default=0)
    return [Bar(name(row), text(row), [(_part(row[count], most), _ACCENT)]) for row in first]


def _shares(amounts: Mapping[str, Any], whole: Any, colours: Mapping[str, str]) -> Parts:
    return [(_part(amounts.get(name, 0), whole), colour) for name, colour in colours.items()]


def _part(amount: Any, whole: Any) -> Decimal:
    """Return how long a bar is; a length is for the eye, no figure that is shown."""
    return Decimal(amount) / Decimal(whole) if whole else Decimal(0)


def _pictures(
    title: str, drawn: Sequence[Bar], *, keys: Mapping[str, str] | None = None
) -> list[Picture]:
    """Return the picture of some bars, with the keys of the colours in it; none without bars."""
    if not drawn:
        return []
    says = "; ".join(f"{shortened(bar.name)}: {bar.text}" for bar in drawn)
    seen = {colour for bar in drawn for share, colour in bar.parts if share}
    shown = {name: colour for name, colour in (keys or {}).items() if colour in seen}
    return [Picture(title=title, says=f"{says}.", spec=partial(bars, drawn), keys=shown)]
