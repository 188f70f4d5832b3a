"""Whose key it is, told without the store."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.http.contract.gate import Keyring
from cardoffers_cli.keys.questions import KeyHash
from cardoffers_cli.keys.rules import key_hash, prefix_of, with_checksum
from tables import NOON, key_text, uid

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job


@pytest.mark.parametrize(
    ("owner", "key"),
    [
        ("alder", "alderall"),
        ("alder", "legacy"),
        ("brook", "brookall"),
        (None, "revoked"),
        (None, "expired"),
        (None, "both"),
        (None, "unknown"),
    ],
)
def test_a_key_that_works_is_its_institutions(job: Job, owner: str | None, key: str) -> None:
    with job.store(read_only=True) as store:
        keyring = Keyring.of(store, is_whole=True)
    assert (owner and uid(owner)) == keyring.owner(key_text(key), NOON)


def test_a_key_ends_when_it_ends_and_not_when_it_is_read(job: Job) -> None:
    with job.store(read_only=True) as store:
        keyring = Keyring.of(store, is_whole=True)
    text, end = key_text("alderall"), NOON.replace(year=2027, month=1, hour=0)
    moments = (end - timedelta(seconds=1), end)
    assert [uid("alder"), None] == [keyring.owner(text, moment) for moment in moments]


def test_keys_that_begin_alike_are_told_apart() -> None:
    texts = [with_checksum(f"co_live_{'A' * 42}{end}") for end in "ABC"]
    assert 1 == len({prefix_of(text) for text in texts})

    def known(text: str, institution: str) -> KeyHash:
        return KeyHash(
            prefix=prefix_of(text),
            key_hash=key_hash(text),
            institution_id=uid(institution),
            ends_at=None,
        )

    keyring = Keyring({prefix_of(texts[0]): [known(texts[0], "alder"), known(texts[1], "brook")]})
    expected: list[UUID | None] = [uid("alder"), uid("brook"), None]
    assert expected == [keyring.owner(text, NOON) for text in texts]


def test_a_keyring_shows_no_hash(job: Job) -> None:
    with job.store(read_only=True) as store:
        keyring = Keyring.of(store, is_whole=True)
    assert key_hash(key_text("alderall")) not in repr(keyring)
