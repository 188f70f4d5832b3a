"""The page of a funnel, which answers: do people take the offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.days import drawn_by_day, periods
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import beside
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.words.sentences import compared, counted, date_text, percent
from cardoffers_cli.reports.funnel import people_compared, share, volumes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.sheets.pages import ReportScope

    Found = Mapping[str, Any]
    from cardoffers_cli.kernel.sheets.sheets import Rows

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
    """Return the page; `funnel` is the document of `reports/funnel_work.py`."""
    return Page(
        title=scope.titled("Funnel"),
        headline=headline(funnel, scope),
        as_of=scope.as_of,
        about=list(scope.said("What happened")),
        facts=list(_facts(funnel)),
        sections=[
            *people_sections(funnel),
            *([_by_day(funnel, scope)] if funnel["days"] else []),
            *(_by(by, funnel[f"{by}s"], scope) for by in ("offer", "merchant") if funnel[f"{by}s"]),
        ],
    )


def headline(funnel: Found, scope: ReportScope) -> str:
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


def _facts(funnel: Found) -> Iterator[Fact]:
    for row in volumes(funnel["data"], funnel["previous"]["data"]):
        words = compared(row["count"], row["previous"], fewer="fewer")
        yield Fact.of(
            row["label"].lower(),
            row["count"],
            f"{words} the {row['previous']:,} before" if words else "none before",
        )


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
