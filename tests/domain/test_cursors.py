from __future__ import annotations

import pytest
from hypothesis import assume
from hypothesis import given as examples
from hypothesis import strategies as st

from cardoffers_cli.domain.cursors import CursorInvalid, decode_cursor, encode_cursor

POSITION = st.lists(st.text(), max_size=3)
CURSOR_LETTERS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@examples(POSITION, st.text())
def test_a_cursor_holds_its_position_in_letters_that_need_no_quoting(
    position: list[str], purpose: str
) -> None:
    cursor = encode_cursor(position, purpose)
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert position == decode_cursor(cursor, purpose)


@examples(POSITION, st.text(), st.text())
def test_a_cursor_is_good_for_its_own_purpose_only(
    position: list[str], made_for: str, used_for: str
) -> None:
    assume(made_for != used_for)
    with pytest.raises(CursorInvalid):
        decode_cursor(encode_cursor(position, made_for), used_for)


@examples(POSITION, st.integers(0), CURSOR_LETTERS)
def test_a_damaged_cursor_is_refused(position: list[str], at: int, other: str) -> None:
    good = encode_cursor(position, "report")
    at %= len(good)
    damaged = good[:at] + other + good[at + 1 :]
    assume(not damaged.startswith(good))
    with pytest.raises(CursorInvalid):
        decode_cursor(damaged, "report")


@pytest.mark.parametrize(
    "cursor", ["A", "AAAA", "%%%", "a b", "é", "\n", "A" * 10_000, "=", "===="]
)
def test_what_never_was_a_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(CursorInvalid):
        decode_cursor(cursor, "report")


def test_the_refusal_has_the_code_of_the_contract() -> None:
    assert "cursor_invalid" == CursorInvalid.code
