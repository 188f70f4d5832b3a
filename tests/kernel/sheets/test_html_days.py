"""Rows by day as longer periods, held against sums in plain Python."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.kernel.sheets.pictures import Picture, drawn_by_day, periods

FIRST = date(2026, 1, 1)


def rows(days: int, *currencies: str) -> list[dict[str, Any]]:
    return [
        {
            "day": FIRST + timedelta(days=day),
            "currency": currency,
            "redemptions": day % 5,
            "payout": Decimal(day) / 4,
        }
        for day in range(days)
        for currency in currencies
    ]


@pytest.mark.parametrize(
    ("unit", "count", "last", "days"),
    [
        ("day", 0, None, 0),
        ("day", 1, "2026-01-01", 1),
        ("day", 63, "2026-03-04", 63),
        ("week", 10, "2026-03-02", 64),
        ("week", 62, "2027-03-01", 430),
        ("month", 15, "March 2027", 431),
        ("month", 37, "January 2029", 1100),
    ],
)
def test_many_days_become_weeks_and_more_become_months(
    unit: str, count: int, last: str | None, days: int
) -> None:
    found_unit, found = periods(rows(days, "GBP"))
    assert (unit, count) == (found_unit, len(found))
    assert last == (found[-1]["label"] if found else None)


@given(st.integers(1, 500), st.integers(1, 3))
def test_nothing_is_lost_in_longer_periods(days: int, currencies: int) -> None:
    asked = rows(days, *["GBP", "JPY", "MXN"][:currencies])
    expected: dict[str, list[Any]] = defaultdict(lambda: [0, Decimal(0)])
    for row in asked:
        expected[row["currency"]][0] += row["redemptions"]
        expected[row["currency"]][1] += row["payout"]
    found: dict[str, list[Any]] = defaultdict(lambda: [0, Decimal(0)])
    for row in periods(asked)[1]:
        found[row["currency"]][0] += row["redemptions"]
        found[row["currency"]][1] += row["payout"]
    assert expected == found


def test_cardholders_of_days_do_not_add_up_to_those_of_a_week() -> None:
    days = [
        {"day": str(FIRST + timedelta(days=day)), "unique_cardholders": 1, "widget_views": 2}
        for day in range(70)
    ]
    unit, found = periods(days)
    assert "week" == unit
    assert all("unique_cardholders" not in row for row in found)
    assert 140 == sum(row["widget_views"] for row in found)
    assert 1 == periods(days[:7])[1][0]["unique_cardholders"]


def test_a_picture_adds_currencies_up_and_says_its_days() -> None:
    _, found = periods(rows(5, "GBP", "JPY"))
    drawn = drawn_by_day("Redemptions by day of purchase", found, "redemptions")
    assert isinstance(drawn, Picture)
    assert "From 1 January to 5 January. The most, 8, on 5 January; the last, 8." == drawn.says


def test_one_day_is_a_sentence() -> None:
    _, found = periods(rows(2, "GBP"))
    assert "Redemptions by day of purchase: 1 on 2 January." == drawn_by_day(
        "Redemptions by day of purchase", found, "redemptions"
    )


def test_a_long_time_has_its_years() -> None:
    _, found = periods(rows(400, "GBP"))
    drawn = drawn_by_day("x", found, "redemptions")
    assert isinstance(drawn, Picture)
    assert drawn.says.startswith("From 29 December 2025 to ")
