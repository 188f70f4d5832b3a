"""Rows added up: by currency, and by day as rows of longer periods where there are many.

Up to nine weeks stay days, up to fourteen months become weeks that begin on Monday, the rest become
months. Cardholders are counted on each of their days: their sums over a longer period are left out.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pictures import Picture, Point, columns
from cardoffers_cli.kernel.words.sentences import day_text, month_text, short_day_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cardoffers_cli.kernel.sheets.sheets import Row, Rows

_DAYS, _WEEKS = 63, 430
_NOT_ADDED = {"unique_cardholders"}


def periods(rows: Rows) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return what the rows are of (`day`, `week`, `month`), and the rows of each, the oldest first.

    Each has `first`, its first day, `label`, its name, and `currency` if the rows have; the rest is
    added up. There is a row for each currency of each period.
    """
    if not rows:
        return "day", []
    days = [day if isinstance(day := row["day"], date) else date.fromisoformat(day) for row in rows]
    span = (max(days) - min(days)).days + 1
    unit = "day" if span <= _DAYS else "week" if span <= _WEEKS else "month"

    def key(dated: tuple[date, Row]) -> tuple[date, str]:
        return _STARTS[unit](dated[0]), dated[1].get("currency") or ""

    ordered = sorted(zip(days, rows, strict=True), key=lambda pair: (*key(pair), pair[0]))
    groups = [
        _added(unit, first, [row for _, row in group])
        for (first, _), group in groupby(ordered, key=key)
    ]
    return unit, groups


def _added(unit: str, first: date, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    sums = {
        name: sum(row[name] for row in rows)
        for name, value in rows[0].items()
        if isinstance(value, (int, Decimal)) and (unit == "day" or name not in _NOT_ADDED)
    }
    return {
        "first": first,
        "label": month_text(first) if unit == "month" else first.isoformat(),
        **({"currency": rows[0]["currency"]} if "currency" in rows[0] else {}),
        **sums,
    }


def drawn_by_day(
    title: str,
    rows: Rows,
    name: str,
    *,
    subtitle: str = "",
    text: Callable[[Any], str] | None = None,
) -> Picture | str:
    """Draw one value of the rows of `periods` from left to right, added up over currencies."""
    points = []
    is_long = bool(rows) and (rows[-1]["first"] - rows[0]["first"]).days > _DAYS
    for first, group in groupby(rows, key=lambda row: row["first"]):
        same = list(group)
        value = sum((Decimal(row[name]) for row in same), Decimal(0))
        label = same[0]["label"]
        is_month = not label[:1].isdigit()
        year = f" {first.year}" if is_long else ""
        points.append(
            Point(
                name=label if is_month else f"{day_text(first)}{year}",
                label=short_day_text(first).partition(" ")[2] + f" {first.year}"
                if is_month
                else f"{short_day_text(first)}{year}",
                value=max(value, Decimal(0)),
                text=text(value) if text else f"{value:,}",
            )
        )
    return columns(title, points, subtitle=subtitle)


_STARTS: dict[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
}


def firsts(rows: Sequence[Row]) -> list[Row]:
    """Return the first row of each currency, which may have the figures of all of it."""
    by_currency: dict[str, Row] = {}
    for row in rows:
        by_currency.setdefault(row["currency"], row)
    return list(by_currency.values())


def summed(rows: Sequence[Row], name: str) -> dict[str, Decimal]:
    """Return the sum of an amount by currency."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        sums[row["currency"]] = sums.get(row["currency"], Decimal(0)) + row[name]
    return sums
