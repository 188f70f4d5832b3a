from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.domain.cards import (
    has_check_digit,
    is_by_chance,
    is_card_number,
    without_card_numbers,
)


@pytest.mark.parametrize(
    "number",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4222222222222",
        "5555555555554444",
        "2223003122003222",
        "378282246310005",
        "6011111111111117",
        "3530111333300000",
        "30569309025904",
        "6200000000000005",
        "6759649826438453",
        "2200000000000004",
    ],
)
def test_numbers_of_issuers_are_card_numbers(number: str) -> None:
    assert is_card_number(number)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4111111111111112", "wrong check digit"),
        ("0000000000000000", "no issuer has this prefix"),
        ("9111111111111111", "no issuer has this prefix"),
        ("41111111111", "too short"),
        ("41111111111111111111", "too long"),
        ("ct_4111111111111111", "not a number"),
        ("٤١١١١١١١١١١١١١١١", "digits of another script"),
        ("", "empty"),
        ("- -", "only separators"),
    ],
)
def test_other_text_is_no_card_number(text: str, why: str) -> None:
    assert not is_card_number(text), why


def _doubling_every_second(digits: str) -> int:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10


@given(st.text("0123456789", min_size=1, max_size=19))
def test_the_check_digit_is_luhns(digits: str) -> None:
    assert (_doubling_every_second(digits) == 0) == has_check_digit(digits)


@pytest.mark.parametrize(
    ("right", "numbers", "by_chance"),
    [
        (1, 1, False),
        (1, 2, True),
        (2, 2, False),
        (1, 10, True),
        (3, 10, True),
        (4, 10, False),
        (100, 1000, True),
        (129, 1000, False),
        (100_000, 1_000_000, True),
        (101_000, 1_000_000, False),
    ],
)
def test_one_right_number_in_ten_is_chance(right: int, numbers: int, by_chance: bool) -> None:
    assert by_chance == is_by_chance(right, numbers)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("4111111111111111", "4111…1111"),
        ("card 4111 1111 1111 1111 of ann", "card 4111…1111 of ann"),
        ("4111111111111112", "4111111111111112"),
        ("UBER 4155 8001234567", "UBER 4155 8001234567"),
        ("498750000000129", "498750000000129"),
        ("378282246310005", "3782…0005"),
        ("0f8fad5b-d9cb-469f-a165-70867728950e", "0f8fad5b-d9cb-469f-a165-70867728950e"),
    ],
)
def test_real_card_numbers_are_masked_in_a_text(text: str, shown: str) -> None:
    assert shown == without_card_numbers(text)
