"""The page of an institution, beside that of a night, which answers: how does it stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.asked import ReportScope
from cardoffers_cli.kernel.sheets.pages import Page, Section
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.sheets.tables import Link
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.sentences import amounts_text
from cardoffers_cli.merchants.page import unknown_sections
from cardoffers_cli.reports.funnel_page import people_sections
from cardoffers_cli.reports.history import night_text
from cardoffers_cli.reports.merchants import merchant_sections
from cardoffers_cli.reports.page import offer_sections
from cardoffers_cli.reports.settlements import facts, headline, owed_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_ROWS = 10


def institution_page(
    night: str, found: Mapping[str, Any], lately: ReportScope, reports: Sequence[str]
) -> Page:
    """Return the page; `found` has the rows of each section, `lately` is what they are of."""
    always = ReportScope(as_of=lately.as_of, institution=lately.institution)
    return Page(
        title=f"{lately.institution}, nightly run of {night_text(night)}",
        headline=f"{_tonight(found['tonight'])} {headline(found['owed'], always)}",
        as_of=lately.as_of,
        about=[f"What cardholders, offers and merchants did, {lately.time}."],
        facts=list(facts(found["owed"])),
        sections=[
            *_money(found, always),
            *people_sections(found["funnel"]),
            *offer_sections(found["offers"], lately),
            *merchant_sections(found["merchants"], lately),
            *unknown_sections(found["unknown"], lately),
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


def _money(found: Mapping[str, Any], asked: ReportScope) -> Iterator[Section]:
    settlements = found["settlements"]
    if len(found["owed"]) > 1:
        yield owed_section(found["owed"])
    if settlements:
        sheet = Sheet.of_rows("settlements", settlements, first=("settled_at",))
        columns = tuple(each for each in sheet.columns if each.name != "institution")
        yield Section(
            title="Settlements, newest first",
            sheet=replace(sheet, columns=columns),
            in_all=settlements[0]["settlements"],
            more=asked.command("settlements", "--by settlement", file="settlements.csv"),
        )
