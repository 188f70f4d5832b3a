"""Nights beside each other: what each redeemed, against those before it."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import Section
from cardoffers_cli.kernel.sheets.pictures import Point, columns
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import State
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.sentences import (
    amount_text,
    date_text,
    is_unusual,
    mean,
    short_day_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cardoffers_cli.kernel.sheets.sheets import Row, Rows

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
    return sum(found["level"] != "note" for found in findings)


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
    shown = history[: NIGHTS + 1]
    rows = [_of_night(history, place) for place in range(len(shown))]
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
    kept = [row for row in rows if row["redeemed"] or row["accepted"] or row is rows[0]]
    quiet = len(rows) - len(kept)
    yield Section(
        title=title,
        lines=[_UNUSUAL, f"No activity in {counted(quiet, 'night')}." if quiet else ""],
        pictures=[drawn],
        sheet=Sheet("nights", _NIGHTS, kept, title="Nightly runs, newest first"),
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
