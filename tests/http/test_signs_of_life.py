"""What watches a server: that it lives, that its store can be had, and what it counts."""

from __future__ import annotations

import socket
import stat
import subprocess
import time
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import pytest

from commands import command
from exposed import complaints, one, values
from serving import Heard, Served, heard, serving
from sizes import slow
from tables import key_text
from work import held, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

FEED = "/api/v1/offers"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    made = new_store(tmp_path_factory.mktemp("life"))
    tell(made, institutions="institution\nalder", keys="key institution scopes\nall alder offers")
    return made


@pytest.fixture(scope="module")
def served(made: Job) -> Iterator[Served]:
    words = ("--as-of", "2026-06-01T12:00:00Z", "--metrics", "--metrics-socket", local(made))
    with serving(made.path, *words) as served:
        yield served


def local(made: Job) -> Path:
    return made.path.with_name("metrics.sock")


def asked(path: Path, words: bytes = b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n") -> Heard:
    """Ask on a socket of this machine."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(words)
        connection = HTTPConnection("localhost")
        connection.sock = client
        response = connection.response_class(client)
        response.begin()
        return heard(response)


def test_a_server_is_ready_while_the_store_can_be_had(served: Served, made: Job) -> None:
    assert (200, {"status": "ready"}) == answer(served)
    with held(made.path):
        time.sleep(1.1)  # a look is kept for a second
        began = time.monotonic()
        answers = [answer(served), answer(served)]
        took = time.monotonic() - began
        assert [503, 503] == [status for status, _ in answers]
        assert {"busy"} == {document["code"] for _, document in answers}
        assert took < 10
        assert 200 == served.call("GET", "/healthz").status
    deadline = time.monotonic() + 20
    while answer(served)[0] != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def answer(served: Served) -> tuple[int, dict[str, str]]:
    told = served.call("GET", "/readyz")
    return told.status, told.document


def test_metrics_are_told_where_they_were_asked_for(served: Served, made: Job) -> None:
    authorization = {"authorization": f"Bearer {key_text('all')}"}
    before = values(asked(local(made)).body.decode())
    paths = {f"{FEED}?cardholder_token={'c' * 40}": FEED, f"{FEED}?x": FEED, "/no/alder": "other"}
    statuses = [str(served.call("GET", path, headers=authorization).status) for path in paths]
    assert "200" == statuses[0] != statuses[1]
    on_port = served.call("GET", "/metrics")
    assert (200, "text/plain; version=0.0.4; charset=utf-8") == (
        on_port.status,
        on_port.headers["content-type"],
    )
    text = asked(local(made)).body.decode()
    after = values(text)
    assert [] == complaints(text)
    assert "alder" not in text
    for route, status in zip(paths.values(), statuses, strict=True):
        key = ("cardoffers_http_requests_total", "GET", route, status)
        assert 1 == after[key] - before.get(key, 0), key
    assert 2 == one(after, "http_request_duration_seconds_count", FEED)
    assert {0, 1} >= {one(after, "http_store_held")}
    assert 0 == one(after, "http_queue_length")
    assert one(after, "http_connections") >= 0


@slow
@pytest.mark.parametrize(
    "words",
    [b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", b"POST /metrics HTTP/1.1\r\nhost: x\r\n\r\n"],
)
@pytest.mark.usefixtures("served")
def test_the_socket_has_nothing_but_metrics(made: Job, words: bytes) -> None:
    assert 404 == asked(local(made), words).status
    assert 0o660 == stat.S_IMODE(local(made).stat().st_mode)


@slow
def test_metrics_are_told_to_nobody_until_asked_for(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    local(made).touch()  # what is no socket is left alone
    with serving(made.path) as served:
        assert 404 == served.call("GET", "/metrics").status
    line = command("serve", "--store", made.path, "--port", 0, "--metrics-socket", local(made))
    ended = found_to_end(line)
    assert (15, True) == (ended[0], "It is not possible to listen on" in ended[1])
    assert local(made).is_file()


def found_to_end(line: list[str]) -> tuple[int, str]:
    done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr
