"""Events delivered to real sockets: the schedule, its end, what receivers may ask for."""

from __future__ import annotations

import json
import threading
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.events.deliver import DELAYS_S
from cardoffers_cli.events.receiver import Behaviour, Received, Receiver
from cardoffers_cli.events.sending import resend, send
from cardoffers_cli.events.subscriptions import past_events, retry, rotate_secret, set_webhook
from cardoffers_cli.kernel.store.clock import Clock, Watch
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.lock import sender_lock
from cardoffers_cli.kernel.words.errors import NotFound, Refused, StoreBusy
from cardoffers_cli.kernel.words.signing import TIMESTAMP, check_signature, signature_headers
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.redemptions import reverse
from outbox import Standing, at, event, events, goes_to, list_events, redemption, sent
from post import real_clock
from sizes import at_the_gate, one_in, slow
from strangers import listening, status
from tables import NOON, put
from work import found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

COUNTS = ("attempted", "delivered", "failed", "exhausted")
A_MILLISECOND = timedelta(milliseconds=1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(clock=real_clock) as made:
        yield made


def failing(fail: int = 0, status: int = 500) -> Receiver:
    return Receiver(clock=real_clock, behaviour=Behaviour(status=status, fail=fail))


def alerts(made: Job, institution: str = "alder") -> list[str]:
    with made.store(read_only=True) as store:
        owner = find_institution(store, institution)
        messages = "institutions/inbox:messages"
        rows = store.rows(messages, institution_id=owner.id, unread_only=False)
        return [row["kind"] for row in rows]


def attempt_all(made: Job) -> list[dict[str, Any]]:
    """Go through the schedule of the first event, and return its log."""
    send(made, wait=True, watch=Watch(clock=Standing(made.now)))
    return list(event(made)["log"])


def bodies(receiver: Receiver) -> list[bytes]:
    return [received.body for received in receiver.received]


# What arrives


def test_an_event_arrives_as_it_was_written_and_signed(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path)
    secret = goes_to(made, receiver.url)
    assert secret is not None
    assert [1, 1, 0, 0] == sent(made, *COUNTS)
    ((body,),) = found(made, "select body from outbox")
    (received,) = receiver.received
    assert body.encode() == received.body
    now_s = int(received.at.replace(tzinfo=UTC).timestamp())
    assert [] == check_signature(received.body, received.headers, [secret], now_s)
    assert "application/json" == received.headers["Content-Type"]


def test_every_attempt_sends_the_same_bytes_signed_anew(tmp_path: Path) -> None:
    made = events(tmp_path)
    with failing(fail=2) as receiver:
        secret = goes_to(made, receiver.url)
        log = attempt_all(made)
    assert secret is not None
    assert [500, 500, 200] == [attempt["http_status"] for attempt in log]
    assert 1 == len(set(bodies(receiver)))
    for received in receiver.received:
        signed_at = int(received.headers[TIMESTAMP])
        assert [] == check_signature(received.body, received.headers, [secret], signed_at)


def test_the_headers_shown_are_those_that_arrived(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path)
    goes_to(made, receiver.url)
    sent(made)
    shown = event(made)["headers"]
    (received,) = receiver.received
    assert shown == {name: received.headers[name] for name in shown}
    assert set(shown) == set(signature_headers(b"", "", 0))


def test_what_is_delivered_is_not_sent_again(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 3)
    goes_to(made, receiver.url)
    assert [3] == sent(made, "delivered")
    assert [0, 0, None] == sent(made, "attempted", "still_due", "next_attempt_at")
    assert 3 == len(set(bodies(receiver)))


@slow
def test_each_institution_hears_of_its_own_only(tmp_path: Path) -> None:
    made = events(tmp_path, 2, ["alder", "brook"])
    with Receiver(clock=real_clock) as one, Receiver(clock=real_clock) as other:
        goes_to(made, one.url, "alder")
        goes_to(made, other.url, "brook")
        assert [4] == sent(made, "delivered")
    for name, receiver in (("alder", one), ("brook", other)):
        ((id_,),) = found(made, f"select institution_id from institutions where slug = '{name}'")  # noqa: S608
        assert {str(id_)} == {json.loads(body)["institution_id"] for body in bodies(receiver)}


# The schedule


@slow
def test_a_failure_is_tried_again_eight_times_and_no_more(tmp_path: Path) -> None:
    made = events(tmp_path)
    with failing() as receiver:
        goes_to(made, receiver.url)
        log = attempt_all(made)
        assert [0] == sent(at(made, NOON + timedelta(days=365)), "attempted")
    assert [*range(1, 10)] == [attempt["number"] for attempt in log]
    assert [(500, "http_error")] * 9 == [(row["http_status"], row["error"]) for row in log]
    assert ("exhausted", 9, None) == tuple(
        event(made)[name] for name in ("state", "attempts", "next_attempt_at")
    )


@at_the_gate
def test_each_delay_is_the_scheduled_one_and_its_jitter_from_the_end_of_the_attempt(
    tmp_path: Path,
) -> None:
    made = events(tmp_path)
    with failing() as receiver:
        goes_to(made, receiver.url)
        sent(made)
        while moment := event(made)["next_attempt_at"]:
            assert [0] == sent(at(made, moment - A_MILLISECOND), "attempted")
            assert [1] == sent(at(made, moment), "attempted")
    log = event(made)["log"]
    for row, after, delay_s in zip(log[:-1], log[1:], DELAYS_S, strict=True):
        assert abs(row["delay_ms"] - delay_s * 1000) <= delay_s * 100
        ended_at = row["started_at"] + timedelta(milliseconds=row["duration_ms"])
        assert ended_at + timedelta(milliseconds=row["delay_ms"]) == row["next_attempt_at"]
        assert after["started_at"] == row["next_attempt_at"]
    assert (None, None) == (log[-1]["delay_ms"], log[-1]["next_attempt_at"])


@slow
def test_jitter_is_drawn_for_each_event_and_then_kept(tmp_path: Path) -> None:
    made = events(tmp_path, 40)
    with failing() as receiver:
        goes_to(made, receiver.url)
        sent(made)
    delays = "select delay_ms from attempts order by redemption_no"
    drawn = [delay for (delay,) in found(made, delays)]
    assert len(set(drawn)) > 20
    assert drawn == [delay for (delay,) in found(made, delays)]


@slow
@pytest.mark.parametrize("failures", [1, 5, 8])
@one_in(3)
def test_a_success_ends_the_schedule(tmp_path: Path, failures: int) -> None:
    made = events(tmp_path)
    with failing(fail=failures) as receiver:
        goes_to(made, receiver.url)
        log = attempt_all(made)
    assert ["http_error"] * failures + [None] == [row["error"] for row in log]
    assert "delivered" == event(made)["state"]
    assert [] == alerts(made)


@slow
@pytest.mark.parametrize(
    ("code", "headers", "least_s", "most_s"),
    [
        (503, ["Retry-After: 45"], 45, 45),
        (429, ["Retry-After: 45"], 45, 45),
        (503, ["Retry-After: 5"], 27, 33),
        (503, ["Retry-After: 999999999999"], 54, 66),
        (503, ["Retry-After: -45"], 27, 33),
        (503, ["Retry-After: soon"], 27, 33),
        (503, ["Retry-After: Fri, 01 Jan 2100 00:00:00 GMT"], 54, 66),
        (503, ["Retry-After: Thu, 01 Jan 1970 00:00:00 GMT"], 27, 33),
        (503, [], 27, 33),
        (500, ["Retry-After: 45"], 27, 33),
        (302, ["Retry-After: 45", "Location: /"], 27, 33),
    ],
)
@one_in(3)
def test_a_receiver_may_ask_for_time(
    tmp_path: Path, code: int, headers: list[str], least_s: int, most_s: int
) -> None:
    made = events(tmp_path)
    with listening(status(code, *headers)) as (port,):
        goes_to(made, f"http://127.0.0.1:{port}/")
        assert [1] == sent(made, "failed")
    ((delay_ms,),) = found(made, "select delay_ms from attempts")
    assert least_s * 1000 <= delay_ms <= most_s * 1000


@pytest.mark.parametrize("code", [200, 201, 204, 299])
@one_in(4)
def test_any_2xx_delivers(tmp_path: Path, code: int) -> None:
    made = events(tmp_path)
    with listening(status(code)) as (port,):
        goes_to(made, f"http://127.0.0.1:{port}/")
        assert [1, 0] == sent(made, "delivered", "failed")


# The end


@at_the_gate
def test_exhaustion_is_told_once_however_often_one_looks(tmp_path: Path) -> None:
    made = events(tmp_path, 2)
    with failing() as receiver:
        goes_to(made, receiver.url)
        attempt_all(made)
        assert {"exhausted"} == {row["state"] for row in list_events(made)}
        for days in range(1, 4):
            assert [0] == sent(at(made, NOON + timedelta(days=days)), "attempted")
    assert ["webhook_exhausted"] * 2 == alerts(made)


@at_the_gate
def test_a_retry_begins_the_schedule_again_and_ends_in_an_alert_of_its_own(tmp_path: Path) -> None:
    made = events(tmp_path)
    with failing() as receiver:
        goes_to(made, receiver.url)
        attempt_all(made)
        later = at(made, NOON + timedelta(days=1))
        assert 1 == retry(later)["made_due"]
        assert 18 == len(attempt_all(made))
    assert ["webhook_exhausted"] * 2 == alerts(made)


@slow
@pytest.mark.parametrize(
    ("expected", "filters"),
    [
        (3, {}),
        (2, {"institution": "alder"}),
        (3, {"since": NOON}),
        (0, {"since": NOON + timedelta(days=1)}),
    ],
)
@one_in(2)
def test_a_retry_takes_what_is_chosen(
    tmp_path: Path, expected: int, filters: dict[str, Any]
) -> None:
    made = events(tmp_path, 2, ["alder", "brook"])
    with failing(fail=3, status=500) as receiver:
        for name in ("alder", "brook"):
            goes_to(made, receiver.url, name)
        assert [1, 3] == sent(at(made, NOON + timedelta(hours=1)), "delivered", "failed")
    failed = [row["institution"] for row in list_events(made, state="failed")]
    expected = failed.count("alder") if "institution" in filters else expected
    assert expected == retry(made, **filters, dry_run=True)["made_due"]
    assert 3 == len(list_events(made, state="failed"))
    assert expected == retry(made, **filters)["made_due"]
    assert expected == len(list_events(made, state="due"))
    assert 0 == retry(made, **filters)["made_due"]


@slow
def test_a_receiver_that_answers_410_is_tried_again_like_any_other(tmp_path: Path) -> None:
    made = events(tmp_path, 3, ["alder", "brook"], webhook_at_once_per_institution=1)
    with failing(status=410) as gone, Receiver(clock=real_clock) as well:
        goes_to(made, gone.url, "alder")
        goes_to(made, well.url, "brook")
        assert [3, 3, []] == sent(made, "failed", "delivered", "held")
        assert {"failed"} == {row["state"] for row in list_events(made, institution="alder")}
        goes_to(made, well.url, "alder")
        assert [3] == sent(at(made, NOON + timedelta(days=1)), "delivered")
    assert 3 == len(gone.received)
    assert [] == alerts(made)


@at_the_gate
def test_410_to_the_end_is_as_many_attempts_and_one_alert(tmp_path: Path) -> None:
    made = events(tmp_path, 1)
    with failing(status=410) as gone:
        goes_to(made, gone.url)
        log = attempt_all(made)
    assert [(410, "http_error")] * 9 == [(each["http_status"], each["error"]) for each in log]
    assert ["webhook_exhausted"] == alerts(made)


def test_what_was_reversed_before_it_arrived_is_not_sent(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = events(tmp_path, 2)
    goes_to(made, receiver.url)
    reverse(redemption(made), "returned", made)
    assert [1, []] == sent(made, "attempted", "held")
    assert "stopped" == event(made)["state"]


# Who has nowhere to go


@slow
@pytest.mark.parametrize(("past", "delivered"), [(None, 0), ("now", 0), ("all", 2)])
@one_in(2)
def test_a_first_webhook_is_told_what_becomes_of_events_from_before(
    tmp_path: Path, receiver: Receiver, past: str | None, delivered: int
) -> None:
    made = events(tmp_path, 3)
    reverse(redemption(made), "returned", made)
    assert 2 == past_events(made, "alder")
    told = set_webhook(made, "alder", receiver.url, past=past)
    assert (2, past or "now") == (told["past_events"], told["from"])
    assert [delivered, 0, []] == sent(made, "delivered", "still_due", "held")
    with made.store() as store:
        put(store, "purchases", [{"ref": "later", "merchant": "bakery"}])
    match_purchases(made)
    assert [1, 0] == sent(made, "delivered", "still_due")
    assert 0 == past_events(made, "alder")  # it is asked the first time only


@slow
def test_what_is_held_back_stays_so_until_something_else_is_said(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = events(tmp_path, 2)
    set_webhook(made, "alder", receiver.url, past="all", dry_run=True)
    set_webhook(made, "alder", receiver.url)
    assert None is set_webhook(made, "alder", f"{receiver.url}2")["from"]
    assert [0] == sent(made, "delivered")
    assert {"stopped"} == {row["state"] for row in list_events(made)}
    with pytest.raises(Refused) as caught:
        retry(made, subjects=[redemption(made)])
    assert "not_failed" == caught.value.code
    assert "delivered" == resend(made, redemption(made))["state"]
    assert 1 == set_webhook(made, "alder", receiver.url, past="all")["past_events"]
    assert [1] == sent(made, "delivered")


@at_the_gate
def test_one_that_failed_and_is_tried_again_by_hand_is_held_back_no_more(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = events(tmp_path, 1)
    with failing() as broken:
        goes_to(made, broken.url)
        attempt_all(made)
    set_webhook(made, "alder", receiver.url, past="now")
    retry(made, subjects=[redemption(made)])
    assert [1] == sent(made, "delivered")


@slow
def test_events_wait_for_a_webhook(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 2)
    held = [{"institution": "alder", "reason": "no_url", "events": 2}]
    assert [0, 0, held] == sent(made, "attempted", "still_due", "held")
    goes_to(made, receiver.url)
    assert [2, []] == sent(made, "delivered", "held")


@slow
def test_a_url_from_the_catalogue_waits_for_its_secret(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path)
    with made.store() as store:
        store.connection.execute("update institutions set webhook_url = $1", [receiver.url])
    held = [{"institution": "alder", "reason": "no_secret", "events": 1}]
    assert [0, held] == sent(made, "attempted", "held")
    goes_to(made, receiver.url)
    assert [1, []] == sent(made, "delivered", "held")


# By hand


@slow
def test_resending_adds_a_marked_attempt_and_touches_nothing_else(tmp_path: Path) -> None:
    made = events(tmp_path)
    with failing(fail=2) as receiver:
        goes_to(made, receiver.url)
        sent(made)
        before = event(made)
        after = resend(made, redemption(made))
        assert [False, True] == [row["manual"] for row in after["log"]]
        kept = ("state", "next_attempt_at")
        assert [before[name] for name in kept] == [after[name] for name in kept]
        assert ["http_error"] * 2 == [row["error"] for row in after["log"]]
        assert "delivered" == resend(made, redemption(made))["state"]
        with listening(status(500)) as (port,):
            goes_to(made, f"http://127.0.0.1:{port}/")
            assert "delivered" == resend(made, redemption(made))["state"]
    assert [] == alerts(made)
    assert [1, 2, 3, 4] == [row["number"] for row in event(made)["log"]]


@at_the_gate
def test_resending_what_is_exhausted_alerts_nobody_again(tmp_path: Path) -> None:
    made = events(tmp_path)
    with failing() as receiver:
        goes_to(made, receiver.url)
        attempt_all(made)
        assert "exhausted" == resend(made, redemption(made))["state"]
    assert ["webhook_exhausted"] == alerts(made)


@pytest.mark.parametrize("id_", ["00000000-0000-4000-8000-000000000000", "no-id", ""])
@one_in(3)
def test_an_unknown_redemption_is_not_found(tmp_path: Path, id_: str) -> None:
    made = events(tmp_path)
    for act in (lambda: resend(made, id_), lambda: retry(made, subjects=[id_])):
        with pytest.raises(NotFound) as caught:
            act()
        assert "redemption_not_found" == caught.value.code


def test_nothing_is_resent_to_nowhere(tmp_path: Path) -> None:
    made = events(tmp_path)
    with pytest.raises(Refused) as caught:
        resend(made, redemption(made))
    assert "webhook_missing" == caught.value.code


def test_only_what_failed_is_retried(tmp_path: Path) -> None:
    made = events(tmp_path)
    with pytest.raises(Refused) as caught:
        retry(made, subjects=[redemption(made)])
    assert "not_failed" == caught.value.code


# Secrets


def signer(got: Received, *secrets: str | None) -> str | None:
    """Return which of the secrets signed what was received."""
    now_s = int(got.headers[TIMESTAMP])
    fits = [
        each
        for each in secrets
        if each and not check_signature(got.body, got.headers, [each], now_s)
    ]
    return fits[0] if len(fits) == 1 else None


@slow
def test_until_it_is_active_a_new_secret_does_not_sign(tmp_path: Path) -> None:
    made = events(tmp_path)
    switch = NOON + timedelta(hours=2)
    with failing() as receiver:
        old = goes_to(made, receiver.url)
        new = rotate_secret(made, "alder", activate_at=switch)["signing_secret"]
        for moment in (NOON, switch - A_MILLISECOND, switch + timedelta(hours=1)):
            sent(at(made, moment))
    signers = [signer(got, old, new) for got in receiver.received]
    assert [old, old, new] == signers


# Interruptions


def test_only_one_sends(tmp_path: Path) -> None:
    made = events(tmp_path)
    with sender_lock(made.path):
        for act in (lambda: send(made), lambda: resend(made, redemption(made))):
            with pytest.raises(StoreBusy) as caught:
                act()
            assert "sender_busy" == caught.value.code


def test_a_claim_left_behind_is_unknown_and_sent_again(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 2)
    goes_to(made, receiver.url)
    with made.store() as store:
        store.connection.execute(
            "update outbox set claimed_at = $1, is_claimed_manually = false"
            " where redemption_no = 1",
            [NOON],
        )
    assert [2, 2, 1] == sent(made, "attempted", "delivered", "unknown")
    log = event(made)["log"]
    assert [("unknown", NOON, None), (None, log[1]["started_at"], 200)] == [
        (row["error"], row["started_at"], row["http_status"]) for row in log
    ]


@slow
def test_invoice_changes_to_stop_it_finishes_what_is_in_flight_and_leaves_the_rest(
    tmp_path: Path,
) -> None:
    made = events(tmp_path, 30)
    watch = Watch(clock=Clock(made.now))

    def stop(_: object) -> None:
        watch.stop.set()

    slow = Behaviour(delay_s=0.2)
    with Receiver(clock=real_clock, behaviour=slow, on_received=stop) as receiver:
        goes_to(made, receiver.url)
        report = send(made, watch=watch)
    assert report["attempted"] == report["delivered"] == len(receiver.received)
    assert 1 <= report["delivered"] <= made.settings.webhook_at_once_per_institution
    assert [(30 - report["delivered"],)] == found(
        made, "select count(*) from outbox where state = 'due' and claimed_at is null"
    )
    assert [(report["delivered"],)] == found(made, "select count(*) from attempts")


@slow
def test_waiting_goes_through_the_schedule(tmp_path: Path) -> None:
    made, clock = events(tmp_path), Standing(NOON)
    with failing(fail=4) as receiver:
        goes_to(made, receiver.url)
        report = send(made, wait=True, watch=Watch(clock=clock))
    assert (5, 1, 4, 0) == tuple(report[name] for name in COUNTS)
    log = event(made)["log"]
    assert clock.waited_for == [row["next_attempt_at"] for row in log[:-1]]


def test_who_waits_for_the_schedule_can_be_told_to_stop(tmp_path: Path) -> None:
    made, stop = events(tmp_path), threading.Event()

    def stop_after_the_first(counts: Mapping[str, int], _due: int) -> None:
        if counts["failed"]:
            stop.set()

    watch = Watch(clock=Clock(made.now), stop=stop, tell=stop_after_the_first)
    with failing() as receiver:
        goes_to(made, receiver.url)
        report = send(made, wait=True, watch=watch)
    assert (1, 1) == (report["failed"], report["still_due"])


def test_counts_are_told_while_it_sends(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 3)
    goes_to(made, receiver.url)
    told = []
    tell = lambda counts, due: told.append((counts["delivered"], due))  # noqa: E731
    send(made, watch=Watch(clock=Clock(made.now), tell=tell))
    assert (3, 3) == told[-1]


def test_a_dry_run_sends_nothing(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 3)
    goes_to(made, receiver.url)
    report = send(made, dry_run=True)
    assert (3, 0, 3, True) == tuple(
        report[name] for name in ("attempted", "delivered", "still_due", "dry_run")
    )
    assert [] == receiver.received


@slow
def test_a_slow_receiver_does_not_hold_up_the_others(tmp_path: Path) -> None:
    made = events(tmp_path, 100, ["alder", "brook"], webhook_at_once_per_institution=2)
    watch = Watch(clock=Clock(made.now))

    def enough(received: Received) -> None:
        if received.number == 100:
            watch.stop.set()

    with (
        Receiver(clock=real_clock, behaviour=Behaviour(delay_s=30)) as slow,
        Receiver(clock=real_clock, on_received=enough) as quick,
    ):
        goes_to(made, slow.url, "alder")
        goes_to(made, quick.url, "brook")
        report = send(made, watch=watch)
    assert 100 == report["delivered"]
    assert report["failed"] < 50
