"""Whose key it is: from memory, or else from the store, read once for all who ask."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.http.contract.gate import Keyring
from cardoffers_cli.http.contract.messages import Problem
from cardoffers_cli.http.handler import ApiKeys
from cardoffers_cli.keys.work import revoke_key
from tables import NOON, key_text, uid
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder\nbrook",
        keys="""
            key      institution  created     expires
            first    alder        2026-01-01  2027-01-01
            endless  brook        2026-01-01  -
            old      brook        2025-01-01  2026-01-01
            """,
    )
    return made


class Reads:
    """Reads the keys of a store, and counts how often."""

    def __init__(self, made: Job, *, is_whole: bool = True) -> None:
        self.made = made
        self.is_whole = is_whole
        self.times = 0

    def __call__(self) -> Future[Keyring]:
        promise: Future[Keyring] = Future()
        self.times += 1
        with self.made.store(read_only=True) as store:
            promise.set_result(Keyring.of(store, is_whole=self.is_whole))
        return promise


def known(reads: Reads, wait_s: float = 20) -> ApiKeys:
    return ApiKeys(reads, lambda: NOON, wait_s=wait_s)


def owners(known: ApiKeys, *names: str) -> list[UUID | None]:
    async def ask() -> list[UUID | None]:
        return [await known.owner(key_text(name)) for name in names]

    return run(ask())


def run(work: Coroutine[Any, Any, list[UUID | None]]) -> list[UUID | None]:
    return asyncio.run(work)


def test_a_key_that_works_is_its_institutions(made: Job) -> None:
    reads = Reads(made)
    expected = [uid("alder"), uid("brook"), uid("alder"), None, None]
    assert expected == owners(known(reads), "first", "endless", "first", "old", "unknown")
    assert 3 == reads.times


def test_a_key_made_since_is_found(made: Job) -> None:
    keys = known(Reads(made))
    owners(keys, "first")
    tell(made, keys="key institution\nlater alder")
    assert [uid("alder")] == owners(keys, "later")


def test_a_revoked_key_has_no_room_once_the_store_refused_it(made: Job) -> None:
    keys = known(Reads(made))
    assert [uid("alder")] == owners(keys, "first")
    revoke_key(str(uid("first")), made)
    assert [uid("alder")] == owners(keys, "first")  # room for a body; the gate asks the store
    keys.forget()
    assert [None, uid("brook")] == owners(keys, "first", "endless")


def test_keys_of_a_snapshot_let_in_and_refuse_nobody(made: Job) -> None:
    keys = known(Reads(made, is_whole=False), wait_s=1.5)
    assert [uid("alder")] == owners(keys, "first")
    with pytest.raises(Problem) as refused:
        owners(keys, "unknown")
    assert 503 == refused.value.status
