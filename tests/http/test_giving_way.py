"""Commands beside a server that keeps the store open: each has it soon, and nothing is lost."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from callers import Calls, Client, not_once, under_load
from cardoffers_cli.river.engines import match_purchases
from serving import serving
from sizes import FULL, slow, tries
from tables import key_text
from work import found, job, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

TURNS = 1000 if FULL else tries(15, 25)
"""Each is a command, for which a busy server gives the store up, and takes it back."""
LONGEST_S = 0.5 if FULL else 20
"""How long a command may wait; a machine that does other things is no measure."""
CALLS = Calls(key=key_text("all"), offer="bread", moment="2026-06-01T11:00:00Z")


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant\nbread bakery",
        programs="offer\nbread",
        keys="key institution scopes\nall alder offers|reporting|transactions",
    )
    return made


@slow
@pytest.mark.parametrize("wait_s", [0, 30], ids=["in haste", "with patience"])
def test_a_server_yields_and_returns_and_every_event_is_there_once(made: Job, wait_s: int) -> None:
    chance = random.Random(5)  # noqa: S311 - moments, not secrets
    command = job(made.path, lock_wait_s=wait_s)
    waits = []
    with serving(made.path, "--as-of", "2026-06-01T12:00:00Z") as served:
        clients = under_load(served.port, "one", CALLS)
        for turn in range(TURNS):
            before = accepted(clients)
            wait_until(lambda before=before: accepted(clients) > before)  # it is back
            time.sleep(chance.random() / 20)
            began = time.monotonic()
            with command.store(read_only=turn % 2 == 0):
                waits.append(time.monotonic() - began)
        match_purchases(command)
    for client in clients:
        client.join(30)
    assert ([], []) == not_once(made, clients)
    assert [(0,)] == found(made, "select count(*) - count(distinct purchase_no) from purchases")
    assert max(waits) < LONGEST_S


def accepted(clients: list[Client]) -> int:
    return sum(len(client.accepted) for client in clients)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)
