"""When budgets run out, as tables. It is 1 October, the offer is of 2 August to 30 December."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.offers.budgets import (
    RECENT,
    BudgetUse,
    band,
    outlook,
    planned_share,
    rate_length,
    spent_share,
)

OCTOBER = datetime(2026, 10, 1)  # noqa: DTZ001 - moments are naive UTC


def day(number: int) -> datetime:
    """Return midnight of a day, counted from the first of October."""
    return OCTOBER + timedelta(days=number - 1)


def burn(budget: str | None, spent: str, recent: str, **more: Any) -> BudgetUse:
    usual = {"starts_at": day(-60), "expires_at": day(92), "last_redeemed_at": day(0)}
    return BudgetUse(
        budget_amount=None if budget is None else Decimal(budget),
        spent_amount=Decimal(spent),
        recent_amount=Decimal(recent),
        next_amount=Decimal(more.pop("next_amount", "0.01")),
        **{**usual, **more},
    )


@pytest.mark.parametrize(
    ("expected", "budget", "spent", "recent"),
    [
        ("no budget", None, "500.00", "280.00"),
        ("runs out on 2026-10-01", "500.00", "490.01", "280.00"),
        ("runs out on 2026-10-02", "500.00", "490.00", "280.00"),
        ("runs out on 2026-10-02", "500.00", "480.01", "280.00"),
        ("runs out on 2026-10-11", "500.00", "400.00", "280.00"),
        ("runs out on 2026-10-11", "500.00", "400.00", "279.99"),
        ("runs out on 2026-10-10", "500.00", "400.00", "280.01"),
        ("runs out on 2026-12-30", "909.99", "0.00", "280.00"),
        ("not at this rate", "910.00", "0.00", "280.00"),
        ("not at this rate", "500.00", "499.00", "0.00"),
        ("not at this rate", "99999999999999.9999", "0.0000", "0.0001"),
        ("spent on 2026-09-30", "500.00", "500.00", "280.00"),
        ("spent on 2026-09-30", "500.00", "500.00", "0.00"),
        ("spent on 2026-09-30", "500.00", "510.00", "280.00"),
        ("spent on 2026-09-30", "0.00", "0.00", "0.00"),
    ],
)
def test_a_budget_runs_out_on_the_first_day_that_exceeds_it(
    expected: str, budget: str | None, spent: str, recent: str
) -> None:
    assert expected == outlook(burn(budget, spent, recent), OCTOBER).text


@pytest.mark.parametrize(
    ("expected", "left", "next_amount"),
    [
        ("runs out on 2026-10-01", "5.00", "5.00"),
        ("spent on 2026-09-30", "4.99", "5.00"),
    ],
)
def test_a_budget_is_spent_that_does_not_cover_one_more(
    expected: str, left: str, next_amount: str
) -> None:
    spent = Decimal("500.00") - Decimal(left)
    found = burn("500.00", str(spent), "280.00", next_amount=next_amount)
    assert expected == outlook(found, OCTOBER).text


def test_a_budget_that_never_covered_one_was_spent_on_no_day() -> None:
    found = burn("4.99", "0.00", "0.00", next_amount="5.00", last_redeemed_at=None)
    assert "too small for one" == outlook(found, OCTOBER).text


@pytest.mark.parametrize(
    ("expected", "hour"),
    [
        ("runs out on 2026-10-01", 11),  # 5.00 a day: 2.50 are 12 hours
        ("runs out on 2026-10-02", 12),
    ],
)
def test_a_day_that_has_begun_has_less_time_to_spend(expected: str, hour: int) -> None:
    found = burn("500.00", "497.50", "140.00")
    assert expected == outlook(found, OCTOBER + timedelta(hours=hour)).text


@pytest.mark.parametrize(
    ("expected", "starts"),
    [
        ("runs out on 2026-10-11", 1 - 28),
        ("runs out on 2026-10-11", 1 - 300),
        ("runs out on 2026-10-06", 1 - 14),
        ("runs out on 2026-10-01", 1 - 1),
        ("runs out on 2026-10-01", 1),  # an hour's rush is taken for a day's
    ],
)
def test_the_rate_of_a_young_offer_is_of_its_own_days(expected: str, starts: int) -> None:
    found = burn("500.00", "400.00", "280.00", starts_at=day(starts))
    assert expected == outlook(found, OCTOBER).text


@pytest.mark.parametrize(
    ("expected", "ends"),
    [("runs out on 2026-10-11", 12), ("not at this rate", 11), ("not at this rate", 5)],
)
def test_an_offer_that_ends_first_leaves_some_of_its_budget(expected: str, ends: int) -> None:
    found = burn("500.00", "400.00", "280.00", expires_at=day(ends))
    assert expected == outlook(found, OCTOBER).text


@pytest.mark.parametrize(
    ("expected", "budget", "spent"),
    [
        ("0.8315", "500.00", "415.75"),
        ("0.3333", "3", "1"),
        ("0.6667", "3", "2"),
        ("1.0200", "500.00", "510.00"),
        (None, None, "415.75"),
        (None, "0.00", "0.00"),
    ],
)
def test_the_spent_share_is_exact_to_four_decimals(
    expected: str | None, budget: str | None, spent: str
) -> None:
    share = spent_share(burn(budget, spent, "0"))
    assert expected == (None if share is None else str(share))


@pytest.mark.parametrize(
    ("expected", "weeks", "starts"),
    [
        ("2026-10-08 2026-10-29", "100 70 70 25", -60),  # 100 left
        ("2026-10-11 2026-10-11", "70 70 70 70", -60),
        ("2026-10-08 None", "100 70 70 0", -60),
        ("2026-10-08 None", "100 70 70 0.01", -60),
        ("2026-10-08 2026-10-15", "100 50 1 1", 1 - 14),
        (None, "100 50 1 1", 1 - 13),
    ],
)
def test_a_budget_ends_between_the_days_of_the_quickest_and_the_slowest_week(
    expected: str | None, weeks: str, starts: int
) -> None:
    found = burn("500.00", "400.00", "280.00", starts_at=day(starts))
    limits = band(found, [Decimal(week) for week in weeks.split()], OCTOBER)
    assert expected == (limits and f"{limits.first} {limits.last}")


@pytest.mark.parametrize(("budget", "spent"), [(None, "400.00"), ("500.00", "500.00")])
def test_what_has_no_budget_or_has_spent_it_has_no_band(budget: str | None, spent: str) -> None:
    assert band(burn(budget, spent, "280.00"), [Decimal(70)] * 4, OCTOBER) is None


@pytest.mark.parametrize(
    ("expected", "starts", "ends"),
    [("0.5000", -9, 11), ("0.0000", 1, 11), ("1.0000", -19, 1), ("0.3333", -9, 21)],
)
def test_the_plan_of_a_budget_is_to_spend_it_evenly(expected: str, starts: int, ends: int) -> None:
    found = burn("500.00", "0", "0", starts_at=day(starts), expires_at=day(ends))
    assert expected == str(planned_share(found, OCTOBER))


amounts = st.decimals("0.0001", "99999999999999.9999", places=4)


@given(left=amounts, recent=amounts, seconds=st.integers(0, 86_399))
def test_the_day_is_the_one_that_counting_day_by_day_finds(
    left: Decimal, recent: Decimal, seconds: int
) -> None:
    """Compare with the definition, whole numbers only: spend by the end of a day, times 28 days."""
    now = OCTOBER + timedelta(seconds=seconds)
    found = burn(str(left), "0", str(recent), next_amount="0.0001", expires_at=datetime.max)  # noqa: DTZ901
    length = rate_length(found.starts_at, now) // timedelta(microseconds=1)
    assert RECENT // timedelta(microseconds=1) == length

    def exceeds(number: int) -> bool:
        until = (day(number + 1) - now) // timedelta(microseconds=1)
        return int(recent * 10_000) * until > int(left * 10_000) * length

    first = next((number for number in range(1, 400) if exceeds(number)), None)
    told = outlook(found, now)
    if first is not None:
        assert ("runs_out", day(first).date()) == (told.state, told.day)
    else:
        assert told.day is None or told.day >= day(400).date()
