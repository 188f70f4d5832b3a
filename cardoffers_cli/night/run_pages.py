"""The page of all nights, which answers: how have they been."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Fact, Page, Section
from cardoffers_cli.kernel.sheets.pictures import line
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import Link, State
from cardoffers_cli.kernel.words.sentences import counted, day_text, listed, mean
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
