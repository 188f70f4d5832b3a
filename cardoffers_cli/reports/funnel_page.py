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


def funnel_page(found: Found, asked: ReportScope) -> Page:
    """Return the page; `found` is the document of `reports/funnel_work.py`."""
    return Page(
        title=asked.titled("Funnel"),
        headline=headline(found, asked),
        as_of=asked.as_of,
        about=list(asked.said("What happened")),
        facts=list(_facts(found)),
        sections=[
            *people_sections(found),
            *([_by_day(found, asked)] if found["days"] else []),
            *(_by(by, found[f"{by}s"], asked) for by in ("offer", "merchant") if found[f"{by}s"]),
        ],
    )


def headline(found: Found, asked: ReportScope) -> str:
    """Return how many of those who saw offers added and redeemed, in a sentence."""
    people, others = found["people"], _others(found)
    if not people["saw"]:
        said = f"Nobody saw an offer{asked.ending}"
        return f"{said}; {counted(others, 'cardholder')} redeemed." if others else f"{said}."
    redeemed = share(people["redeemed"], people["saw"])
    said = (
        f"{counted(people['saw'], 'cardholder')} saw offers{asked.ending};"
        f" {people['added']:,} of them had added one, and {people['redeemed']:,} redeemed,"
        f" {percent(redeemed)} of those who saw"
    )
    before = found["previous"]["people"]
    earlier = share(before["redeemed"], before["saw"])
    return f"{said} ({percent(earlier)} in the time before)." if before["saw"] else f"{said}."


def _others(found: Found) -> int:
    return int(found["people"]["all_who_redeemed"] - found["people"]["redeemed"])


def _facts(found: Found) -> Iterator[Fact]:
    for row in volumes(found["data"], found["previous"]["data"]):
        words = compared(row["count"], row["previous"], fewer="fewer")
        yield Fact.of(
            row["label"].lower(),
            row["count"],
            f"{words} the {row['previous']:,} before" if words else "none before",
        )


def people_sections(found: Found) -> Iterator[Section]:
    """Show the cardholders, each a part of the one before, and what happened beside them."""
    rows = list(people_compared(found["people"], found["previous"]["people"]))
    others = _others(found)
    lines = ["Each line counts cardholders who are among those of the line above it."]
    if others:
        who = f"{counted(others, 'more cardholder')} redeemed"
        lines.append(f"{who} who saw no offer in this time, or had added none.")
    if found["people"]["saw"]:
        yield Section(
            title="Cardholders",
            lines=lines,
            pictures=[_steps(rows)],
            sheet=Sheet.of_rows("people", rows, title="Cardholders, step by step"),
        )
    happened = [
        row
        for row in volumes(found["data"], found["previous"]["data"])
        if row["count"] or row["previous"]
    ]
    if happened:
        window = found["previous"]["window"]
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
    said = "Cardholders, and their share of the step before."
    return beside("From offers seen to offers redeemed", drawn, subtitle=said)


def _by_day(found: Found, asked: ReportScope) -> Section:
    unit, rows = periods(found["days"])
    before = found["data"]["redemptions"] - sum(row["purchase_day_redemptions"] for row in rows)
    lines = ["Views and adds on their own day, redemptions on the day of their purchase."]
    if before:
        lines.append(f"{counted(before, 'redemption')} of purchases before this time are left out.")
    drawn = drawn_by_day(f"Redemptions by {unit} of purchase", rows, "purchase_day_redemptions")
    return Section(
        title=f"By {unit}",
        lines=lines,
        pictures=[drawn],
        sheet=Sheet("days", _BY_DAY, rows[::-1], quiet="label", unit=unit),
        more=asked.command("funnel", "--by day", file="days.csv", every=""),
    )


def _by(by: str, counted_by: Rows, asked: ReportScope) -> Section:
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
        more=asked.command("funnel", f"--by {by}", file=f"{by}s.csv", every=""),
    )
