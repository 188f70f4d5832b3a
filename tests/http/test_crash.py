"""Nothing that was acknowledged is lost, however often the server is killed under load."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from serving import Served, serving
from tables import key_text
from work import found, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.jobs.job import Job

KILLS = 6
CLIENTS = 6
HEADERS = {"authorization": f"Bearer {key_text('all')}", "content-type": "application/json"}


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


class Client(threading.Thread):
    """Sends until the server is gone, and keeps what was acknowledged."""

    def __init__(self, port: int, name: str) -> None:
        super().__init__(name=name)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.accepted: list[str] = []
        self.added: list[str] = []
        self.sent = 0

    def run(self) -> None:
        try:
            for turn in range(1_000_000):
                (self.single, self.batch, self.add)[turn % 3]()
        except (OSError, http.client.HTTPException):
            pass  # the server was killed
        finally:
            self.connection.close()

    def refs(self, count: int) -> list[str]:
        first, self.sent = self.sent, self.sent + count
        return [f"{self.name}-{number}" for number in range(first, self.sent)]

    def post(self, path: str, body: Any, *statuses: int) -> None:
        self.connection.request("POST", path, json.dumps(body), HEADERS)
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status in statuses

    def single(self) -> None:
        (ref,) = self.refs(1)
        self.post("/api/v1/transactions", event(ref), 202)
        self.accepted.append(ref)

    def batch(self) -> None:
        refs = self.refs(50)
        self.post("/api/v1/transactions/batch", {"transactions": [*map(event, refs)]}, 202)
        self.accepted += refs

    def add(self) -> None:
        (token,) = self.refs(1)
        self.post(
            "/api/v1/offers/bread/add", {"cardholder_token": token, "card_token": "card"}, 201
        )
        self.added.append(token)


def event(ref: str) -> dict[str, Any]:
    return {
        "cardholder_token": f"holder-{ref}",
        "card_token": "card",
        "card_acceptor_id": "M1",
        "amount": 12.5,
        "transaction_ref": ref,
        "transacted_at": "2026-06-01T11:00:00Z",
    }


def under_load(served: Served, turn: int) -> list[Client]:
    clients = [Client(served.port, f"{turn}-{number}") for number in range(CLIENTS)]
    for client in clients:
        client.start()
    return clients


def test_a_killed_server_has_kept_what_it_acknowledged(made: Job) -> None:
    chance = random.Random(4)  # noqa: S311 - moments, not secrets
    clients: list[Client] = []
    for turn in range(KILLS):
        with serving(made.path, "--as-of", "2026-06-01T12:00:00Z") as served:
            clients += (latest := under_load(served, turn))
            wait_until(lambda latest=latest: sum(len(each.accepted) for each in latest) > 100)
            time.sleep(chance.random())
            served.process.kill()
            for client in clients:
                client.join(30)
    times = Counter(ref for (ref,) in found(made, "select transaction_ref from purchases"))
    links = Counter(
        token
        for (token,) in found(
            made, "select cardholder_token from links join cardholders using (cardholder_no)"
        )
    )
    accepted = [ref for client in clients for ref in client.accepted]
    added = [token for client in clients for token in client.added]
    assert len(accepted) > KILLS * 100
    assert [] == [ref for ref in accepted if times[ref] != 1]
    assert [] == [token for token in added if links[token] != 1]
    assert {1} == {*times.values(), *links.values()}


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
