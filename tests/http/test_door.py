"""What a client may do to the server: limits, connections and paths, on real sockets."""

from __future__ import annotations

import time
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from serving import Heard, Served, answers, heard, said, serving_within
from sizes import slow
from tables import key_text
from work import held, new_store, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

BATCH = "/api/v1/transactions/batch"
ASK = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n"
CANARY = b"canary-8472"
KEY = f"authorization: Bearer {key_text('all')}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = store_with_key(tmp_path_factory.mktemp("door"))
    limits = {"body_s": 1, "head_s": 1.5, "drop_s": 0.5, "connections": 60}
    with serving_within(made.path, **limits) as served:
        yield served


def store_with_key(folder: Path) -> Job:
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        keys="key institution scopes\nall alder offers|reporting|transactions",
    )
    return made


def post(path: str, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: x", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def told(served: Served, *parts: bytes) -> tuple[int, str]:
    """Return status and code of the one answer to these bytes."""
    (answer,) = said(served, *parts)
    assert "application/problem+json" == answer.headers["content-type"]
    return answer.status, answer.document["code"]


# Sizes


@pytest.mark.parametrize(
    ("status", "path", "headers"),
    [
        (404, "/api/v1/nothing", ("content-length: 9000000",)),
        (405, "/openapi.json", ("content-length: 9000000",)),
        (413, BATCH, ("content-length: 8388609",)),
        (413, BATCH, ("content-length: 99999999999999999999",)),
        (413, BATCH, ("content-length: 9000000", "expect: 100-continue")),
        (413, BATCH, ("content-length: 9000000", "authorization: Bearer co_live_wrong")),
        (414, BATCH + "?" + "q" * 9000, ("content-length: 9000000",)),
        (431, BATCH, ("connection: close", "x-long: " + "h" * 17_000)),
        (431, BATCH, ("connection: close", *["x-short: " + "h" * 80] * 250)),
        (431, BATCH, ("x-endless: " + "h" * 200_000,)),
    ],
)
def test_what_is_too_much_is_refused_before_it_is_read(
    served: Served, status: int, path: str, headers: tuple[str, ...]
) -> None:
    assert status == told(served, post(path, *headers))[0]


def test_a_head_without_an_end_is_refused(served: Served) -> None:
    assert (431, "headers_too_large") == told(served, ASK[:-2] + b"x-endless: " + b"h" * 100_000)


def test_who_sends_too_much_all_the_same_hears_the_answer(served: Served) -> None:
    answer = served.call("POST", BATCH, b"x" * (12 << 20))
    assert (413, "close") == (answer.status, answer.headers["connection"])


def test_a_body_of_untold_length_is_counted(served: Served) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    head = post(BATCH, KEY, "transfer-encoding: chunked")
    assert (413, "body_too_large") == told(served, head, *[chunk] * 9)


def test_the_largest_body_is_read(served: Served) -> None:
    assert 401 == served.call("POST", BATCH, b"x" * (8 << 20)).status


@slow
def test_what_is_open_to_everybody_is_answered_where_nothing_else_is(tmp_path: Path) -> None:
    with serving_within(store_with_key(tmp_path).path, waiting_calls=0) as served:
        assert (503, "busy") == told(
            served, post(BATCH, KEY, "content-length: 0", "connection: close")
        )
        for path in ("/healthz", "/openapi.json", "/docs"):
            assert 200 == served.call("GET", path).status


# Times


def test_a_body_has_one_deadline_however_steadily_it_trickles(served: Served) -> None:
    began = time.monotonic()
    with served.connect() as client:
        client.sendall(post(BATCH, KEY, "content-length: 1000"))
        for _ in range(6):
            client.sendall(b"x")
            time.sleep(0.1)
        (answer,) = answers(client)
    assert (408, "body_too_slow") == (answer.status, answer.document["code"])
    assert 1 <= time.monotonic() - began < 6


@pytest.mark.parametrize("begun", [b"", b"GET /openapi.json HT"], ids=["nothing", "half"])
def test_a_head_that_does_not_come_ends_the_connection(served: Served, begun: bytes) -> None:
    began = time.monotonic()
    assert (408, "head_too_slow") == told(served, begun)
    assert 1 <= time.monotonic() - began < 6


def test_slow_clients_do_not_hold_the_others(served: Served) -> None:
    with ExitStack() as open_still:
        for number in range(40):
            client = open_still.enter_context(served.connect())
            client.sendall(post(BATCH, "content-length: 1000") if number % 2 else b"GET /")
        began = time.monotonic()
        assert 200 == served.call("GET", "/openapi.json").status
        assert time.monotonic() - began < 2


def test_who_does_nothing_makes_room_for_who_comes(served: Served) -> None:
    with ExitStack() as open_still:
        idle = [open_still.enter_context(served.connect()) for _ in range(60)]
        assert 200 == served.call("GET", "/openapi.json").status
        assert b"" == idle[0].recv(1)


@slow
def test_where_all_are_being_answered_the_newest_is_refused(tmp_path: Path) -> None:
    made = store_with_key(tmp_path)
    with (
        serving_within(made.path, connections=3) as served,
        ExitStack() as open_still,
    ):
        assert 400 == posted(served, 1).status  # the key is known from now on
        open_still.enter_context(held(made.path))
        for _ in range(3):
            client = open_still.enter_context(served.connect())
            client.sendall(post(BATCH, KEY, "content-length: 2") + b"{}")
        time.sleep(0.5)
        assert (503, "busy") == told(served)


@slow
@pytest.mark.parametrize("limit", ["held_bytes", "held_bytes_per_institution"])
def test_bodies_in_hand_count_as_they_come(tmp_path: Path, limit: str) -> None:
    made = store_with_key(tmp_path)
    with serving_within(made.path, **{limit: 5000}) as served, served.connect() as slow:
        slow.sendall(post(BATCH, KEY, "content-length: 8000000"))
        time.sleep(0.3)
        assert 400 == posted(served, 4000).status
        slow.sendall(b"x" * 4000)
        time.sleep(0.3)
        refused = posted(served, 2000)
        assert (503, "5") == (refused.status, refused.headers["retry-after"])
        assert 400 == posted(served, 500).status


def test_calls_in_hand_have_a_limit_for_each_institution(tmp_path: Path) -> None:
    made = store_with_key(tmp_path)
    with serving_within(made.path, calls_per_institution=1) as served, served.connect() as slow:
        slow.sendall(post(BATCH, KEY, "content-length: 4000"))
        time.sleep(0.3)
        assert 503 == posted(served, 10).status


def posted(served: Served, size: int) -> Heard:
    """Post a body that is no JSON, with a key that works."""
    name, _, value = KEY.partition(": ")
    return served.call(
        "POST", BATCH, b"x" * size, {name: value, "content-type": "application/json"}
    )


# Connections


def test_a_connection_serves_many_requests_each_with_its_id(served: Served) -> None:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=20)
    ids = set()
    for path in ("/openapi.json", "/nothing", BATCH, "/openapi.json"):
        connection.request("GET", path)
        answer = heard(connection.getresponse())
        ids.add(UUID(answer.headers["x-request-id"]))
        assert "server" not in answer.headers
    connection.close()
    assert [4] * 4 == [each.version for each in ids]


def test_a_request_is_found_in_the_log_by_its_id(served: Served) -> None:
    answer = served.call("GET", "/nothing")
    line = served.line(answer.headers["x-request-id"])
    assert answer.document["request_id"] == line["request_id"]
    assert (404, "not_found", None, "GET") == tuple(
        line[name] for name in ("status", "code", "route", "method")
    )


def test_the_log_knows_the_route_of_what_it_refused(served: Served) -> None:
    (answer,) = said(served, post(BATCH, "content-length: 9000000"))
    assert BATCH == served.line(answer.headers["x-request-id"])["route"]


@pytest.mark.parametrize(
    "garbage",
    [
        CANARY + b"\r\n\r\n",
        b"GET / HTTP/one\r\n\r\n",
        b"GET /" + CANARY + b" HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /openapi.json HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00" + CANARY + b"\r\n\r\n",
        post(BATCH, "content-length: -1"),
        post(BATCH, "content-length: 5", "content-length: 6"),
        post(BATCH, "transfer-encoding: gzip"),
        post(BATCH, KEY, "transfer-encoding: chunked") + b"canary-8472\r\n",
    ],
)
def test_what_is_no_http_is_refused_without_detail(served: Served, garbage: bytes) -> None:
    (answer,) = said(served, garbage)
    assert (400, "malformed") == (answer.status, answer.document["code"])
    assert CANARY not in answer.body


def test_garbage_after_a_request_is_refused_after_its_answer(served: Served) -> None:
    first, second = said(served, ASK + CANARY + b"\r\n\r\n")
    assert (200, 400) == (first.status, second.status)
    assert CANARY not in second.body


def test_requests_sent_at_once_are_answered_in_their_order(served: Served) -> None:
    lost = ASK.replace(b"openapi.json", b"nothing")
    last = ASK.replace(b"host: x", b"host: x\r\nconnection: close")
    assert [200, 404, 200] == [answer.status for answer in said(served, ASK + lost + last)]


def test_who_leaves_in_the_middle_is_no_trouble(served: Served) -> None:
    for part in (b"GET /", post(BATCH, "content-length: 99"), ASK):
        with served.connect() as client:
            client.sendall(part)
    assert 200 == served.call("GET", "/openapi.json").status


def test_an_upgrade_is_not_taken(served: Served) -> None:
    asked = ASK.replace(b"host: x", b"host: x\r\nconnection: upgrade, close\r\nupgrade: websocket")
    assert [200] == [answer.status for answer in said(served, asked)]


# Paths


@pytest.mark.parametrize(
    "path",
    [
        "/", "/docs/", "/redoc", "/debug", "/metrics", "/static/", "/.env", "/.git/config", "//",
        "/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/transactions/", "/API/V1/OFFERS",
        "/api/v1/../v1/offers", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/offers;x=1", "/api/v2/offers", "/openapi.json/", "/openapi.yaml",
        "http://x/openapi.json",
    ],
)  # fmt: skip
def test_there_is_nothing_else_to_find(served: Served, path: str) -> None:
    ask = f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    assert (404, "not_found") == told(served, ask.encode())


@slow
def test_nothing_of_what_clients_sent_is_in_the_log(served: Served) -> None:
    said(
        served,
        b"GET /" + CANARY + b"?" + CANARY + b" HTTP/1.1\r\nhost: x\r\n\r\n" + CANARY + b"\r\n\r\n",
    )
    said(served, CANARY + b" /openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert CANARY not in served.log.read_bytes()
