"""Clients that call a server until it is gone, and keep what it acknowledged."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from work import found

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job

CLIENTS = 6


@dataclass(frozen=True)
class Calls:
    """What clients call with: a key, an offer to add, and when the purchases were made."""

    key: str
    offer: str
    moment: str

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}", "content-type": "application/json"}

    def event(self, ref: str) -> dict[str, Any]:
        return {
            "cardholder_token": f"holder-{ref}",
            "card_token": "card",
            "card_acceptor_id": "M1",
            "amount": 12.5,
            "transaction_ref": ref,
            "transacted_at": self.moment,
        }


class Client(threading.Thread):
    """Sends until the server is gone, and keeps what was acknowledged."""

    def __init__(self, port: int, name: str, calls: Calls) -> None:
        super().__init__(name=name)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.calls = calls
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
        self.connection.request("POST", path, json.dumps(body), self.calls.headers)
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status in statuses

    def single(self) -> None:
        (ref,) = self.refs(1)
        self.post("/api/v1/transactions", self.calls.event(ref), 202)
        self.accepted.append(ref)

    def batch(self) -> None:
        refs = self.refs(50)
        events = [self.calls.event(ref) for ref in refs]
        self.post("/api/v1/transactions/batch", {"transactions": events}, 202)
        self.accepted += refs

    def add(self) -> None:
        (token,) = self.refs(1)
        body = {"cardholder_token": token, "card_token": "card"}
        self.post(f"/api/v1/offers/{self.calls.offer}/add", body, 201)
        self.added.append(token)


def under_load(port: int, name: str, calls: Calls) -> list[Client]:
    """Start clients that call the server of a port."""
    clients = [Client(port, f"{name}-{number}", calls) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    return clients


def not_once(made: Job, clients: list[Client]) -> tuple[list[str], list[str]]:
    """Return what was acknowledged to clients and is lost, and what is there more than once."""
    refs = Counter(ref for (ref,) in found(made, "select transaction_ref from purchases"))
    linked = "select cardholder_token from links join cardholders using (cardholder_no)"
    tokens = Counter(token for (token,) in found(made, linked))
    lost = [ref for client in clients for ref in client.accepted if not refs[ref]]
    lost += [token for client in clients for token in client.added if not tokens[token]]
    ours = tuple(client.name for client in clients)
    counted = [*refs.items(), *tokens.items()]
    return lost, [each for each, count in counted if count > 1 and each.startswith(ours)]
