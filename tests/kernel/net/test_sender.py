from __future__ import annotations

import asyncio
import re
import socket
import threading
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.events.receiver import Behaviour, Receiver
from cardoffers_cli.kernel.net.sender import AttemptLimits, Delivery, Outcome, send_all
from cardoffers_cli.kernel.words.errors import NotFound
from post import DEADLINE_S, EVENT, SECRET, delivery, post, real_clock, send
from strangers import Reader, Writer, answers, head, listening, request, says, status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FAR = AttemptLimits(deadline_s=DEADLINE_S, allow_insecure=True)
NOON = datetime(2026, 5, 1, 12, 0, 0, 700_000)  # noqa: DTZ001 - moments are naive UTC


@pytest.fixture
def nobody() -> Iterator[socket.socket]:
    """A socket that listens, and that nobody may come to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener
        with pytest.raises(BlockingIOError):
            listener.accept()


# What an answer means


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, 200),
        (None, 201),
        (None, 202),
        (None, 204),
        (None, 226),
        (None, 299),
        ("redirect", 300),
        ("redirect", 304),
        ("redirect", 307),
        ("http_error", 400),
        ("http_error", 401),
        ("http_error", 404),
        ("http_error", 409),
        ("http_error", 410),
        ("http_error", 429),
        ("http_error", 500),
        ("http_error", 503),
        ("http_error", 599),
    ],
)
def test_only_2xx_is_delivered(error: str | None, code: int) -> None:
    with listening(status(code)) as (port,):
        outcome = post(f"http://127.0.0.1:{port}/")
    assert (code, error) == (outcome.http_status, outcome.error)


@pytest.mark.parametrize(
    ("wait_s", "code", "headers"),
    [
        (None, 503, []),
        (120, 503, ["Retry-After: 120"]),
        (120, 429, ["retry-after:   120  "]),
        (0, 429, ["Retry-After: 0"]),
        (60, 429, ["Retry-After: Fri, 01 May 2026 12:01:00 GMT"]),
        (0, 503, ["Retry-After: Thu, 01 Jan 1970 00:00:00 GMT"]),
        (10**9, 503, [f"Retry-After: {'9' * 4000}"]),
        (None, 503, ["Retry-After: -120"]),
        (None, 503, ["Retry-After: soon"]),
        (None, 503, ["Retry-After:"]),
        (None, 503, ["Retry-After: 1.5"]),
        (None, 503, ["Retry-After: 60", "Retry-After: 120"]),
        (None, 500, ["Retry-After: 120"]),
        (None, 404, ["Retry-After: 120"]),
        (None, 302, ["Retry-After: 120", "Location: /"]),
        (None, 200, ["Retry-After: 120"]),
    ],
)
def test_a_busy_receiver_may_ask_to_wait(wait_s: int | None, code: int, headers: list[str]) -> None:
    with listening(status(code, *headers)) as (port,):
        (outcome,) = send([delivery(f"http://127.0.0.1:{port}/")], FAR, clock=lambda: NOON)
    assert (code, wait_s) == (outcome.http_status, outcome.retry_after_s)


def test_nobody_there_is_connection_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = post(f"http://127.0.0.1:{port}/")
    assert (None, "connection_refused") == (outcome.http_status, outcome.error)


def test_an_outcome_says_when_and_how_long() -> None:
    with Receiver(clock=real_clock, behaviour=Behaviour(delay_s=0.3)) as receiver:
        before = real_clock()
        outcome = post(receiver.url)
        after = real_clock()
    assert before <= outcome.started_at <= after
    assert 300 <= outcome.duration_ms <= (after - before).total_seconds() * 1000


# What is sent


def test_the_very_bytes_arrive_signed_at_the_moment_of_the_attempt() -> None:
    with Receiver(clock=real_clock, secrets=[SECRET]) as receiver:
        (outcome,) = send([delivery(receiver.url)], FAR)
        (received,) = receiver.received
    assert (200, None) == (outcome.http_status, outcome.error)
    assert (EVENT, []) == (received.body, received.faults)


def test_the_timestamp_is_the_whole_second_of_the_clock() -> None:
    with Receiver(clock=lambda: NOON, secrets=[SECRET]) as receiver:
        (outcome,) = send([delivery(receiver.url)], FAR, clock=lambda: NOON)
        (received,) = receiver.received
    assert (NOON, None) == (outcome.started_at, outcome.error)
    assert "1777636800" == received.headers["X-Service-Timestamp"]


def test_a_request_says_this_and_nothing_else() -> None:
    asked: list[bytes] = []
    with listening(answers(head(b"HTTP/1.1 204 Done"), asked=asked)) as (port,):
        post(f"http://127.0.0.1:{port}/hooks?a=1")
    lines = asked[0].partition(b"\r\n\r\n")[0].decode().split("\r\n")
    shown = [re.sub("sha256=[0-9a-f]{64}|[0-9]{10}", "…", line) for line in lines]
    assert "POST /hooks?a=1 HTTP/1.1" == shown[0]
    assert {
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        f"Content-Length: {len(EVENT)}",
        "User-Agent: cardoffers/0.1.0",
        "Accept: */*",
        "Accept-Encoding: identity",
        "X-Service-Signature: …",
        "X-Service-Timestamp: …",
        "X-Service-Signature-V2: …",
    } == set(shown[1:])


@pytest.mark.parametrize(
    "target", ["/", "/hooks?", "/?a=%2B%3d%7E&a=b", "/%2e%2F//x;y=1/@:!$'()*,", "/?sig=a/b:c@d?e"]
)
def test_a_url_is_asked_for_as_it_was_written(target: str) -> None:
    asked: list[bytes] = []
    with listening(answers(head(b"HTTP/1.1 204 Done"), asked=asked)) as (port,):
        post(f"http://127.0.0.1:{port}{target}")
    assert target.rstrip("?") == asked[0].decode().split(" ")[1].rstrip("?")


# What is not done


def test_a_redirect_is_not_followed(nobody: socket.socket) -> None:
    elsewhere = f"Location: http://127.0.0.1:{nobody.getsockname()[1]}/"
    for code in (301, 302, 303, 307, 308):
        with listening(status(code, elsewhere)) as (port,):
            assert "redirect" == post(f"http://127.0.0.1:{port}/").error


def test_a_cookie_is_not_kept() -> None:
    asked: list[bytes] = []
    answer = head(b"HTTP/1.1 200 OK", b"Set-Cookie: a=b; Path=/", b"Content-Length: 0")
    with listening(answers(answer, asked=asked)) as (port,):
        url = f"http://receiver.example:{port}/"
        one_by_one = AttemptLimits(deadline_s=DEADLINE_S, allow_insecure=True, per_lane=1)
        send([delivery(url, n) for n in (1, 2)], one_by_one, lookup=lambda _: ["127.0.0.1"])
    assert 2 == len(asked)
    assert not any(b"cookie" in each.lower() for each in asked)


def test_the_environment_has_no_say(
    nobody: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.upper(), proxy)
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password something\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with Receiver(clock=real_clock) as receiver:
        assert post(receiver.url).error is None
        (received,) = receiver.received
    assert "Authorization" not in received.headers


def test_an_answer_is_read_up_to_the_cap() -> None:
    body = b"x" * 1000
    answer = head(b"HTTP/1.1 500 Oh", b"Content-Length: 1001") + body
    with listening(answers(answer), answers(answer)) as ports:
        enough, short = (f"http://127.0.0.1:{port}/" for port in ports)
        assert "http_error" == post(enough, body_bytes=1000, deadline_s=1).error
        assert "timeout" == post(short, body_bytes=1001, deadline_s=1).error


# Many at once


def test_a_connection_is_used_again() -> None:
    connections = 0
    again = answers(head(b"HTTP/1.1 200 OK", b"Content-Length: 0"))

    async def behave(reader: Reader, writer: Writer) -> None:
        nonlocal connections
        connections += 1
        await again(reader, writer)

    with listening(behave) as (port,):
        limits = AttemptLimits(deadline_s=DEADLINE_S, allow_insecure=True, per_lane=2)
        outcomes = send((delivery(f"http://127.0.0.1:{port}/", n) for n in range(50)), limits)
    assert set(range(50)) == {outcome.number for outcome in outcomes}
    assert {None} == {outcome.error for outcome in outcomes}
    assert connections <= 2


def test_a_connection_that_was_closed_meanwhile_is_no_failure() -> None:
    asked = 0
    once = says(head(b"HTTP/1.1 200 OK", b"Content-Length: 0"))

    async def behave(reader: Reader, writer: Writer) -> None:
        nonlocal asked
        asked += 1
        await once(reader, writer)

    with listening(behave) as (port,):
        limits = AttemptLimits(deadline_s=DEADLINE_S, allow_insecure=True, per_lane=1)
        outcomes = send((delivery(f"http://127.0.0.1:{port}/", n) for n in range(200)), limits)
    assert [None] * 200 == [outcome.error for outcome in outcomes]
    assert 200 == asked


def test_a_new_connection_that_is_lost_is_not_tried_again() -> None:
    asked: list[bytes] = []

    async def behave(reader: Reader, _writer: Writer) -> None:
        asked.append(await request(reader))

    with listening(behave) as (port,):
        outcome = post(f"http://127.0.0.1:{port}/")
    assert ("connection_reset", 1) == (outcome.error, len(asked))


def test_what_comes_before_a_request_is_no_answer_to_it() -> None:
    good, bad = (head(b"HTTP/1.1 %s X" % code, b"Content-Length: 0") for code in (b"200", b"500"))
    said = threading.Event()

    async def behave(reader: Reader, writer: Writer) -> None:
        is_first = not said.is_set()
        await request(reader)
        writer.write(good if is_first else bad)
        if is_first:
            await asyncio.sleep(0.1)  # so that the answer is taken alone
            writer.write(good)
            await writer.drain()
            await asyncio.sleep(0.1)
            said.set()
            await request(reader)

    def batches(url: str) -> Iterator[list[Delivery]]:
        yield [delivery(url, 1)]
        assert said.wait(DEADLINE_S)
        yield [delivery(url, 2)]

    outcomes: list[Outcome] = []
    with listening(behave) as (port,):
        url = f"http://127.0.0.1:{port}/"
        send_all(batches(url), FAR, clock=real_clock, on_outcome=outcomes.append)
    assert [(1, 200), (2, 500)] == [(each.number, each.http_status) for each in outcomes]


def test_lanes_take_turns() -> None:
    with Receiver(clock=real_clock) as receiver:
        lanes = "aaabbc"
        limits = AttemptLimits(deadline_s=DEADLINE_S, allow_insecure=True, at_once=1)
        deliveries = (delivery(receiver.url, n, lane) for n, lane in enumerate(lanes))
        outcomes = send(deliveries, limits)
    assert "abcaba" == "".join(lanes[outcome.number] for outcome in outcomes)


@pytest.mark.parametrize(("expected", "lanes", "at_once"), [(3, 1, 50), (6, 2, 50), (4, 9, 4)])
def test_a_lane_has_its_share_and_no_more(expected: int, lanes: int, at_once: int) -> None:
    now, most = 0, 0

    def busy(_: object) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)

    with Receiver(
        clock=real_clock, behaviour=Behaviour(delay_s=0.02), on_received=busy
    ) as receiver:

        def done(_: Outcome) -> None:
            nonlocal now
            now -= 1

        limits = AttemptLimits(
            deadline_s=DEADLINE_S, allow_insecure=True, at_once=at_once, per_lane=3
        )
        deliveries = (delivery(receiver.url, n, str(n % lanes)) for n in range(30))
        send(deliveries, limits, on_outcome=done)
    assert 0 == now
    assert expected == most


def test_a_lane_that_hangs_does_not_hold_up_the_others() -> None:
    hung = Behaviour(delay_s=4)
    with Receiver(clock=real_clock, behaviour=hung) as slow, Receiver(clock=real_clock) as quick:
        deliveries = [
            *(delivery(slow.url, n, "slow") for n in range(20)),
            *(delivery(quick.url, n, f"quick-{n % 5}") for n in range(100, 300)),
        ]
        limits = AttemptLimits(deadline_s=1.5, allow_insecure=True, at_once=12, per_lane=10)
        outcomes = send(deliveries, limits)
    slow_ones = [outcome for outcome in outcomes if outcome.number < 100]
    quick_ones = [outcome for outcome in outcomes if outcome.number >= 100]
    assert (20, {"timeout"}) == (len(slow_ones), {outcome.error for outcome in slow_ones})
    assert (200, {None}) == (len(quick_ones), {outcome.error for outcome in quick_ones})
    last_start = max(outcome.started_at for outcome in slow_ones)
    assert all(outcome.started_at < last_start for outcome in quick_ones)


def test_what_came_is_sent_while_more_is_waited_for() -> None:
    first_is_done = threading.Event()

    def batches(url: str) -> Iterator[list[Delivery]]:
        yield [delivery(url, 1)]
        assert first_is_done.wait(DEADLINE_S)
        yield []
        yield [delivery(url, 2)]

    outcomes: list[int] = []

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome.number)
        first_is_done.set()

    with Receiver(clock=real_clock) as receiver:
        send_all(batches(receiver.url), FAR, clock=real_clock, on_outcome=done)
    assert [1, 2] == outcomes


def test_when_pulling_fails_what_is_in_flight_ends_first() -> None:
    def batches(url: str) -> Iterator[list[Delivery]]:
        yield [delivery(url, 1)]
        raise NotFound

    outcomes: list[Outcome] = []
    with (
        Receiver(clock=real_clock, behaviour=Behaviour(delay_s=0.3)) as receiver,
        pytest.raises(NotFound),
    ):
        send_all(batches(receiver.url), FAR, clock=real_clock, on_outcome=outcomes.append)
    assert [None] == [outcome.error for outcome in outcomes]


def test_once_told_to_stop_nothing_more_is_started() -> None:
    stop = threading.Event()
    with Receiver(
        clock=real_clock, behaviour=Behaviour(delay_s=0.3), on_received=lambda _: stop.set()
    ) as receiver:
        limits = AttemptLimits(deadline_s=DEADLINE_S, allow_insecure=True, per_lane=1)
        outcomes = send((delivery(receiver.url, n) for n in range(9)), limits, stop=stop.is_set)
        assert 1 == len(receiver.received)
    assert [(0, None)] == [(outcome.number, outcome.error) for outcome in outcomes]


def test_what_nobody_foresaw_ends_one_attempt_and_not_the_others() -> None:
    def cannot(_: int) -> dict[str, str]:
        raise LookupError

    with Receiver(clock=real_clock) as receiver:
        outcomes = send([delivery(receiver.url, 1, sign=cannot), delivery(receiver.url, 2)], FAR)
    assert {1: "unexpected", 2: None} == {each.number: each.error for each in outcomes}


def test_a_delivery_does_not_show_what_it_carries() -> None:
    shown = repr(delivery("https://example.com/kanarie", body=b"kanarie"))
    assert "kanarie" not in shown
    assert SECRET not in shown
