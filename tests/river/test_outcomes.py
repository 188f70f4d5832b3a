from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from cardoffers_cli.river.outcomes import CHECK_OF, NEAREST, checks, compared, nearest

AT = datetime(2026, 6, 1, 12)  # noqa: DTZ001 - moments are naive UTC
DAY = timedelta(days=1)

FITS: dict[str, Any] = {
    "outcome": "redeemed",
    "currency": "GBP",
    "amount": Decimal("20.0000"),
    "transacted_at": AT,
    "added_at": AT - DAY,
    "starts_at": AT - DAY,
    "expires_at": AT + DAY,
    "min_spend": Decimal("20.0000"),
    "cashback_amount": Decimal("3.0000"),
    "commission_rate": Decimal("0.1"),
    "budget_amount": Decimal("9.9000"),
    "held_amount": Decimal("6.6000"),
    "last_held_at": AT - DAY,
    "max_redemptions_per_cardholder": 2,
    "uses": 1,
    "last_used_at": None,
    "best_offer_id": "B",
    "best_cashback": Decimal("3.0000"),
}

# what differs from a purchase that fits, the check that fails, what it says
FAILED = [
    ({"outcome": "not_enrolled", "added_at": None}, "the cardholder had not added the offer"),
    (
        {"outcome": "enrolled_after_purchase", "added_at": AT + timedelta(hours=26, minutes=5)},
        "it came 1 d 2 h before the enrolment",
    ),
    (
        {"outcome": "offer_not_started", "starts_at": AT + timedelta(seconds=61)},
        "the offer began 1 min 1 s later",
    ),
    ({"outcome": "offer_expired", "expires_at": AT - DAY}, "the offer had ended 1 d before"),
    ({"outcome": "offer_expired", "expires_at": AT}, "the offer had ended at the same time"),
    ({"outcome": "below_min_spend", "amount": Decimal("12.5")}, "it is short by GBP 7.50"),
    (
        {"outcome": "refunded", "amount": Decimal(0)},
        "all of it came back before it was matched",
    ),
    (
        {"outcome": "budget_exhausted", "held_amount": Decimal("9.8999")},
        (
            "the budget was spent at 2026-05-31 12:00 UTC by earlier purchases, which held "
            "GBP 9.90 of GBP 9.90, and one redemption takes GBP 3.30"
        ),
    ),
    (
        {"outcome": "budget_exhausted", "held_amount": Decimal(0), "last_held_at": None},
        "the budget of GBP 9.90 never covered one redemption",
    ),
    ({"outcome": "redemption_limit_reached", "uses": 2}, "2 of 2 uses were spent"),
    ({"outcome": "outranked"}, "B was the better offer"),
]


@pytest.mark.parametrize(("changes", "detail"), FAILED)
def test_the_check_that_decided_says_what_was_wrong(changes: dict[str, Any], detail: str) -> None:
    made = checks({**FITS, **changes})
    assert [CHECK_OF[changes["outcome"]]] == [each["check"] for each in made if each["ok"] is False]
    (failed,) = (each for each in made if each["ok"] is False)
    assert detail == failed["detail"]


def test_a_purchase_that_redeems_passes_every_check() -> None:
    assert {True} == {each["ok"] for each in checks(FITS)}


def test_what_was_never_reached_is_neither_passed_nor_failed() -> None:
    changes = {
        "outcome": "below_min_spend",
        "amount": Decimal(1),
        "held_amount": None,
        "uses": None,
    }
    made = {each["check"]: each["ok"] for each in checks({**FITS, **changes})}
    assert (None, None, None) == (made["budget"], made["uses"], made["best_offer"])


def test_a_check_that_others_hide_is_still_told() -> None:
    made = checks({**FITS, "outcome": "offer_expired", "expires_at": AT, "amount": Decimal(1)})
    assert ["not_expired", "min_spend"] == [each["check"] for each in made if each["ok"] is False]


def test_without_limits_nothing_limits() -> None:
    free = {**FITS, "budget_amount": None, "max_redemptions_per_cardholder": None}
    told = {each["check"]: each["detail"] for each in checks(free)}
    assert ("no budget limits it", "nothing limits its uses") == (told["budget"], told["uses"])


@pytest.mark.parametrize(
    ("outcome", "expected", "actual"),
    [
        ("below_min_spend", "20.00", "20.00"),
        ("budget_exhausted", "9.90", "6.60"),
        ("redemption_limit_reached", "2", "1"),
        ("outranked", "3.00", "3.00"),
        ("redeemed", "None", "None"),
        ("not_enrolled", "None", "None"),
    ],
)
def test_expected_and_actual_are_exact(outcome: str, expected: str, actual: str) -> None:
    assert (expected, actual) == tuple(map(str, compared({**FITS, "outcome": outcome})))


def test_the_nearest_outcome_is_the_one_that_came_furthest() -> None:
    assert "budget_exhausted" == nearest(["not_enrolled", "budget_exhausted", "below_min_spend"])
    assert "no_offer" == nearest([])
    assert set(CHECK_OF) == set(NEAREST) - {"redeemed", "merchant_unresolved"}
