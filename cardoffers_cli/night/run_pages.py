"""The page of all nights, which answers: how have they been; and what waits when one has ended."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import line
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import Link, PrintedCommand, State
from cardoffers_cli.kernel.words.sentences import counted, day_text, listed, mean
from cardoffers_cli.reports.page import MOST_ROWS, ending_soon, when_it_ends
from cardoffers_cli.reports.pages import needing, night_text, payouts_of, payouts_text, redeemed_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

    from cardoffers_cli.kernel.sheets.sheets import Row, Rows


MOST_NIGHTS = 400
"""Nights on the page: over a year."""
_DRAWN = 60
_LATELY = 30
_NAMED = 5
_COLUMNS = (
    *(Column("night"), Column("state"), Column("payouts", "payout")),
    *(Column("redeemed", "redemptions", "integer"), Column("settled_payouts", "settled")),
    *(Column("files", kind="integer"), Column("failed_files", "failed", "integer")),
    *(Column("received", "rows", "integer"), Column("invalid", "rejected", "integer")),
    Column("seconds", kind="number"),
)


def runs_page(history: Rows, as_of: datetime, *, in_all: int, pages: Collection[str]) -> Page:
    """Return the page of nights, the newest first; `pages` names those that can be led to."""
    rows = [_row(night, pages) for night in history]
    return Page(
        title="Nights",
        headline=_headline(history),
        as_of=as_of,
        facts=list(_facts(history)),
        sections=[
            Section(
                title="Nightly runs, newest first",
                pictures=list(_lines(rows)),
                sheet=Sheet("nights", _COLUMNS, rows, title="One row a nightly run"),
                in_all=in_all,
                more="cardoffers run list --limit 1000 -o nights.csv",
            )
        ]
        if rows
        else [],
    )


def _headline(history: Rows) -> str:
    lately = history[:_LATELY]
    if not lately:
        return "There was no nightly run yet."
    bad = [night for night in lately if needing(night["findings"]) or not night["has_ended"]]
    well = len(lately) - len(bad)
    summary = f"{well:,} of the last {counted(len(lately), 'night')} went well"
    named = [day_text(night["as_of"]) for night in bad[:_NAMED]]
    more = f"{len(bad) - _NAMED:,} more" if len(bad) > _NAMED else ""
    which = listed([*named, more] if more else named)
    need = "needs" if len(bad) == 1 else "need"
    return f"{summary}; {len(bad):,} {need} attention: {which}." if bad else f"{summary}."


def _facts(history: Rows) -> Iterator[Fact]:
    if not history:
        return
    lately = history[:_LATELY]
    failed = sum(night["failed_files"] for night in lately)
    files = sum(night["files"] for night in lately)
    yield Fact.of("files", files, f"{failed:,} of them failed")
    rows = sum(night["received"] for night in lately)
    rejected = sum(night["invalid"] for night in lately)
    yield Fact.of("rows", rows, f"{rejected:,} of them rejected")
    redeemed = [redeemed_of(night) for night in lately]
    usual = mean(redeemed) or Decimal(0)
    yield Fact.of("redemptions", sum(redeemed), f"{usual:,.0f} a nightly run in the mean")
    longest = max(lately, key=lambda night: night["seconds"])
    yield Fact.of(
        "seconds, the last nightly run",
        _seconds(history[0]),
        f"at most {_seconds(longest)}, {night_text(longest['name'])}",
    )


def _seconds(night: Row) -> str:
    return f"{night['seconds']:,.1f}"


def _row(night: Row, pages: Collection[str]) -> Mapping[str, Any]:
    name = night["name"]
    return {
        **night,
        "night": Link(name, f"{name}/index.html") if name in pages else name,
        "state": _state(night),
        "redeemed": redeemed_of(night),
        "payouts": payouts_text(payouts_of(night)),
        "settled_payouts": payouts_text(
            {c: sums["settled_payout_amount"] for c, sums in night["money"].items()}
        ),
        "seconds": Decimal(str(night["seconds"])).quantize(Decimal("0.1")),
    }


def _state(night: Row) -> State:
    needs = needing(night["findings"])
    if not night["has_ended"]:
        return State("has not ended", "alarm")
    return State(counted(needs, "finding"), "warn") if needs else State("went well", "good")


def _lines(rows: Rows) -> Iterator[Any]:
    drawn = rows[:_DRAWN][::-1]
    for name, title in (
        ("redeemed", "Redemptions"),
        ("received", "Rows"),
        ("invalid", "Rejected rows"),
        ("seconds", "Seconds"),
    ):
        yield line(f"{title} by nightly run", [row[name] for row in drawn], f"{drawn[-1][name]:,}")


_BUDGETS = (
    *(Column("title", "offer"), Column("currency"), Column("left_amount", "left", "money")),
    *(Column("budget_amount", "budget", "money"), Column("spent_share", "spent", "share")),
    *(Column("outlook", "ends"), Column("merchant_funded_amount", "cost in 30 days", "money")),
    *(Column("merchant_name", "merchant"), Column("offer_id", "offer id", "id")),
)
_DELIVERIES = (
    *(Column("institution"), Column("due", "to be sent", "integer")),
    Column("failed", "failed, tried again", "integer"),
    *(Column("exhausted", "given up", "integer"), Column("stopped", kind="integer")),
    *(Column("delivered", kind="integer"), Column("next", "what to do")),
)
_WAITING = (
    *(Column("waits", "what waits"), Column("count", kind="integer"), Column("next", "what to do")),
)
_RATE = (
    "At the rate of the last 28 days; in brackets, at that of the quickest and of the slowest of"
    " those four weeks."
)


def to_do(text: str | None) -> Any:
    """Return what to do as a command, where it is one."""
    return PrintedCommand(text) if text and text.startswith("cardoffers ") else text


def budgets_that_end(offers: Rows, now: datetime) -> Iterator[Section]:
    """Show the budgets that end soon; rows as `reports/work.py` has."""
    ending = ending_soon(offers, now)
    rows = [
        {
            **row,
            "title": row["title"] or row["offer_id"],
            "left_amount": max(row["budget_amount"] - row["spent_amount"], Decimal(0)),
            "outlook": when_it_ends(row, now),
        }
        for row in ending[:MOST_ROWS]
    ]
    if rows:
        yield Section(
            title="Budgets that end within 14 days",
            lines=[_RATE],
            sheet=Sheet("budgets", _BUDGETS, rows),
            in_all=len(ending),
            more="cardoffers report offers --order ends -o offers.html",
        )


def webhooks_that_wait(deliveries: Rows) -> Iterator[Section]:
    """Show the events that wait; rows as `events/questions.py` counts them."""
    waiting = ("due", "failed", "exhausted", "stopped")
    rows = [
        {**row, "next": PrintedCommand(f"cardoffers webhook list -i {row['institution']}")}
        for row in deliveries
        if any(row[name] for name in waiting)
    ]
    sent = sum(row["delivered"] for row in deliveries)
    were = "was" if sent == 1 else "were"
    sentence = f"Of the events of the last 30 days, {sent:,} {were} delivered"
    if deliveries:
        yield Section(
            title="Webhooks that wait",
            lines=[f"{sentence}{'; these were not.' if rows else ', and none waits.'}"],
            sheet=Sheet("deliveries", _DELIVERIES, rows) if rows else None,
        )


def what_else_waits(waiting: Rows) -> Iterator[Section]:
    """Show what else waits: `waits`, `count`, and what to do `next`."""
    rows = [{**row, "next": to_do(row["next"])} for row in waiting if row["count"]]
    if rows:
        yield Section(title="What else waits", sheet=Sheet("waiting", _WAITING, rows))
