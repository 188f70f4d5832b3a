from __future__ import annotations

import re
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.card_forms import PLACES, is_by_chance
from cardoffers_cli.kernel.words.cards import (
    CARD_LIKE,
    has_check_digit,
    is_token_card_number,
    numbers_in,
    without_card_numbers,
)
from cardoffers_cli.kernel.words.row_kinds import TOKENS


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
        "38520000023237",
        "6200000000000005",
        "6759649826438453",
        "2200000000000004",
    ],
)
def test_numbers_of_issuers_are_card_numbers(number: str) -> None:
    assert is_token_card_number(number)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("4111111111111112", "wrong check digit"),
        ("0000000000000000", "no issuer has this prefix"),
        ("9111111111111111", "no issuer has this prefix"),
        ("41111111111", "too short"),
        ("41111111111111111111", "too long"),
        ("22230031220032222", "too long for its issuer"),
        ("ct4111111111111111", "joined to letters"),
        ("٤١١١١١١١١١١١١١١١", "digits of another script"),
        ("", "empty"),
        ("- -", "only separators"),
    ],
)
def test_other_text_is_no_card_number(text: str, why: str) -> None:
    assert not is_token_card_number(text), why


def _doubling_every_second(digits: str) -> int:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10


@given(st.text("0123456789", min_size=1, max_size=19))
def test_the_check_digit_is_luhns(digits: str) -> None:
    assert (_doubling_every_second(digits) == 0) == has_check_digit(digits)


@pytest.mark.parametrize("numbers", [1, 2, 3, 10, 99, 100, 101, 500, 1234])
def test_chance_is_the_binomial_tail(numbers: int) -> None:
    """Of every count of right ones: once in a thousand times there are as many, or more."""
    tail, whole = 0, 10**numbers
    for right in range(numbers, -1, -1):
        tail += comb(numbers, right) * 9 ** (numbers - right)
        assert (tail * 1000 > whole) == is_by_chance(right, numbers), right


@pytest.mark.parametrize(("right", "by_chance"), [(6552, True), (6790, True), (6800, False)])
def test_chance_of_many_is_told_at_once(right: int, by_chance: bool) -> None:
    assert by_chance == is_by_chance(right, 65_521)


def test_numbers_of_any_step_have_places_of_their_own() -> None:
    assert all(PLACES % step for step in range(2, 256))


CARD = "4111111111111111"
INSIDE = {
    "card 4111 1111 1111 1111 of ann": ["4111 1111 1111 1111"],
    "(378282246310005)": ["378282246310005"],
    "3782-822463-10005": ["3782-822463-10005"],
    f"{CARD} or 5555555555554444": [CARD, "5555555555554444"],
    "4111 1111 1111 1111 12/27": ["4111 1111 1111 1111"],
    "1111 4111 1111 1111 1111": ["4111 1111 1111 1111"],
    "4111.1111/1111_1111": ["4111.1111/1111_1111"],
    f";{CARD}=29121010000?": [CARD],
    f"%B{CARD}^DOE/JANE^2912": [CARD],
    f"ct_{CARD}": [CARD],
    f"PAN{CARD}": [CARD],
    f"x{CARD}y": [],
    "UBER 4155 8001234567": [],
    "SHOP 498750000000129": [],
    "WALMART 4567 800 555 1234": [],
    "41111111111111110000000": [],
    "0000111122223333": [],
    "short": [],
}


@pytest.mark.parametrize("text", INSIDE)
def test_numbers_are_found_in_running_text(text: str) -> None:
    assert INSIDE[text] == [each.text for each in numbers_in(text) if each.is_right]


@pytest.mark.parametrize("between", [" ", "-", ".", "/", "_"])
@pytest.mark.parametrize("number", [CARD, "2713643666859708", "378282246310005"])
def test_the_pattern_misses_no_number_wherever_it_is_parted(number: str, between: str) -> None:
    parted = [f"{number[:place]}{between}{number[place:]}" for place in range(1, len(number))]
    refused = [text for text in parted if is_token_card_number(text)]
    assert parted == refused
    assert refused == [text for text in refused if re.search(CARD_LIKE, text)]
    masked = {without_card_numbers(text, instead="x", field=TOKENS[0]) for text in refused}
    assert {"x"} == masked


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


# What is kept of a magnetic stripe: neither the name nor what else stands behind the number
STRIPES = {
    f";{CARD}=29121010000?": ";4111…1111?",
    f"r-1,;{CARD}=29121010000?,12.50": "r-1,;4111…1111?,12.50",
    f"%B{CARD}^DOE/JANE^29121010000?": "%B4111…1111?",
    f"%B{CARD}^DOE/JANE^2912 101,next": "%B4111…1111,next",
    f"%B{CARD}^DOE/JANE,next": "%B4111…1111,next",
    f"a {CARD}=2912": "a 4111…1111=2912",
}


@pytest.mark.parametrize(("text", "kept"), STRIPES.items())
def test_what_a_stripe_has_behind_the_number_goes_with_it(text: str, kept: str) -> None:
    """rules.md#card-numbers"""
    assert kept == without_card_numbers(text)
