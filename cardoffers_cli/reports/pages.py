"""The pages of redemptions: how many there were and for how much, by day, offer or merchant."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Fact, Page, ReportScope, Section
from cardoffers_cli.kernel.sheets.pictures import (
    Point,
    beside,
    columns,
    drawn_by_day,
    periods,
    pictured,
    summed,
)
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet, columns_of, on_days
from cardoffers_cli.kernel.sheets.tables import Link, State
from cardoffers_cli.kernel.words.sentences import (
    amount_text,
    amounts_text,
    counted,
    date_text,
    is_unusual,
    listed,
    mean,
    short_day_text,
)
from cardoffers_cli.merchants.page import unknown_sections
from cardoffers_cli.reports.page import merchant_sections, offer_sections, people_sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.sheets.sheets import Row, Rows


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
    *("offer.merchant_name", "currency", "institution_payout_amount", "story", "purchase_amount"),
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


def redemptions_page(data: Mapping[str, Any], scope: ReportScope) -> Page:
    """Return the page; `data` has the rows, and what they are counted by."""
    days, rows = data["days"], data["rows"]
    in_all = sum(row["redemptions"] for row in days)
    sections = [days_section(days, scope)] if days else []
    if merchants := data["merchants"]:
        sections.append(counts_section("merchant", merchants, title="Most redeemed merchants"))
    if rows:
        credited = (column for column in _CREDITED if any(column in row for row in rows))
        columns = columns_of(type(rows[0]), " ".join([*_NEWEST, *credited]), story="state")
        told = [replace(row, story=row["story"].replace("_", " ")) for row in rows]
        sheet = Sheet("redemptions", tuple(on_days(columns)), told)
        more = scope.command("redemptions", file="redemptions.csv")
        sections.append(
            Section(title="Redemptions, newest first", sheet=sheet, in_all=in_all, more=more)
        )
    return _page("Redemptions", days, scope, sections)


def counts_page(by: str, rows: Rows, scope: ReportScope, *, is_all: bool, more: str) -> Page:
    """Return the page of redemptions by day, offer or merchant; of the first of them, or of all."""
    title = f"Redemptions by {by}"
    if not rows:
        return _page(title, rows, scope, [])
    part = (
        days_section(rows, scope)
        if by == "day"
        else counts_section(by, rows, title=title, more=more)
    )
    if is_all:
        return _page(title, rows, scope, [part])
    first = replace(part, lines=["There is more: --all shows every row.", *part.lines])
    count = len({row["day"] for row in rows}) if by == "day" else len(rows)
    one, plural = _FIRST[by]
    redeemed = counted(sum(row["redemptions"] for row in rows), "redemption")
    which = f"The {one} has" if count == 1 else f"The {count:,} {plural} have"
    return Page(
        title=scope.titled(title),
        headline=f"{which} {redeemed}{scope.ending}.",
        as_of=scope.as_of,
        sections=[first],
    )


def _page(title: str, rows: Rows, scope: ReportScope, sections: Sequence[Section]) -> Page:
    return Page(
        title=scope.titled(title),
        headline=headline(rows, scope),
        as_of=scope.as_of,
        about=list(scope.said("Decided")),
        facts=list(_facts(rows)),
        sections=sections,
        notes=["What was reversed since counts in full, and is told beside it."],
    )


def headline(rows: Rows, scope: ReportScope) -> str:
    """Return how many redemptions there were and what they come to."""
    count = sum(row["redemptions"] for row in rows)
    if not count:
        return f"There were no redemptions{scope.ending}."
    sums = amounts_text(summed(rows, "institution_payout_amount"))
    come = "comes" if count == 1 else "come"
    return f"{counted(count, 'redemption')}{scope.ending} {come} to {sums}."


def _facts(rows: Rows) -> Iterator[Fact]:
    count = sum(row["redemptions"] for row in rows)
    if count:
        yield Fact.of("redemptions", count)
        yield Fact.of_money("payout", summed(rows, "institution_payout_amount"))
        yield Fact.of("reversed since", sum(row["reversed"] for row in rows))


def days_section(rows: Rows, scope: ReportScope) -> Section:
    """Show redemptions by the day of their purchase, and by the day they were decided."""
    unit, spans = periods(rows)
    drawn = [drawn_by_day(f"Redemptions by {unit} of purchase", spans, "purchase_day_redemptions")]
    drawn += (
        drawn_by_day(
            f"Payout in {currency} by {unit} of purchase",
            [row for row in spans if row["currency"] == currency],
            "purchase_day_payout_amount",
        )
        for currency in sorted({row["currency"] for row in spans})[:_PICTURED]
    )
    return Section(
        title=f"Redemptions by {unit}",
        lines=[_TWICE],
        pictures=drawn,
        sheet=Sheet("days", _BY_DAY, spans[::-1], quiet="label", unit=unit),
        more=scope.command("redemptions", "--by day", file="days.csv"),
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


# The page of settlements, which answers: what is owed to whom.


_FEW = 3
_ENTRIES = (
    "merchant_name currency institution_payout_amount status settles_at purchase_amount"
    " transacted_at institution transaction_ref settlement_id redemption_id"
)


def settlements_page(data: Mapping[str, Any], scope: ReportScope) -> Page:
    """Return the page; `data` has the rows of `river/settlements.py`, and entries."""
    return Page(
        title=scope.titled("Settlements"),
        headline=settlement_headline(data["owed"], scope),
        as_of=scope.as_of,
        about=list(scope.said("Settled")),
        facts=list(facts(data["owed"])),
        sections=list(_sections(data, scope)),
        notes=[
            "A settlement says what is owed; whether it was paid is not known here.",
            "Its amounts are net of adjustments: of what was reversed after it was settled.",
            "Each redemption has one ledger entry, held as long as its institution has chosen.",
        ],
    )


def settlement_headline(owed: Rows, scope: ReportScope) -> str:
    """Return what is owed in a sentence."""
    settled = summed(owed, "institution_payout_amount")
    pending = summed(owed, "pending_payout_amount")
    count = sum(row["settlements"] for row in owed)
    days = [row["last_settles_at"] for row in owed if row["last_settles_at"]]
    until = f", the last of it until {date_text(max(days))}" if days else ""
    extra = f"{amounts_text(pending)} more {_be(pending)} on hold{until}"
    if not count:
        return (
            f"{extra}; nothing was settled{scope.ending}."
            if any(pending.values())
            else f"Nothing is owed: nothing was settled{scope.ending}, and nothing is on hold."
        )
    names = sorted({row["institution"] for row in owed if row["settlements"]})
    whom = listed(names) if len(names) <= _FEW else counted(len(names), "institution")
    text = (
        f"{amounts_text(settled)} {_be(settled)} owed to {whom}"
        f" by {counted(count, 'settlement')}{scope.ending}"
    )
    return f"{text}; {extra}." if any(pending.values()) else f"{text}; nothing more is on hold."


def _be(amounts: Mapping[str, Decimal]) -> str:
    return "are" if sum(map(bool, amounts.values())) > 1 else "is"


def facts(owed: Rows) -> Iterator[Fact]:
    """Yield what is owed, on hold and to be deducted."""
    settlements = sum(row["settlements"] for row in owed)
    by = counted(settlements, "settlement")
    yield Fact.of_money("owed", summed(owed, "institution_payout_amount"), by)
    following = [row["next_settles_at"] for row in owed if row["next_settles_at"]]
    due = f"the next due on {date_text(min(following))}" if following else ""
    yield Fact.of_money("on hold", summed(owed, "pending_payout_amount"), due)
    back = sum(row["open_adjustments"] for row in owed)
    of = f"{counted(back, 'reversal')} of what was settled" if back else ""
    yield Fact.of_money("to be deducted", summed(owed, "open_adjustment_amount"), of)


def _sections(data: Mapping[str, Any], scope: ReportScope) -> Iterator[Section]:
    owed, settlements, due = data["owed"], data["settlements"], data["due"]
    if owed:
        yield owed_section(owed)
    if settlements:
        file, by = "settlements.csv", "--by settlement"
        yield Section(
            title="Settlements",
            sheet=Sheet.of_rows("settlements", settlements),
            order="newest first",
            orders={"largest first": data["largest"]},
            in_all=settlements[0]["settlements"],
            more=scope.command("settlements", by, file=file, by_status=False),
        )
    if due:
        sheet = Sheet.of_rows("due", due)
        yield Section(title="On hold, by the day it is due", sheet=sheet, in_all=due[0]["rows"])
    totals, rows = data["totals"], data["rows"]
    if not totals:
        return
    columns = columns_of(type(rows[0]), _ENTRIES, status="state") if rows else ()
    yield Section(title="Ledger entries, by state", sheet=Sheet.of_rows("totals", totals))
    yield Section(
        title="Ledger entries, newest first",
        lines=["The entries of one settlement: report settlements --settlement and its id."],
        sheet=Sheet("entries", tuple(on_days(columns)), rows, title="Ledger entries"),
        in_all=sum(row["entries"] for row in totals),
        more=scope.command("settlements", file="entries.csv"),
    )


def owed_section(owed: Rows) -> Section:
    """Show what is owed to each institution."""
    pictures = []
    for currency in sorted({row["currency"] for row in owed}):
        amounts = [
            (row["institution"], row["institution_payout_amount"])
            for row in owed
            if row["currency"] == currency
        ]
        figures = [(name, f"{amount:,}", amount) for name, amount in amounts]
        pictures.append(beside(f"Owed in {currency}, by institution", figures))
    sheet = Sheet.of_rows("owed", owed)
    return Section(title="Owed, by institution", pictures=pictured(*pictures), sheet=sheet)


# Nights beside each other: what each redeemed, against those before it.


NIGHTS = 14
"""Nights that one is compared with on its page."""
MEAN_OF = 7
"""Nights whose mean is what is usual."""
_UNUSUAL = (
    "A count is unusual if it is less than half or more than twice the mean of the seven before"
    " it, and chance alone would not explain it."
)
_NIGHTS = (
    *(Column("night"), Column("payouts", "payout"), Column("redeemed", "redemptions", "integer")),
    *(Column("accepted", "purchases taken", "integer"), Column("mark", "unusual")),
)


def night_text(name: str) -> str:
    """Return the name of a night in words: `1 October 2026`, `1 October 2026, no. 2`."""
    day, number = date.fromisoformat(name[:10]), name[11:]
    return f"{date_text(day)}, no. {number}" if number else date_text(day)


def needing(findings: Rows) -> int:
    """Return how many findings ask for somebody."""
    return sum(finding["level"] != "note" for finding in findings)


def redeemed_of(night: Row) -> int:
    """Return how many redemptions a night made, of all currencies."""
    return sum(money["redeemed"] for money in night["money"].values())


def payouts_of(night: Row) -> dict[str, Decimal]:
    """Return the payout of a night's redemptions, by currency."""
    return {name: money["institution_payout_amount"] for name, money in night["money"].items()}


def before(history: Rows) -> list[int]:
    """Return the redemptions of the nights before the newest, as many as make the mean."""
    return [redeemed_of(row) for row in history[1 : MEAN_OF + 1]]


def payouts_text(amounts: Mapping[str, Decimal], most: int = 3) -> str:
    """Return amounts for a cell, of three currencies at most."""
    there = [amount_text(amounts[name], name) for name in sorted(amounts) if amounts[name]]
    more = f" and {counted(len(there) - most, 'more currency', 'more currencies')}"
    return f"{', '.join(there[:most])}{more if len(there) > most else ''}"


def against(history: Rows) -> Iterator[Section]:
    """Show the redemptions of the newest night beside those of the nights before it."""
    recent = history[: NIGHTS + 1]
    rows = [_of_night(history, place) for place in range(len(recent))]
    if len(rows) == 1 or not any(row["redeemed"] or row["accepted"] for row in rows):
        return
    usual = mean(before(history))
    points = [
        Point(
            name=row["night"],
            label=short_day_text(row["as_of"]),
            value=Decimal(row["redeemed"]),
            text=f"{row['redeemed']:,}",
            is_marked=place == len(rows) - 1,
        )
        for place, row in enumerate(reversed(rows))
    ]
    drawn = columns(
        "Redemptions by nightly run",
        points,
        subtitle="Decided in each, this one last; the line is the mean of the seven before.",
        usual=usual,
    )
    title = f"Against the {counted(len(rows) - 1, 'night')} before"
    active = [row for row in rows if row["redeemed"] or row["accepted"] or row is rows[0]]
    quiet = len(rows) - len(active)
    yield Section(
        title=title,
        lines=[_UNUSUAL, f"No activity in {counted(quiet, 'night')}." if quiet else ""],
        pictures=[drawn],
        sheet=Sheet("nights", _NIGHTS, active, title="Nightly runs, newest first"),
    )


def _of_night(history: Rows, place: int) -> Mapping[str, Any]:
    row = history[place]
    redeemed = redeemed_of(row)
    earlier = before(history[place:])
    word = "many" if redeemed > (mean(earlier) or 0) else "few"
    return {
        "as_of": row["as_of"],
        "night": night_text(row["name"]),
        "payouts": payouts_text(payouts_of(row)),
        "redeemed": redeemed,
        "accepted": row["accepted"],
        "mark": State(word, "warn") if is_unusual(redeemed, earlier) else None,
    }


# The page of an institution, beside that of a night, which answers: how does it stand.


MOST_ROWS = 10


def institution_page(
    night: str, data: Mapping[str, Any], lately: ReportScope, reports: Sequence[str]
) -> Page:
    """Return the page; `data` has the rows of each section, `lately` is what they are of."""
    always = ReportScope(as_of=lately.as_of, institution=lately.institution)
    return Page(
        title=f"{lately.institution}, nightly run of {night_text(night)}",
        headline=f"{_tonight(data['tonight'])} {settlement_headline(data['owed'], always)}",
        as_of=lately.as_of,
        about=[f"What cardholders, offers and merchants did, {lately.time}."],
        facts=list(facts(data["owed"])),
        sections=[
            *_money(data, always),
            *people_sections(data["funnel"]),
            *offer_sections(data["offers"], lately),
            *merchant_sections(data["merchants"], lately),
            *unknown_sections(data["unknown"], lately),
            Section(title="Its files", links=[Link(name, name) for name in reports]),
        ],
        notes=["What is owed is what was settled; whether it was paid is not known here."],
        links=[Link("The nightly run", "index.html"), Link("All nightly runs", "../index.html")],
    )


def _tonight(rows: Sequence[Mapping[str, Any]]) -> str:
    redeemed = sum(row["redeemed"] for row in rows)
    if not redeemed:
        return "Nothing redeemed in this nightly run."
    sums = amounts_text({row["currency"]: row["institution_payout_amount"] for row in rows})
    come = "comes" if redeemed == 1 else "come"
    return f"{counted(redeemed, 'redemption')} of this nightly run {come} to {sums}."


def _money(data: Mapping[str, Any], scope: ReportScope) -> Iterator[Section]:
    settlements = data["settlements"]
    if len(data["owed"]) > 1:
        yield owed_section(data["owed"])
    if settlements:
        sheet = Sheet.of_rows("settlements", settlements, first=("settled_at",))
        columns = tuple(column for column in sheet.columns if column.name != "institution")
        yield Section(
            title="Settlements, newest first",
            sheet=replace(sheet, columns=columns),
            in_all=settlements[0]["settlements"],
            more=scope.command("settlements", "--by settlement", file="settlements.csv"),
        )
