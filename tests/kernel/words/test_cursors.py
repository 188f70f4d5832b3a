from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from uuid import UUID

import pytest
from hypothesis import assume
from hypothesis import given as examples
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.ids import CursorInvalid, decode_cursor, encode_cursor

POSITION = st.tuples(st.datetimes(), st.uuids())
CURSOR_LETTERS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@examples(POSITION, st.text())
def test_a_cursor_holds_its_position_in_letters_that_need_no_quoting(
    position: tuple[datetime, UUID], purpose: str
) -> None:
    cursor = encode_cursor(*position, purpose)
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert position == decode_cursor(cursor, purpose)


@examples(POSITION, st.text(), st.text())
def test_a_cursor_is_good_for_its_own_purpose_only(
    position: tuple[datetime, UUID], made_for: str, used_for: str
) -> None:
    assume(made_for != used_for)
    with pytest.raises(CursorInvalid):
        decode_cursor(encode_cursor(*position, made_for), used_for)


@examples(POSITION, st.integers(0), CURSOR_LETTERS)
def test_a_damaged_cursor_is_refused(position: tuple[datetime, UUID], at: int, other: str) -> None:
    good = encode_cursor(*position, "report")
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


@pytest.mark.parametrize(
    "position",
    [
        b"",
        b"[]",
        b"2026-06-01T12:00:00",
        b"2026-06-01T12:00:00 5",
        b"2026-06-01T12:00:00+02:00 00000000-0000-0000-0000-000000000000",
        b"2026-06-31T12:00:00 00000000-0000-0000-0000-000000000000",
        b"\xff\xfe",
    ],
)
def test_a_position_that_is_none_is_refused_even_with_the_right_checksum(position: bytes) -> None:
    check = hashlib.sha256(b"report\0" + position).digest()[:8]
    forged = base64.urlsafe_b64encode(check + position).decode().rstrip("=")
    with pytest.raises(CursorInvalid):
        decode_cursor(forged, "report")


def test_a_forged_position_in_the_right_form_is_one() -> None:
    position = datetime(2026, 6, 1, 12), UUID(int=7)  # noqa: DTZ001 - moments are naive UTC
    text = b"2026-06-01T12:00:00 00000000-0000-0000-0000-000000000007"
    check = hashlib.sha256(b"report\0" + text).digest()[:8]
    forged = base64.urlsafe_b64encode(check + text).decode().rstrip("=")
    assert position == decode_cursor(forged, "report")


def test_the_refusal_has_the_code_of_the_contract() -> None:
    assert "cursor_invalid" == CursorInvalid.code
