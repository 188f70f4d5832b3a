"""The events of statements and their payments: who is sent them, once, and what they say."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from banks import NUMBER, camt
from cardoffers_cli.demo.help_commands import page_text
from cardoffers_cli.documents.closing import close_statement
from cardoffers_cli.events.receiver import Behaviour, Receiver
from cardoffers_cli.events.sending import resend
from cardoffers_cli.events.subscriptions import retry, set_webhook, show_event
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.events import EVENTS, read_events
from cardoffers_cli.kernel.words.signing import check_signature
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.storage.doctor import doctor, offending
from outbox import at, goes_to, list_events, sent
from paying import BACK, PAID, RUN_BY, exported, taken
from paying import payable as with_statement
from post import real_clock
from sizes import slow
from tables import put, select, uid
from work import found, new_store, once, settings, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

CLOSED, RETURNED = "statement.closed", "payout.returned"
BOTH = (CLOSED, RETURNED)
OUTBOX = "select kind, subject, state from outbox order by event_no"
LATER = {"allow_insecure_webhooks": True, "webhook_deadline_s": 2, **RUN_BY}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(clock=real_clock) as made:
        yield made


@once
def redeemed(folder: Path) -> Job:
    """Make a store of alder and brook, of which alder has redeemed in May."""
    made = new_store(folder)
    tell(made, institutions="institution\nalder\nbrook", merchants="merchant\nbakery")
    tell(made, offers="offer merchant cashback\nA bakery 2.50", links="institution offer\nalder A")
    with made.store() as store:
        put(store, "purchases", [{"institution": "alder", "ref": "a-1", "merchant": "bakery"}])
    match_purchases(made)
    return made


@pytest.fixture
def made(tmp_path: Path) -> Job:
    made = redeemed(tmp_path)
    return replace(made, now=made.now + timedelta(days=40), settings=settings(**LATER))


@pytest.fixture
def payable(tmp_path: Path) -> Job:
    """A store with a statement of GBP 1234.50, exported to be paid."""
    made = replace(with_statement(tmp_path), settings=settings(**LATER))
    exported(made)
    return made


def close(made: Job, period: str = "2026-05", **more: Any) -> Any:
    return close_statement(made, "alder", period, **more)


def audited(made: Job) -> list[str]:
    return [each.name for each in doctor(made, strict=True).audits if not each.ok]


def bodies(receiver: Receiver) -> list[Any]:
    return [json.loads(received.body) for received in receiver.received]


def wrong_events(made: Job) -> dict[str, int]:
    names = ("one_event_per_subject", "events_say_what_happened")
    with made.store() as store:
        return {name: rows for name in names if (rows := offending(store, name)[0])}


# What they say


def test_a_statement_that_is_closed_is_told_once_and_signed(made: Job, receiver: Receiver) -> None:
    secret = goes_to(made, receiver.url)
    set_webhook(made, "alder", events=BOTH)
    statement, again = close(made), close(made)
    assert statement == again
    assert [1, 1] == sent(made, "attempted", "delivered")
    assert [0] == sent(at(made, made.now + timedelta(days=1)), "attempted")
    (received,) = receiver.received
    ((id_,),) = found(made, "select subject_id from outbox where kind = 'statement.closed'")
    expected = (
        '{"event":"statement.closed"'
        f',"statement_id":"{id_}"'
        f',"institution_id":"{uid("alder")}"'
        ',"number":"ALDER-2026-000001"'
        ',"from":"2026-05-01T00:00:00.000Z","to":"2026-06-01T00:00:00.000Z"'
        ',"carried_in":0.00,"entries":0.00,"adjustments":0.00,"carried_out":0.00,"payable":0.00'
        ',"occurred_at":"2026-07-11T12:00:00.000Z","currency":"GBP"}'
    )
    assert expected == received.body.decode()
    now_s = int(received.at.replace(tzinfo=UTC).timestamp())
    assert secret is not None
    assert [] == check_signature(received.body, received.headers, [secret], now_s)
    assert [] == audited(made)


@slow
def test_a_payment_that_comes_back_is_told_once_whatever_says_so(
    payable: Job, receiver: Receiver
) -> None:
    secret = goes_to(payable, receiver.url)
    set_webhook(payable, "alder", events=[RETURNED])
    taken(payable, camt(PAID))
    assert [] == found(payable, OUTBOX)
    for content in (camt(PAID, BACK), camt(BACK), camt(BACK, kind="camt.054")):
        taken(payable, content)
    assert [(RETURNED, NUMBER, "due")] == found(payable, OUTBOX)
    assert [1, 1] == sent(payable, "attempted", "delivered")
    (received,) = receiver.received
    told = json.loads(received.body)
    names = ("event", "institution_id", "number", "payment_id", "amount", "currency", "from", "to")
    assert [
        *(RETURNED, str(uid("alder")), NUMBER, NUMBER, 1234.5, "GBP"),
        *("2026-05-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"),
    ] == [told[name] for name in names]
    assert '"amount":1234.50,' in received.body.decode()
    now_s = int(received.at.replace(tzinfo=UTC).timestamp())
    assert [] == check_signature(received.body, received.headers, [str(secret)], now_s)
    assert {} == wrong_events(payable)


@pytest.mark.parametrize("name", EVENTS)
def test_an_example_has_the_fields_that_are_described(name: str) -> None:
    kind = EVENTS[name]
    assert ["event", *kind.fields] == [*json.loads(kind.example)]
    assert name == json.loads(kind.example)["event"]


def test_the_page_of_webhooks_shows_an_example_as_it_is_sent() -> None:
    block = page_text("http").partition("```json")[2].partition("```")[0]
    assert EVENTS[CLOSED].example == "".join(line.strip() for line in block.splitlines())


# Who is sent them, and when


@slow
def test_a_dry_run_tells_nothing(payable: Job) -> None:
    set_webhook(payable, "alder", "https://example.com", events=BOTH)
    taken(payable, camt(PAID, BACK), dry_run=True)
    close(at(payable, payable.now + timedelta(days=40)), "2026-06", dry_run=True)
    set_webhook(payable, "alder", past="all", dry_run=True)
    assert [] == found(payable, OUTBOX)


@slow
def test_who_did_not_ask_is_not_told_of_what_was_before_unless_it_asks_for_all(
    made: Job, receiver: Receiver
) -> None:
    goes_to(made, receiver.url)
    sent(made)
    close(made)
    set_webhook(made, "alder", events=("completed", CLOSED))
    assert [0] == sent(made, "attempted")
    close(made, "2026-06")
    assert [1] == sent(made, "delivered")
    for past, events in (("now", 2), ("all", 3), ("all", 3)):
        set_webhook(made, "alder", past=past)
        sent(made)
        assert events == len(receiver.received)
    assert ["000002", "000001"] == [each["number"][-6:] for each in bodies(receiver)[1:]]
    assert [] == audited(made)


@slow
def test_who_wants_no_redemptions_any_more_is_told_of_none_but_has_their_events(
    made: Job, receiver: Receiver
) -> None:
    goes_to(made, receiver.url)
    set_webhook(made, "alder", events=[CLOSED])
    assert [0, 0] == sent(made, "attempted", "still_due")
    tell(made, purchases="ref merchant\na-2 bakery")
    match_purchases(made)
    set_webhook(made, "alder", events=["completed"])
    assert [1] == sent(made, "delivered")  # and not that of the time in which none were wanted
    set_webhook(made, "alder", past="all")
    assert [1] == sent(made, "delivered")
    assert [] == audited(made)


@pytest.mark.parametrize("words", [("completed", "statement"), (CLOSED, "reversed"), ("",), ()])
def test_what_cannot_be_wanted(made: Job, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="cannot be"):
        set_webhook(made, "alder", "https://example.com", events=words)


# How they fare


@slow
def test_they_fail_are_given_up_and_sent_again_by_the_number(made: Job) -> None:
    with Receiver(clock=real_clock, behaviour=Behaviour(status=500, fail=9)) as receiver:
        goes_to(made, receiver.url)
        set_webhook(made, "alder", events=BOTH)
        number = close(made).number
        for _ in range(9):
            assert [1] == sent(made, "attempted")
            made = at(made, made.now + timedelta(days=1))
        with made.store(read_only=True) as store:
            owner = find_institution(store, "alder").id
            (message,) = store.rows(
                "institutions/inbox:messages", institution_id=owner, unread_only=False
            )
            text = message["text"]
        assert f"The event of statement {number} was not delivered: attempt 9" in text
        assert f"cardoffers webhook retry {number}" in text
        assert 1 == retry(made, subjects=[number.lower()]).made_due
        assert [1] == sent(made, "delivered")
        resend(made, number, CLOSED)
        assert 1 == len({received.body for received in receiver.received})
    shown = show_event(made, "latest", CLOSED)
    assert (None, number, 11) == (shown.redemption_id, shown.subject, len(shown.log))
    assert shown == show_event(made, str(shown.subject_id), CLOSED)
    (row,) = list_events(made, event=CLOSED)
    assert (number, shown.subject_id, None) == (row.subject, row.subject_id, row.offer_id)
    with pytest.raises(NotFound, match=RETURNED):
        show_event(made, number, RETURNED)
    assert [] == audited(made)


# What is audited

WRONG = {
    "delete from outbox where kind = 'statement.closed'": {"one_event_per_subject": 1},
    "insert into outbox select * from outbox where kind = 'statement.closed'": {
        "one_event_per_subject": 1, "events_say_what_happened": 0},
    "delete from statements": {"one_event_per_subject": 1},
    "update statements set payable = payable + 1": {"events_say_what_happened": 1},
    "update outbox set body = replace(body, 'GBP', 'EUR')": {"events_say_what_happened": 2},
    "update outbox set subject = 'x' where subject is not null": {"events_say_what_happened": 1},
    "update outbox set moot_when = 'reversed' where moot_when is null": {
        "events_say_what_happened": 1},
}  # fmt: skip


@pytest.mark.parametrize("harm", WRONG)
def test_an_audit_finds_what_is_wrong_with_them(made: Job, harm: str) -> None:
    set_webhook(made, "alder", "https://example.com", events=BOTH)
    close(made)
    assert {} == wrong_events(made)
    with made.store() as store:
        select(store, harm)
    assert {name: rows for name, rows in WRONG[harm].items() if rows} == wrong_events(made)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("always = false", ""),
        ('what = "closed_statements"', ""),
        ('moot_when = "never"', 'moot_when = "sometimes"'),
        ('moot_when = "never"', 'moot_when = "never"\nneeds = "statement.opened"'),
        ('currency = "text: ISO 4217, of all amounts."', 'currency = "word"'),
        ("statement_id = ", "other_id = "),
        ('noun = "statement"', 'noun = "statement"\ncolour = "red"'),
    ],
)
def test_a_kind_that_is_told_by_half_is_refused(line: str, text: str) -> None:
    toml = files("cardoffers_cli.kernel.words").joinpath("events.toml").read_text("utf-8")
    assert line in toml
    before, kind, after = toml.partition("[statement.closed]")
    with pytest.raises(TypeError):
        read_events(before + kind + after.replace(line, text, 1))
