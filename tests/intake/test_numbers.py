from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from cardoffers_cli.intake.numbers import are_card_numbers, may_be_card_numbers, numbers_of
from cardoffers_cli.kernel.words.card_forms import PLACES
from cardoffers_cli.kernel.words.cards import (
    has_check_digit,
    is_token_card_number,
    may_hold_card_number,
    numbers_in,
)
from sizes import slow

if TYPE_CHECKING:
    from collections.abc import Sequence

STARTS = ["4", "51", "2221", "34", "300", "50", "60", "9", "0", "86", "8600", "3589", "2720", "+4"]
DIGITS = st.text("0123456789", min_size=8, max_size=20)
FIELDS = ("cardholder_token", "transaction_ref", "card_acceptor_id", "merchant_descriptor")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return a number of any issuer or none, often with a right check digit, often in groups."""
    number = draw(st.sampled_from(STARTS)) + draw(DIGITS)
    if draw(st.booleans()) and number.isdigit():
        number += next(digit for digit in "0123456789" if has_check_digit(number + digit))
    between = draw(st.sampled_from(["", "", " ", "-", ".", "_", "\u00a0", "\u2010"]))
    grouped = between.join(number[at : at + 4] for at in range(0, len(number), 4))
    form = draw(st.sampled_from(["{}", "{}", ";{}=2912?", "%B{}^A/B^", "x{}", "a {}, b", "{}x1"]))
    return form.format(grouped)


def each_of(found: Sequence[str | None], field: str) -> list[tuple[object, ...]]:
    return [
        (row, len(each.text), each.form, int(each.digits) % PLACES, each.is_right)
        for row, text in enumerate(found)
        for each in numbers_in(text or "", field)
    ]


@slow
@settings(deadline=None)
@given(st.lists(texts() | st.sampled_from(["", "abc", "-", "\u0664" * 16, "- " * 8])))
def test_a_column_is_told_as_each_of_its_texts(found: list[str]) -> None:
    series = pl.Series(found, dtype=pl.String)
    for field in FIELDS:
        assert sorted(each_of(found, field)) == sorted(numbers_of(series, field).rows())
    for told, of_columns in (
        (is_token_card_number, are_card_numbers),
        (may_hold_card_number, may_be_card_numbers),
    ):
        assert [told(text) for text in found] == of_columns(series).to_list()


def test_an_empty_text_is_no_number() -> None:
    assert [False, True] == are_card_numbers(pl.Series([None, "4111111111111111"])).to_list()
