from __future__ import annotations

import hashlib
import re
import string

import pytest
from hypothesis import given as examples
from hypothesis import settings as profile
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.keys.rules import (
    checked_name,
    checked_scopes,
    is_well_formed,
    key_hash,
    last_four,
    new_key,
    prefix_of,
    with_checksum,
)

KEY = "co_live_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg4GBZUo"
LETTERS = string.digits + string.ascii_letters
KEYS = st.text(LETTERS, min_size=43, max_size=43).map(lambda text: with_checksum(f"co_live_{text}"))
PRINTABLE = [chr(code) for code in range(32, 127)]


def test_a_new_key_has_its_form_and_is_never_made_twice() -> None:
    made = [new_key() for _ in range(100)]
    assert all(re.fullmatch(r"co_live_[0-9A-Za-z]{49}", key) for key in made)
    assert all(map(is_well_formed, made))
    assert 100 == len(set(made))


def test_the_checksum_is_the_crc_32_of_what_is_before_it() -> None:
    assert KEY == with_checksum(KEY[:-6])
    assert is_well_formed(KEY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        KEY[:-1],
        f"{KEY}0",
        f" {KEY}",
        f"{KEY}\n",
        KEY.replace("live", "test"),
        with_checksum(KEY),
        with_checksum(KEY[:-7]),
        with_checksum("co_test_" + KEY[8:-6]),
        with_checksum(KEY[:20] + "é" + KEY[21:-6]),
    ],
)
def test_what_has_another_form_is_no_key(text: str) -> None:
    assert not is_well_formed(text)


@profile(deadline=None)
@examples(KEYS)
def test_every_single_wrong_character_is_found(key: str) -> None:
    assert is_well_formed(key)
    slips = {
        key[:at] + other + key[at + 1 :]
        for at in range(len(key))
        for other in PRINTABLE
        if other != key[at]
    }
    assert [] == [slip for slip in slips if is_well_formed(slip)]


@profile(deadline=None)
@examples(KEYS)
def test_every_swap_of_neighbours_is_found(key: str) -> None:
    swaps = {
        key[:at] + key[at + 1] + key[at] + key[at + 2 :]
        for at in range(len(key) - 1)
        if key[at] != key[at + 1]
    }
    assert [] == [swap for swap in swaps if is_well_formed(swap)]


def test_what_is_stored_and_what_is_shown() -> None:
    assert hashlib.sha256(KEY.encode()).hexdigest() == key_hash(KEY)
    assert ("co_live_0123", "BZUo") == (prefix_of(KEY), last_four(KEY))


@pytest.mark.parametrize("name", ["a", " mobile app ", "x" * 100, "Größe 🙂"])
def test_a_name_is_taken_without_the_spaces_around_it(name: str) -> None:
    assert name.strip() == checked_name(name)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", "a\x1b[1m", "a\u202eb", f"a {KEY}"])
def test_a_name_that_will_not_do_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        checked_name(name)
    assert "name_invalid" == caught.value.code


def test_scopes_are_a_set_of_the_known_ones() -> None:
    assert {"offers", "reporting"} == checked_scopes(["reporting", "offers", "reporting"])


@pytest.mark.parametrize("scopes", [[], ["offers", "Offers"], [""], ["all"]])
def test_no_scope_or_an_unknown_one_is_refused(scopes: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        checked_scopes(scopes)
    assert "scope_unknown" == caught.value.code
    assert "offers, reporting, transactions" in str(caught.value.hint)
