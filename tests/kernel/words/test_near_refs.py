from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.nearest import are_near, pattern, spellings

REFS = st.text("01OoIiLl 9Aa.-*$", max_size=8)


@pytest.mark.parametrize(
    ("expected", "one", "other"),
    [
        (True, "TX-0010", "TX-OO1O"),
        (True, "TX-0010", "tx-0010"),
        (True, "TX-0010", "TX-10"),
        (True, "TX-0010", "TX0010"),
        (True, "0010", "10"),
        (True, "A1L", "aIl"),
        (True, "7", "007"),
        (False, "TX-10", "TX-100"),
        (False, "TX-10", "TX-01O0"),
        (False, "TX-101", "TX-11"),
        (False, "TX-10", "TY-10"),
        (False, "0", "00000001"),
    ],
)
def test_refs_are_near_when_only_what_is_misread_differs(
    expected: bool, one: str, other: str
) -> None:
    assert expected == are_near(one, other)
    assert expected == are_near(other, one)


@given(one=REFS, other=REFS)
def test_whatever_is_near_matches_the_pattern(one: str, other: str) -> None:
    assert re.fullmatch(pattern(one), other) or not are_near(one, other)


@given(ref=REFS)
def test_the_likeliest_spellings_are_near(ref: str) -> None:
    assert all(are_near(ref, each) for each in spellings(ref))


def test_a_long_ref_has_some_hundred_spellings() -> None:
    assert 400 > len(spellings("O1" * 5_000))


def test_the_pattern_of_a_long_ref_is_short() -> None:
    assert re.fullmatch(pattern("A" * 10_000), "a" * 10_000)
    assert 2000 > len(pattern("A" * 10_000))


@pytest.mark.parametrize("other", ["TX-1", "TX-1010", "TY-10", "TX-10x"])
def test_the_pattern_lets_little_else_through(other: str) -> None:
    assert not re.fullmatch(pattern("TX-10.5"), other)
