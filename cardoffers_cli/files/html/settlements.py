"""The page of settlements, which answers: what is owed to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.sentences import amounts_text, date_text, listed
from cardoffers_cli.files.html.days import summed
from cardoffers_cli.files.html.pages import Fact, Page, Section
from cardoffers_cli.files.html.pictures import beside, pictured
from cardoffers_cli.files.report_columns import DUE, OWED, SETTLEMENT_SUMS, TOTALS
from cardoffers_cli.files.sheets import Sheet, read_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from cardoffers_cli.files.html.asked import Asked
    from cardoffers_cli.files.sheets import Rows

_FEW = 3
_ENTRIES = read_columns("page.settlements.entries")


def settlements_page(found: Mapping[str, Any], asked: Asked) -> Page:
    """Return the page; `found` has the rows of `services/settlements.py`, and entries."""
    return Page(
        title=asked.titled("Settlements"),
        headline=headline(found["owed"], asked),
        as_of=asked.as_of,
        about=list(asked.said("Settled")),
        facts=list(facts(found["owed"])),
        sections=list(_sections(found, asked)),
        notes=[
            "A settlement says what is owed; whether it was paid is not known here.",
            "Its amounts are net of adjustments: of what was reversed after it was settled.",
            "Each redemption has one ledger entry, held as long as its institution has chosen.",
        ],
    )


def headline(owed: Rows, asked: Asked) -> str:
    """Return what is owed in a sentence."""
    settled, pending = summed(owed, "institution_payout_amount"), _pending(owed)
    count = sum(row["settlements"] for row in owed)
    later = f"{amounts_text(pending)} more {_be(pending)} on hold{_until(owed)}"
    if not count:
        return (
            f"{later}; nothing was settled{asked.ending}."
            if any(pending.values())
            else (f"Nothing is owed: nothing was settled{asked.ending}, and nothing is on hold.")
        )
    said = (
        f"{amounts_text(settled)} {_be(settled)} owed to {_whom(owed)}"
        f" by {counted(count, 'settlement')}{asked.ending}"
    )
    return f"{said}; {later}." if any(pending.values()) else f"{said}; nothing more is on hold."


def _whom(owed: Rows) -> str:
    names = sorted({row["institution"] for row in owed if row["settlements"]})
    return listed(names) if len(names) <= _FEW else counted(len(names), "institution")


def _be(amounts: Mapping[str, Decimal]) -> str:
    return "are" if sum(map(bool, amounts.values())) > 1 else "is"


def _until(owed: Rows) -> str:
    days = [row["last_settles_at"] for row in owed if row["last_settles_at"]]
    return f", the last of it until {date_text(max(days))}" if days else ""


def _pending(owed: Rows) -> dict[str, Decimal]:
    return summed(owed, "pending_payout_amount")


def facts(owed: Rows) -> Iterator[Fact]:
    """Yield what is owed, on hold and to be deducted."""
    settlements = sum(row["settlements"] for row in owed)
    yield Fact.of_money(
        "owed", summed(owed, "institution_payout_amount"), counted(settlements, "settlement")
    )
    following = [row["next_settles_at"] for row in owed if row["next_settles_at"]]
    yield Fact.of_money(
        "on hold",
        _pending(owed),
        f"the next due on {date_text(min(following))}" if following else "",
    )
    back = sum(row["open_adjustments"] for row in owed)
    yield Fact.of_money(
        "to be deducted",
        summed(owed, "open_adjustment_amount"),
        f"{counted(back, 'reversal')} of what was settled" if back else "",
    )


def _sections(found: Mapping[str, Any], asked: Asked) -> Iterator[Section]:
    owed, settlements, due = found["owed"], found["settlements"], found["due"]
    if owed:
        yield owed_section(owed)
    if settlements:
        sheet = Sheet("settlements", SETTLEMENT_SUMS, settlements)
        yield Section(
            title="Settlements",
            sheet=sheet,
            order="newest first",
            orders={"largest first": found["largest"]},
            in_all=settlements[0]["settlements"],
            more=asked.command(
                "settlements", "--by settlement", file="settlements.csv", by_status=False
            ),
        )
    if due:
        yield Section(
            title="On hold, by the day it is due",
            sheet=Sheet("due", DUE, due),
            in_all=due[0]["rows"],
        )
    yield from entries_sections(found, asked)


def owed_section(owed: Rows) -> Section:
    """Show what is owed to each institution."""
    pictures = [
        beside(
            f"Owed in {currency}, by institution",
            [
                (
                    row["institution"],
                    f"{row['institution_payout_amount']:,}",
                    row["institution_payout_amount"],
                )
                for row in owed
                if row["currency"] == currency
            ],
        )
        for currency in sorted({row["currency"] for row in owed})
    ]
    return Section(
        title="Owed, by institution", pictures=pictured(*pictures), sheet=Sheet("owed", OWED, owed)
    )


def entries_sections(found: Mapping[str, Any], asked: Asked) -> Iterator[Section]:
    """Show what ledger entries come to, and the newest of them."""
    totals, rows = found["totals"], found["rows"]
    if not totals:
        return
    in_all = sum(row["entries"] for row in totals)
    yield Section(title="Ledger entries, by state", sheet=Sheet("totals", TOTALS, totals))
    sheet = Sheet("entries", _ENTRIES, rows, title="Ledger entries")
    yield Section(
        title="Ledger entries, newest first",
        lines=["The entries of one settlement: report settlements --settlement and its id."],
        sheet=sheet,
        in_all=in_all,
        more=asked.command("settlements", file="entries.csv"),
    )
