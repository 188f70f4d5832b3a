"""The pages of redemptions: how many there were and for how much, by day, offer or merchant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.days import drawn_by_day, periods, summed
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import beside, pictured
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet, columns_of, on_days
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.sentences import amounts_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.sheets.asked import ReportScope
    from cardoffers_cli.kernel.sheets.sheets import Rows

_FIRST = {
    "day": ("newest day", "newest days"),
    "offer": ("most redeemed offer", "most redeemed offers"),
    "merchant": ("most redeemed merchant", "most redeemed merchants"),
}
_TWICE = (
    "The same redemptions twice: on the day of their purchase, and on the day they were decided."
)
_PICTURED = 3
"""Currencies whose money has a picture."""
_NEWEST = (
    *("offer.merchant_name", "currency", "institution_payout_amount", "status", "purchase_amount"),
    *("transacted_at", "created_at", "institution", "cardholder_token_masked", "transaction_ref"),
    "id",
)
_CREDITED = ("verdict", "credited_amount", "credited_at")
"""What is told where any redemption of the page has it."""
_BY_DAY = (
    *(Column("label", "day"), Column("currency")),
    Column("purchase_day_payout_amount", "payout, by purchase", "money"),
    Column("purchase_day_redemptions", "redemptions, by purchase", "integer"),
    Column("institution_payout_amount", "payout, by decision", "money"),
    Column("redemptions", "redemptions, by decision", "integer"),
    Column("reversed", "of these reversed since", "integer"),
)


def redemptions_page(found: Mapping[str, Any], asked: ReportScope) -> Page:
    """Return the page; `found` has the rows, and what they are counted by."""
    days, rows = found["days"], found["rows"]
    in_all = sum(row["redemptions"] for row in days)
    sections = [days_section(days, asked)] if days else []
    if merchants := found["merchants"]:
        sections.append(counts_section("merchant", merchants, title="Most redeemed merchants"))
    if rows:
        told = (each for each in _CREDITED if any(each in row for row in rows))
        columns = columns_of(type(rows[0]), " ".join([*_NEWEST, *told]), status="state")
        sheet = Sheet("redemptions", tuple(on_days(columns)), rows)
        more = asked.command("redemptions", file="redemptions.csv")
        sections.append(
            Section(title="Redemptions, newest first", sheet=sheet, in_all=in_all, more=more)
        )
    return _page("Redemptions", days, asked, sections)


def counts_page(by: str, rows: Rows, asked: ReportScope, *, is_all: bool, more: str) -> Page:
    """Return the page of redemptions by day, offer or merchant; of the first of them, or of all."""
    title = f"Redemptions by {by}"
    if not rows:
        return _page(title, rows, asked, [])
    part = (
        days_section(rows, asked)
        if by == "day"
        else counts_section(by, rows, title=title, more=more)
    )
    if is_all:
        return _page(title, rows, asked, [part])
    first = replace(part, lines=["There is more: --all shows every row.", *part.lines])
    shown = len({row["day"] for row in rows}) if by == "day" else len(rows)
    one, several = _FIRST[by]
    redeemed = counted(sum(row["redemptions"] for row in rows), "redemption")
    which = f"The {one} has" if shown == 1 else f"The {shown:,} {several} have"
    return Page(
        title=asked.titled(title),
        headline=f"{which} {redeemed}{asked.ending}.",
        as_of=asked.as_of,
        sections=[first],
    )


def _page(title: str, rows: Rows, asked: ReportScope, sections: Sequence[Section]) -> Page:
    return Page(
        title=asked.titled(title),
        headline=headline(rows, asked),
        as_of=asked.as_of,
        about=list(asked.said("Decided")),
        facts=list(_facts(rows)),
        sections=sections,
        notes=["What was reversed since counts in full, and is told beside it."],
    )


def headline(rows: Rows, asked: ReportScope) -> str:
    """Return how many redemptions there were and what they come to."""
    count = sum(row["redemptions"] for row in rows)
    if not count:
        return f"There were no redemptions{asked.ending}."
    sums = amounts_text(summed(rows, "institution_payout_amount"))
    come = "comes" if count == 1 else "come"
    return f"{counted(count, 'redemption')}{asked.ending} {come} to {sums}."


def _facts(rows: Rows) -> Iterator[Fact]:
    count = sum(row["redemptions"] for row in rows)
    if count:
        yield Fact.of("redemptions", count)
        yield Fact.of_money("payout", summed(rows, "institution_payout_amount"))
        yield Fact.of("reversed since", sum(row["reversed"] for row in rows))


def days_section(rows: Rows, asked: ReportScope) -> Section:
    """Show redemptions by the day of their purchase, and by the day they were decided."""
    unit, found = periods(rows)
    drawn = [drawn_by_day(f"Redemptions by {unit} of purchase", found, "purchase_day_redemptions")]
    drawn += (
        drawn_by_day(
            f"Payout in {currency} by {unit} of purchase",
            [row for row in found if row["currency"] == currency],
            "purchase_day_payout_amount",
        )
        for currency in sorted({row["currency"] for row in found})[:_PICTURED]
    )
    return Section(
        title=f"Redemptions by {unit}",
        lines=[_TWICE],
        pictures=drawn,
        sheet=Sheet("days", _BY_DAY, found[::-1], quiet="label", unit=unit),
        more=asked.command("redemptions", "--by day", file="days.csv"),
    )


def counts_section(
    by: str, rows: Rows, *, title: str, in_all: int | None = None, more: str | None = None
) -> Section:
    """Show redemptions by offer or merchant, the most redeemed first."""
    figures = [
        (
            str(row["merchant_name"])
            if by == "merchant"
            else str(row["title"] or f"{row['merchant_name']}: {row['offer_id']}"),
            f"{row['redemptions']:,} · {row['currency']} {row['institution_payout_amount']:,}",
            row["redemptions"],
        )
        for row in rows
    ]
    subtitle = "Redemptions, and their payout."
    drawn = beside(f"Redemptions by {by}", figures, subtitle=subtitle)
    sheet = Sheet.of_rows("counts", rows, title=f"By {by}")
    return Section(title=title, pictures=pictured(drawn), sheet=sheet, in_all=in_all, more=more)
