from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardoffers_cli.domain.cards import (
    has_check_digit,
    holds_card_number,
    is_card_number,
    is_identifier_card_number,
    is_identifier_issued,
    is_issued,
    is_reference_card_number,
    is_reference_issued,
)
from cardoffers_cli.files.numbers import (
    are_card_numbers,
    are_identifiers_card_numbers,
    are_references_card_numbers,
    hold_card_numbers,
    identifiers_numbers,
    numbers_inside,
    references_numbers,
    whole_numbers,
)
from sizes import slow

STARTS = ["4", "51", "2221", "34", "300", "50", "60", "9", "0", "86", "8600", "3589", "2720", "+4"]
DIGITS = st.text("0123456789", min_size=8, max_size=20)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return a number of any issuer or none, often with a right check digit, often in groups."""
    number = draw(st.sampled_from(STARTS)) + draw(DIGITS)
    if draw(st.booleans()) and number.isdigit():
        number += next(digit for digit in "0123456789" if has_check_digit(number + digit))
    between = draw(st.sampled_from(["", "", " ", "-", "\u00a0", "\u2010"]))
    grouped = between.join(number[at : at + 4] for at in range(0, len(number), 4))
    return draw(st.sampled_from(["", "", " ", "-", "x"])) + grouped


@settings(deadline=None)
@given(
    st.lists(
        texts()
        | st.sampled_from(["", "abc", "-", "\u0664" * 16, "ct_4111", "- " * 8, "\u00a0" * 16])
    )
)
def test_a_column_is_told_as_each_of_its_texts(found: list[str]) -> None:
    series = pl.Series(found, dtype=pl.String)
    assert [is_card_number(text) for text in found] == are_card_numbers(series).to_list()
    issued = [row for row, text in enumerate(found) if is_issued(text)]
    assert issued == whole_numbers(series)["row"].to_list()


@slow
@settings(deadline=None)
@given(st.lists(texts() | texts().map(lambda text: f"SHOP {text}, LONDON") | st.just("")))
def test_a_column_of_each_kind_is_told_as_each_of_its_texts(found: list[str]) -> None:
    series = pl.Series(found, dtype=pl.String)
    for told, of_columns in (
        (is_reference_card_number, are_references_card_numbers),
        (is_identifier_card_number, are_identifiers_card_numbers),
        (holds_card_number, hold_card_numbers),
    ):
        assert [told(text) for text in found] == of_columns(series).to_list()
    for is_given, numbers in (
        (is_reference_issued, references_numbers),
        (is_identifier_issued, identifiers_numbers),
    ):
        rows = [row for row, text in enumerate(found) if is_given(text)]
        assert rows == numbers(series)["row"].to_list()


@pytest.mark.parametrize("between", [" ", "-", "\u00a0", "\u2010", " - "])
@pytest.mark.parametrize("others", [[], ["4111111111111111"], ["abc"]])
def test_what_stands_between_digits_is_no_number(between: str, others: list[str]) -> None:
    texts = [between * 16, *others]
    assert [is_card_number(text) for text in texts] == are_card_numbers(pl.Series(texts)).to_list()


def test_an_empty_text_is_no_number() -> None:
    assert [False, True] == are_card_numbers(pl.Series([None, "4111111111111111"])).to_list()


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("card 4111 1111 1111 1111 of ann", ["4111 1111 1111 1111"]),
        ("(378282246310005)", ["378282246310005"]),
        ("3782-822463-10005", ["3782-822463-10005"]),
        ("PAN4111111111111111", ["4111111111111111"]),
        ("4111111111111111 or 5555555555554444", ["4111111111111111", "5555555555554444"]),
        ("UBER 4155 8001234567", []),
        ("SHOP 498750000000129", []),
        ("WALMART 4567 800 555 1234", []),
        ("41111111111111110000000", []),
        ("0000111122223333", []),
        ("short", []),
    ],
)
def test_numbers_are_found_in_running_text(text: str, numbers: list[str]) -> None:
    assert numbers == numbers_inside(pl.Series([None, text]))["number"].to_list()
