"""Nothing that was acknowledged is lost, however often the server is killed under load."""

from __future__ import annotations

import json
import random
import time
from contextlib import closing
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import pytest

from callers import Calls, Client, not_once, under_load
from serving import serving
from sizes import FULL, slow, tries
from tables import key_text
from work import found, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

KILLS = 300 if FULL else tries(3, 6)
CALLS = Calls(key=key_text("all"), offer="bread", moment="2026-06-01T11:00:00Z")


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        offers="offer merchant\nbread bakery",
        programs="offer\nbread",
        keys="key institution scopes\nall alder offers|reporting|transactions",
    )
    return made


@slow
def test_a_killed_server_has_kept_what_it_acknowledged(made: Job) -> None:
    chance = random.Random(4)  # noqa: S311 - moments, not secrets
    clients: list[Client] = []
    for turn in range(KILLS):
        with serving(made.path, "--as-of", "2026-06-01T12:00:00Z") as served:
            clients += (latest := under_load(served.port, str(turn), CALLS))
            wait_until(lambda latest=latest: sum(len(each.accepted) for each in latest) > 100)
            time.sleep(chance.random())
            served.process.kill()
            for client in clients:
                client.join(30)
    assert sum(len(client.accepted) for client in clients) > KILLS * 100
    assert ([], []) == not_once(made, clients)


def test_what_was_answered_202_is_there_after_a_kill_at_once(made: Job) -> None:
    with serving(made.path, "--as-of", "2026-06-01T12:00:00Z") as served:
        with closing(HTTPConnection("127.0.0.1", served.port, timeout=20)) as calling:
            body = json.dumps(CALLS.event("ref-1"))
            calling.request("POST", "/api/v1/transactions", body, CALLS.headers)
            assert 202 == calling.getresponse().status
            served.process.kill()
        served.process.wait()
    assert [("ref-1",)] == found(made, "select transaction_ref from purchases")


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
