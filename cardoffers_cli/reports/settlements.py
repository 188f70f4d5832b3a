"""The page of settlements, which answers: what is owed to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.days import summed
from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import beside, pictured
from cardoffers_cli.kernel.sheets.sheets import Sheet, columns_of, on_days
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.sentences import amounts_text, date_text, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from cardoffers_cli.kernel.sheets.asked import ReportScope
    from cardoffers_cli.kernel.sheets.sheets import Rows

_FEW = 3
_ENTRIES = (
    "merchant_name currency institution_payout_amount status settles_at purchase_amount"
    " transacted_at institution transaction_ref settlement_id redemption_id"
)


def settlements_page(found: Mapping[str, Any], asked: ReportScope) -> Page:
    """Return the page; `found` has the rows of `river/settlements.py`, and entries."""
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


def headline(owed: Rows, asked: ReportScope) -> str:
    """Return what is owed in a sentence."""
    settled = summed(owed, "institution_payout_amount")
    pending = summed(owed, "pending_payout_amount")
    count = sum(row["settlements"] for row in owed)
    days = [row["last_settles_at"] for row in owed if row["last_settles_at"]]
    until = f", the last of it until {date_text(max(days))}" if days else ""
    later = f"{amounts_text(pending)} more {_be(pending)} on hold{until}"
    if not count:
        return (
            f"{later}; nothing was settled{asked.ending}."
            if any(pending.values())
            else f"Nothing is owed: nothing was settled{asked.ending}, and nothing is on hold."
        )
    names = sorted({row["institution"] for row in owed if row["settlements"]})
    whom = listed(names) if len(names) <= _FEW else counted(len(names), "institution")
    said = (
        f"{amounts_text(settled)} {_be(settled)} owed to {whom}"
        f" by {counted(count, 'settlement')}{asked.ending}"
    )
    return f"{said}; {later}." if any(pending.values()) else f"{said}; nothing more is on hold."


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


def _sections(found: Mapping[str, Any], asked: ReportScope) -> Iterator[Section]:
    owed, settlements, due = found["owed"], found["settlements"], found["due"]
    if owed:
        yield owed_section(owed)
    if settlements:
        file, by = "settlements.csv", "--by settlement"
        yield Section(
            title="Settlements",
            sheet=Sheet.of_rows("settlements", settlements),
            order="newest first",
            orders={"largest first": found["largest"]},
            in_all=settlements[0]["settlements"],
            more=asked.command("settlements", by, file=file, by_status=False),
        )
    if due:
        sheet = Sheet.of_rows("due", due)
        yield Section(title="On hold, by the day it is due", sheet=sheet, in_all=due[0]["rows"])
    yield from entries_sections(found, asked)


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


def entries_sections(found: Mapping[str, Any], asked: ReportScope) -> Iterator[Section]:
    """Show what ledger entries come to, and the newest of them."""
    totals, rows = found["totals"], found["rows"]
    if not totals:
        return
    columns = columns_of(type(rows[0]), _ENTRIES, status="state") if rows else ()
    yield Section(title="Ledger entries, by state", sheet=Sheet.of_rows("totals", totals))
    yield Section(
        title="Ledger entries, newest first",
        lines=["The entries of one settlement: report settlements --settlement and its id."],
        sheet=Sheet("entries", tuple(on_days(columns)), rows, title="Ledger entries"),
        in_all=sum(row["entries"] for row in totals),
        more=asked.command("settlements", file="entries.csv"),
    )
