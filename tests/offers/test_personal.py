from __future__ import annotations

import pytest

from cardoffers_cli.offers.feed import PROGRAM_ORDER, WEIGHTS, hints, reason


def test_a_weight_is_more_than_all_later_ones_together() -> None:
    weights = [*WEIGHTS.values()]
    assert all(weight > sum(weights[place + 1 :]) for place, weight in enumerate(weights))


@pytest.mark.parametrize(
    ("expected", "holding"),
    [
        ("preferred_merchant", [*WEIGHTS]),
        ("preferred_category", ["preferred_category", "past_merchant", "popular"]),
        ("past_merchant", ["popular", "past_category", "past_merchant"]),
        ("past_category", ["past_category", "popular"]),
        ("popular", ["popular"]),
        (PROGRAM_ORDER, []),
    ],
)
def test_the_reason_is_the_first_that_holds(expected: str, holding: list[str]) -> None:
    assert expected == reason({signal: signal in holding for signal in WEIGHTS})


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ((), None),
        ((), ""),
        ((), " , ,"),
        (("a",), "a"),
        (("Corner Shop", "b"), " Corner Shop ,,b,"),
    ],
)
def test_hints_are_separated_by_commas(expected: tuple[str, ...], text: str | None) -> None:
    assert expected == hints(text)
