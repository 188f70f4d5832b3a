"""Which of several reasons is told of a purchase that redeemed nothing."""

from __future__ import annotations

import pytest

from cardoffers_cli.services import decisions


@pytest.mark.parametrize(
    ("expected", "decided", "outcomes"),
    [
        ("redeemed", "redeemed", "redeemed outranked"),
        ("merchant_unresolved", "merchant_unresolved", ""),
        ("not_matched_yet", None, ""),
        ("no_offer", "not_redeemed", ""),
        ("not_enrolled", "not_redeemed", "not_enrolled not_enrolled"),
        ("below_min_spend", "not_redeemed", "not_enrolled offer_expired below_min_spend"),
        ("budget_exhausted", "not_redeemed", "below_min_spend budget_exhausted not_enrolled"),
    ],
)
def test_the_nearest_miss_is_the_reason(expected: str, decided: str | None, outcomes: str) -> None:
    evaluations = [{"outcome": outcome} for outcome in outcomes.split()]
    assert expected == decisions._reason(decided, evaluations)
