"""Who gets in, whose connection ends for it, and who is answered late."""

from __future__ import annotations

import select
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest

from serving import Heard, Served, heard, serving_within
from sizes import slow
from tables import key_text
from work import new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

FEED = "/api/v1/offers?cardholder_token=ann"
OTHER = "127.0.0.2"


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution\nalder",
        keys="key institution scopes\nall alder offers|reporting|transactions",
    )
    return made


@dataclass
class Clients:
    """Connections to a server, open until the test is over."""

    served: Served
    stack: ExitStack

    def connect(self, host: str = "127.0.0.1") -> HTTPConnection:
        """Connect from an address, and say nothing."""
        connection = HTTPConnection(
            "127.0.0.1", self.served.port, timeout=20, source_address=(host, 0)
        )
        connection.connect()
        return self.stack.enter_context(closing(connection))

    def authenticated(self, host: str = "127.0.0.1") -> HTTPConnection:
        """Connect, and show a key that works."""
        connection = self.connect(host)
        assert 200 == ask(connection, "all").status
        return connection


@contextmanager
def clients_of(
    made: Job, settings: dict[str, Any] | None = None, **limits: Any
) -> Iterator[Clients]:
    with serving_within(made.path, settings, **limits) as served, ExitStack() as stack:
        yield Clients(served, stack)


def ask(connection: HTTPConnection, key: str) -> Heard:
    send(connection, key)
    return heard(connection.getresponse())


def send(connection: HTTPConnection, key: str, **headers: str) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named["authorization"] = f"Bearer {key_text(key)}"
    connection.request("GET", FEED, headers=named)


def are_open(*connections: HTTPConnection) -> list[bool]:
    """Say of each connection whether the server answers on it."""
    return [_is_open(each) for each in connections]


def _is_open(connection: HTTPConnection) -> bool:
    try:
        connection.sock.sendall(b"GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n")
        return connection.sock.recv(1 << 16).startswith(b"HTTP/1.1 404")
    except ConnectionError:
        return False


@slow
def test_beyond_the_limit_of_an_address_its_own_connection_that_is_idle_longest_ends(
    made: Job,
) -> None:
    with clients_of(made, connections_per_address=3) as clients:
        others = clients.authenticated(OTHER)
        first, second, third = [clients.authenticated() for _ in range(3)]
        assert 200 == ask(first, "all").status
        newest = clients.connect()
        assert [True, True] == are_open(newest, others)
        assert [True, False, True] == are_open(first, second, third)


@slow
def test_who_showed_no_key_ends_before_who_did(made: Job) -> None:
    with clients_of(made, connections_per_address=3) as clients:
        oldest = clients.authenticated()
        nameless = [clients.connect() for _ in range(2)]
        newest = clients.authenticated()
        assert [True, True] == are_open(oldest, newest)
        assert [False, True] == are_open(*nameless)


@slow
def test_who_showed_no_key_has_a_part_of_all_connections(made: Job) -> None:
    with clients_of(made, connections=10, unauthenticated=2) as clients:
        first, second, third = [clients.connect(f"127.0.0.{number}") for number in range(3, 6)]
        assert [True, True, False] == are_open(third, second, first)


@slow
def test_a_wrong_key_takes_back_what_a_right_one_gave(made: Job) -> None:
    with clients_of(made, connections_per_address=2) as clients:
        wrong, right = clients.authenticated(), clients.authenticated()
        assert 401 == ask(wrong, "unknown").status
        newest = clients.connect()
        assert [True, True, False] == are_open(newest, right, wrong)


@slow
def test_a_body_that_still_comes_ends_before_the_newest_is_refused(made: Job) -> None:
    with clients_of(made, connections_per_address=2) as clients:
        slow = [clients.authenticated() for _ in range(2)]
        for each in slow:
            each.putrequest("POST", "/api/v1/transactions")
            each.putheader("authorization", f"Bearer {key_text('all')}")
            each.putheader("content-length", "9")
            each.endheaders()
        assert [True] == are_open(clients.connect(OTHER))  # and what was sent before is read
        clients.authenticated()
        assert b"" == slow[0].sock.recv(1)


@slow
def test_a_proxy_that_is_trusted_is_no_single_client(made: Job) -> None:
    settings = {"serve_trusted_proxies": "127.0.0.1"}
    with clients_of(made, settings, connections_per_address=2) as clients:
        held = [clients.authenticated() for _ in range(6)]
        assert [True] * 6 == are_open(*held)


@slow
def test_a_proxy_that_is_not_named_locks_nobody_out(made: Job) -> None:
    """All its clients are one address, from which come more than one address may have."""
    with clients_of(made, connections_per_address=4) as clients:
        for _ in range(12):
            clients.connect()
            clients.authenticated()


@slow
def test_wrong_keys_are_answered_late_and_nobody_else_of_the_address_is(made: Job) -> None:
    limits = {"wrong_keys_per_minute": 2, "slowest_s": 8}
    with clients_of(made, {"serve_trusted_proxies": "127.0.0.9"}, **limits) as clients:
        wrong = [clients.connect("127.0.0.9") for _ in range(12)]
        for each in wrong:
            send(each, "unknown", x_forwarded_for="192.0.2.1")
        behind = clients.connect("127.0.0.9")
        for key, client in (("all", "192.0.2.1"), ("unknown", "192.0.2.2")):
            send(behind, key, x_forwarded_for=client)
            assert (200 if key == "all" else 401) == heard(behind.getresponse()).status
        answered, _, _ = select.select([each.sock for each in wrong], [], [], 0)
        assert len(answered) < len(wrong)
        heard_first = [heard(each.getresponse()) for each in wrong if each.sock in answered]
        assert {401} == {answer.status for answer in heard_first}


@slow
def test_how_late_a_wrong_key_is_answered_grows(made: Job) -> None:
    with clients_of(made, wrong_keys_per_minute=2, slowest_s=0.4) as clients:
        connection = clients.connect()
        ids = [ask(connection, "unknown").headers["x-request-id"] for _ in range(6)]
        took = [clients.served.line(each)["duration_ms"] for each in ids]
        least = [0, 0, 100, 200, 400, 400]
        assert [] == [pair for pair in zip(least, took, strict=True) if pair[1] < pair[0]]
