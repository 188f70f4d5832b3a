"""The event of a reversal: who is sent it, after what, what it says (rules.md#reversed-events)."""

from __future__ import annotations

import json
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.answers.timelines import tell_timeline
from cardoffers_cli.events.receiver import Behaviour, Receiver
from cardoffers_cli.events.sending import resend
from cardoffers_cli.events.subscriptions import retry, set_webhook, show_event
from cardoffers_cli.kernel.store.card_numbers import Mask, mask
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.signing import check_signature
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.refunds.linking import RefundLink, link_refund
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.storage import doctor
from outbox import at, events, goes_to, list_events, redemption, sent
from post import real_clock
from sizes import slow
from tables import select, uid
from work import found, new_store, once, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job

COMPLETED, REVERSED = "redemption.completed", "redemption.reversed"
BOTH = ("completed", "reversed")
OUTBOX = "select kind, state, attempts from outbox order by redemption_no, kind"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(clock=real_clock) as made:
        yield made


def wanting(folder: Path, url: str, count: int = 1) -> Job:
    """Make a store with events of an institution that wants both kinds."""
    made = events(folder, count)
    goes_to(made, url)
    set_webhook(made, "alder", events=BOTH)
    return made


def told(receiver: Receiver) -> list[str]:
    return [json.loads(received.body)["event"] for received in receiver.received]


def later(made: Job, **moved: int) -> Job:
    return at(made, made.now + timedelta(**moved))


# What it says


@slow
def test_the_bytes_are_those_of_the_rules_and_signed_as_all_are(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = events(tmp_path)
    secret = goes_to(made, receiver.url)
    set_webhook(made, "alder", events=BOTH)
    sent(made)
    reverse(redemption(made), 'brought "back" \\ ünder', later(made, minutes=1))
    assert [1, 1] == sent(later(made, minutes=1), "attempted", "delivered")
    received = receiver.received[-1]
    expected = (
        '{"event":"redemption.reversed"'
        f',"redemption_id":"{redemption(made)}"'
        f',"institution_id":"{uid("alder")}"'
        ',"offer_id":"A"'
        ',"cardholder_token_masked":"…"'
        ',"amount":2.50'
        ',"reason":"brought \\"back\\" \\\\ ünder"'
        ',"occurred_at":"2026-06-01T12:01:00.000Z"'
        ',"transaction_ref":"alder-0","currency":"GBP"}'
    )
    assert expected == received.body.decode()
    now_s = int(received.at.replace(tzinfo=UTC).timestamp())
    assert secret is not None
    assert [] == check_signature(received.body, received.headers, [secret], now_s)
    assert [] == found(made, "select 1 from outbox where kind = 'redemption.reversed'"
                       " and body like '%\"cardholder_token\":%'")  # fmt: skip


def test_completed_is_what_it_was_whoever_wants_reversals(tmp_path: Path) -> None:
    made = {name: events(tmp_path / name, 2) for name in ("one", "other")}
    goes_to(made["one"], "https://example.com")
    set_webhook(made["other"], "alder", "https://example.com", events=BOTH, past="all")
    said = "select body, occurred_at, next_attempt_at from outbox order by all"
    assert found(made["one"], said) == found(made["other"], said)


@slow
@pytest.mark.parametrize("event", [COMPLETED, REVERSED])
def test_a_card_number_that_somebody_wrote_is_masked_in_it(tmp_path: Path, event: str) -> None:
    made = wanting(tmp_path, "https://example.com")
    reason = 'of "4111111111111111"'
    reverse(redemption(made), reason, made)
    masks = [
        Mask(place=place, institution_id=of, text=reason, masked='of "4111…1111"')
        for place, of in (("ledger_entries.reversal_reason", uid("alder")),
                          ("ledger_moves.reason", None))
    ]  # fmt: skip
    with made.store() as store, store.transaction():
        mask(store, masks)
    ((body,),) = found(made, f"select body from outbox where kind = '{event}'")  # noqa: S608
    assert "4111111111111111" not in body
    assert json.loads(body).get("reason") == ('of "4111…1111"' if event == REVERSED else None)
    audits = {each["name"]: each["ok"] for each in doctor.doctor(made, strict=True)["audits"]}
    assert audits["events_say_what_happened"]


# Who is sent it


@slow
def test_nobody_is_sent_it_who_did_not_ask(tmp_path: Path, receiver: Receiver) -> None:
    made = events(tmp_path, 2)
    goes_to(made, receiver.url)
    sent(made)
    first, second = [id_ for (id_,) in found(made, "select redemption_id from redemptions")]
    reverse(str(first), "returned", made)
    assert 2 == len(found(made, OUTBOX))
    set_webhook(made, "alder", events=BOTH)
    assert [0] == sent(later(made, days=1), "attempted")  # what was reversed before is not sent
    reverse(str(second), "returned", made)
    assert [1] == sent(later(made, days=1), "delivered")
    assert [COMPLETED, COMPLETED, REVERSED] == told(receiver)


@slow
def test_who_wants_it_no_more_is_not_sent_what_waits_until_it_wants_it_again(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = wanting(tmp_path, receiver.url)
    sent(made)
    reverse(redemption(made), "returned", made)
    set_webhook(made, "alder", events=["completed"])
    assert [0, 0] == sent(made, "attempted", "still_due")
    assert "stopped" == show_event(made, redemption(made), REVERSED).state
    assert 0 == retry(made, institution="alder").made_due
    set_webhook(made, "alder", events=BOTH)
    assert [1] == sent(made, "delivered")


@slow
def test_each_institution_says_for_itself(tmp_path: Path) -> None:
    made = events(tmp_path, 1, ["alder", "brook"])
    set_webhook(made, "alder", "https://example.com", events=BOTH)
    for (id_,) in found(made, "select redemption_id from redemptions"):
        reverse(str(id_), "returned", made)
    assert ["alder"] == [row.institution for row in list_events(made, event=REVERSED)]
    assert 2 == len(list_events(made, event=COMPLETED))


UNWANTED = [(), ("reversed",), ("completed", "undone"), ("",)]


@pytest.mark.parametrize("wanted", UNWANTED)
def test_only_known_events_can_be_wanted_and_completed_always(
    tmp_path: Path, wanted: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError):
        set_webhook(events(tmp_path), "alder", "https://example.com", events=wanted)


@slow
def test_what_is_wanted_is_kept_and_logged(tmp_path: Path) -> None:
    made = events(tmp_path)
    with pytest.raises(UsageError, match="has no webhook yet"):
        set_webhook(made, "alder", events=BOTH)
    set_webhook(made, "alder", "https://example.com", events=("reversed", "completed"))
    again = set_webhook(made, "alder", events=BOTH)
    assert (BOTH, False, "https://example.com") == (again.events, again.changed, again.webhook_url)
    dry = set_webhook(made, "alder", events=["completed"], dry_run=True)
    assert (("completed",), True) == (dry.events, dry.changed)
    assert ("completed", "reversed") == set_webhook(made, "alder", "https://example.com/2").events
    logged = "select old_value, new_value from audit_log where field = 'webhook_events'"
    assert [("completed", "completed,reversed")] == found(made, logged)
    logged = "select details from acts where kind = 'webhook_set' order by act_no limit 1"
    ((details,),) = found(made, logged)
    assert ["completed", "reversed"] == json.loads(details)["events"]


# By whom it was reversed


@once
def with_refunds(folder: Path) -> Job:
    """Make a store with three redemptions, and refunds: of all, of a part, without a reference."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery",
        identifiers="identifier merchant\nM1 bakery",
        offers="offer merchant min_spend cashback\nA bakery 10.00 2.50",
        links="cardholder offer\nann A",
        purchases="""
        ref  cardholder  identifier  amount  at
        p1   ann         M1          20.00   2026-06-01T12:00:00Z
        p2   ann         M1          25.00   2026-06-01T13:00:00Z
        p3   ann         M1          25.00   2026-06-01T14:00:00Z
        """,
        refunds="""
        ref   original  cardholder  identifier  amount  at
        all   p1        ann         M1          20.00   2026-06-02T12:00:00Z
        part  p2        ann         M1          1.00    2026-06-02T12:00:00Z
        none  -         ann         M1          25.00   2026-06-02T12:00:00Z
        """,
    )
    match_purchases(made)
    set_webhook(made, "alder", "https://example.com", events=BOTH)
    return made


REFS = """
select transaction_ref, json_extract_string(body, '$.reason'), occurred_at
from outbox join redemption_facts using (redemption_no)
where kind = 'redemption.reversed' order by all
"""


@slow
def test_a_refund_tells_as_a_person_does(tmp_path: Path) -> None:
    made = with_refunds(tmp_path)
    after = later(made, days=2)
    apply_refunds(after, dry_run=True)
    assert [] == found(made, REFS)
    apply_refunds(after)
    apply_refunds(later(after, days=1))
    assert [("p1", "refunded", after.now)] == found(made, REFS)
    link_refund(after, "alder", RefundLink(refund_ref="none", transaction_ref="p3", reason="till"))
    ((id_,),) = found(
        made,
        "select redemption_id from redemption_facts where transaction_ref = 'p2'",
    )
    reverse(str(id_), "wrong shop", after, dry_run=True)
    reverse(str(id_), "wrong shop", after)
    expected = [("p1", "refunded"), ("p2", "wrong shop"), ("p3", "refunded")]
    assert expected == [row[:2] for row in found(made, REFS)]
    assert doctor.doctor(made, strict=True)["ok"]


# After what: how far the first event was -> the reversal's state, and what the receiver hears then.
ORDER = [
    ("update outbox set state = 'due'", "stopped", []),
    ("update outbox set is_held_back = true", "stopped", []),
    ("update outbox set claimed_at = now()", "stopped", []),
    ("update outbox set attempts = 1, claimed_at = now()", "stopped", []),
    ("update outbox set attempts = 1, state = 'failed'", "due", [REVERSED]),
    ("update outbox set attempts = 1, state = 'delivered', next_attempt_at = null", "due",
     [REVERSED]),
    ("update outbox set attempts = 9, failures = 9, state = 'exhausted', next_attempt_at = null",
     "due", [REVERSED]),
]  # fmt: skip


@slow
@pytest.mark.parametrize(("before", "state", "heard"), ORDER)
def test_a_reversal_never_comes_before_its_redemption(
    tmp_path: Path, receiver: Receiver, before: str, state: str, heard: list[str]
) -> None:
    made = wanting(tmp_path, receiver.url)
    with made.store() as store:
        select(store, before)
    reverse(redemption(made), "returned", made)
    assert state == show_event(made, redemption(made), REVERSED).state
    with made.store() as store:
        select(store, "update outbox set claimed_at = null")
    if "claimed" not in before:
        sent(made)
        assert heard == told(receiver)


def test_what_a_crash_cut_off_may_have_arrived_and_is_taken_back(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = wanting(tmp_path, receiver.url)
    with made.store() as store:
        select(store, "update outbox set claimed_at = now(), is_claimed_manually = false")
    reverse(redemption(made), "returned", made)
    assert [1] == sent(made, "delivered")
    assert [REVERSED] == told(receiver)
    assert [(COMPLETED, "due", 1), (REVERSED, "delivered", 1)] == found(made, OUTBOX)


@slow
def test_of_what_was_never_sent_nothing_is_taken_back_unless_it_is_sent(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = wanting(tmp_path, receiver.url)
    reverse(redemption(made), "returned", made)
    assert [0, 0, None] == sent(made, "attempted", "still_due", "next_attempt_at")
    with pytest.raises(Refused, match="nothing to take back") as refused:
        resend(made, redemption(made), REVERSED)
    assert "not_announced" == refused.value.code
    resend(made, redemption(made))
    assert [1] == sent(made, "delivered")
    with made.store() as store:  # as where somebody sends it once more meanwhile
        select(store, "update outbox set claimed_at = now() where kind like '%.completed'")
    reversal = "select state, moot_because from deliveries where kind like '%.reversed'"
    assert [("delivered", None)] == found(made, reversal)
    assert [COMPLETED, REVERSED] == told(receiver)


@slow
def test_held_back_it_is_sent_when_somebody_says_so(tmp_path: Path, receiver: Receiver) -> None:
    made = wanting(tmp_path, receiver.url)
    sent(made)
    reverse(redemption(made), "returned", made)
    assert 1 == set_webhook(made, "alder", past="now").past_events
    assert [0] == sent(made, "attempted")
    assert 1 == set_webhook(made, "alder", past="all").past_events
    assert [1] == sent(made, "delivered")


# How it fares


@slow
def test_it_fails_and_is_given_up_and_tried_again_apart_from_the_first(tmp_path: Path) -> None:
    with Receiver(clock=real_clock, behaviour=Behaviour(status=500, fail=18)) as receiver:
        made = wanting(tmp_path, receiver.url)
        for _ in range(9):
            assert [1] == sent(made, "attempted")
            made = later(made, days=1)
        reverse(redemption(made), "returned", made)
        for _ in range(9):
            assert [1] == sent(made, "attempted")
            made = later(made, days=1)
        assert [COMPLETED] * 9 + [REVERSED] * 9 == told(receiver)
        assert [(COMPLETED, "exhausted", 9), (REVERSED, "exhausted", 9)] == found(made, OUTBOX)
        assert 1 == retry(made, subjects=[redemption(made)]).made_due
        assert [1] == sent(made, "delivered")
    with made.store(read_only=True) as store:
        owner = find_institution(store, "alder").id
        messages = "institutions/inbox:messages"
        rows = store.rows(messages, institution_id=owner, unread_only=False)
        texts = [row["text"] for row in rows]
    assert ["The event of the reversal", "The event of redemption"] == [
        " ".join(text.split()[: 5 if "reversal" in text else 4]) for text in texts
    ]
    log = show_event(made, redemption(made), REVERSED).log
    assert [*range(1, 11)] == [attempt.number for attempt in log]
    assert 9 == len(show_event(made, redemption(made)).log)
    assert [] == [each["name"] for each in doctor.doctor(made, strict=True)["audits"]
                  if not each["ok"]]  # fmt: skip


@slow
def test_the_two_events_of_a_redemption_are_told_apart_wherever_they_are_seen(
    tmp_path: Path, receiver: Receiver
) -> None:
    made = wanting(tmp_path, receiver.url)
    sent(made)
    assert None is show_event(made, redemption(made)).other_event
    with pytest.raises(NotFound, match=REVERSED):
        show_event(made, redemption(made), REVERSED)
    made = later(made, hours=1)
    reverse(redemption(made), "returned", made)
    due = [(row.event, row.state, row.attempts) for row in list_events(made)]
    assert [(REVERSED, "due", 0), (COMPLETED, "delivered", 1)] == due
    first = show_event(made, redemption(made))
    assert (COMPLETED, REVERSED, 1) == (first.event, first.other_event, len(first.log))
    told_by = tell_timeline(redemption(made), "alder", made)
    assert [("delivered", "cardoffers webhook send")] == [
        (each.event, each.by) for each in told_by.expected if "webhook" in each.by
    ]
    sent(made)
    resend(made, redemption(made), REVERSED)
    happened = [each.event for each in tell_timeline(redemption(made), "alder", made).events]
    assert ["delivered", "reversed", *["reversal delivered"] * 2] == [
        each for each in happened if each in ("delivered", "reversal delivered", "reversed")
    ]
    second = show_event(made, redemption(made), REVERSED)
    assert (REVERSED, COMPLETED, [False, True]) == (
        second.event, second.other_event, [attempt.manual for attempt in second.log],
    )  # fmt: skip
    assert second.headers is not None
    assert second.headers.items() <= receiver.received[-1].headers.items()


@slow
def test_many_reversals_each_follow_their_own_redemption(
    tmp_path: Path, receiver: Receiver
) -> None:
    """What is due in one run: redemptions that are not reversed, and reversals of those told."""
    made = wanting(tmp_path, receiver.url, 6)
    sent(made)
    for (id_,) in found(made, "select redemption_id from redemptions limit 4"):
        reverse(str(id_), "returned", made)
    assert [4, 4, 0] == sent(made, "attempted", "delivered", "still_due")
    ids = [json.loads(received.body)["redemption_id"] for received in receiver.received]
    events_of = {id_: [told(receiver)[at_] for at_, each in enumerate(ids) if each == id_]
                 for id_ in ids}  # fmt: skip
    assert {(COMPLETED,), (COMPLETED, REVERSED)} == {tuple(each) for each in events_of.values()}
