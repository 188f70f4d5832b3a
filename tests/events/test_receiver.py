from __future__ import annotations

import gc
import http.client
import socket
import time
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from warnings import catch_warnings, simplefilter

import pytest

from cardoffers_cli.events.receiver import Behaviour, Received, Receiver
from cardoffers_cli.kernel.net.sender import AttemptLimits
from cardoffers_cli.kernel.words.errors import NetworkFailure
from cardoffers_cli.kernel.words.signing import signature_headers
from post import EVENT, SECRET, delivery, post, real_clock, send
from sizes import slow

NOON = datetime(2026, 5, 1, 12)  # noqa: DTZ001 - moments are naive UTC
NOON_S = 1777636800
ONE_BY_ONE = AttemptLimits(deadline_s=5, allow_insecure=True, per_lane=1)


def statuses(behaviour: Behaviour, count: int) -> list[int | None]:
    with Receiver(clock=real_clock, behaviour=behaviour) as receiver:
        outcomes = send((delivery(receiver.url, n) for n in range(count)), ONE_BY_ONE)
    return [outcome.http_status for outcome in outcomes]


@pytest.mark.parametrize(
    ("expected", "behaviour"),
    [
        ([200, 200, 200], Behaviour()),
        ([500, 500, 200], Behaviour(fail=2)),
        ([503, 200, 200], Behaviour(fail=1, status=503)),
        ([410, 410, 410], Behaviour(status=410)),
        ([204, 204, 204], Behaviour(status=204)),
    ],
)
def test_a_receiver_misbehaves_as_it_is_told(expected: list[int], behaviour: Behaviour) -> None:
    assert expected == statuses(behaviour, 3)


def test_a_receiver_can_be_slow() -> None:
    begun = time.monotonic()
    assert [200] == statuses(Behaviour(delay_s=0.4), 1)
    assert time.monotonic() - begun >= 0.4


def test_what_came_is_kept_and_told() -> None:
    told: list[Received] = []
    with Receiver(clock=lambda: NOON, on_received=told.append) as receiver:
        post(f"{receiver.url}hooks/alder?x=1")
    (received,) = receiver.received
    assert [received] == told
    assert "connection_refused" == post(receiver.url).error  # it has ended
    assert (1, NOON, "/hooks/alder", EVENT) == (
        received.number,
        received.at,
        received.path,
        received.body,
    )
    assert "application/json" == received.headers["Content-Type"]
    assert "redemption.completed" not in repr(received)


@pytest.mark.parametrize(
    ("faults", "status", "secrets"),
    [
        ([], 200, []),
        ([], 200, [SECRET]),
        ([], 200, ["whsec_old", SECRET]),
        (["v1_wrong", "v2_wrong"], 401, ["whsec_old"]),
    ],
)
def test_with_secrets_every_request_is_verified(
    faults: list[str], status: int, secrets: list[str]
) -> None:
    with Receiver(clock=real_clock, secrets=secrets) as receiver:
        outcome = post(receiver.url)
    assert (status, faults) == (outcome.http_status, receiver.received[0].faults)


@pytest.mark.parametrize(
    ("fault", "late_s"),
    [(None, 0), (None, 300), ("timestamp_too_old", 301), ("timestamp_in_future", -302)],
)
def test_a_request_of_another_time_is_refused(fault: str | None, late_s: int) -> None:
    def clock() -> datetime:
        return NOON + timedelta(seconds=late_s)

    def sign(_: int) -> dict[str, str]:
        return signature_headers(EVENT, SECRET, NOON_S)

    with Receiver(clock=clock, secrets=[SECRET]) as receiver:
        (outcome,) = send([delivery(receiver.url, sign=sign)], ONE_BY_ONE)
    assert [fault] * bool(fault) == receiver.received[0].faults
    assert (401 if fault else 200) == outcome.http_status


@pytest.mark.parametrize(
    ("status", "method", "size"), [(405, "GET", 0), (405, "PUT", 9), (413, "POST", 2_000_000)]
)
def test_what_is_no_webhook_is_refused(status: int, method: str, size: int) -> None:
    with Receiver(clock=real_clock) as receiver:
        place = urlsplit(receiver.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)
        connection.request(method, "/", body=b"x" * size)
        assert status == connection.getresponse().status
        connection.close()
    assert [] == receiver.received


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(NetworkFailure, match=str(port)), Receiver(clock=real_clock, port=port):
            pass


def test_a_receiver_does_not_wait_long_for_those_who_linger() -> None:
    with Receiver(clock=real_clock, behaviour=Behaviour(delay_s=60)) as receiver:
        outcome = post(receiver.url, deadline_s=0.2)
        place = urlsplit(receiver.url)
        lingering = socket.create_connection((place.hostname, place.port))
        begun = time.monotonic()
    lingering.close()
    assert "timeout" == outcome.error
    assert time.monotonic() - begun < 5


@slow
def test_who_comes_when_a_receiver_ends_is_not_forgotten() -> None:
    for _ in range(5):
        with Receiver(clock=real_clock) as receiver:
            place = urlsplit(receiver.url)
            late = socket.create_connection((place.hostname, place.port))
        late.close()
    with catch_warnings(record=True) as unclosed:
        simplefilter("always", ResourceWarning)
        gc.collect()
    assert [] == [str(warning.message) for warning in unclosed]
