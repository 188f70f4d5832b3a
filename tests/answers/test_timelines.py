from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.answers.timelines import kind_of, timeline
from cardoffers_cli.river.decide import decide
from tables import NOON, given, select, uid
from work import job

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.answers.timelines import Timeline
    from cardoffers_cli.kernel.store.store import Store


@pytest.fixture
def matched(store: Store) -> Store:
    """A store with one purchase that redeemed and is held for two days."""
    given(store, "institutions", "institution hold_days\nalder 2\nbrook 0")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant\nA bakery")
    given(store, "links", "offer\nA")
    given(store, "purchases", "ref merchant\np bakery")
    decide(store, job())
    return store


def at(store: Store, ref: str, now: datetime) -> Timeline:
    """Return the timeline of a reference that is there."""
    kind = kind_of(store, uid("alder"), ref)
    assert kind == "ref"
    return timeline(store, uid("alder"), ref, kind, now, institution="alder")


def expected(store: Store, **later: int) -> list[tuple[Any, ...]]:
    now = NOON + timedelta(**later)
    told = at(store, "p", now).expected
    return [(each["event"], each["at"], each["overdue"], each["by"]) for each in told]


def test_what_is_expected_has_a_moment_and_the_command_that_brings_it(matched: Store) -> None:
    settles_at = NOON + timedelta(days=2)
    settle = "cardoffers settle"
    send = ("delivered", NOON, True, "cardoffers webhook send")
    assert [("settled", settles_at, False, settle), send] == expected(matched)
    assert [("settled", settles_at, True, settle), send] == expected(matched, days=2)


# what happened to the event, and how it may still arrive
SENT = [
    ("update outbox set state = 'delivered'", None),
    ("update outbox set state = 'failed'", "cardoffers webhook send"),
    ("update outbox set state = 'exhausted', next_attempt_at = null", "cardoffers webhook retry"),
    ("update outbox set is_held_back = true", None),
    ("update ledger_entries set status = 'reversed'", None),
]


@pytest.mark.parametrize(("sql", "by"), SENT)
def test_a_webhook_is_expected_until_it_is_delivered(
    matched: Store, sql: str, by: str | None
) -> None:
    select(matched, sql)
    assert ([] if by is None else [by]) == [
        each[3] for each in expected(matched) if each[0] == "delivered"
    ]


def test_a_ref_comes_before_an_id_and_others_have_neither(matched: Store) -> None:
    (found,) = select(matched, "select redemption_id, entry_id from redemptions, ledger_entries")
    alder, brook = uid("alder"), uid("brook")
    redemption, entry = map(str, found)
    assert ["ref", "redemption", "entry", None] == [
        kind_of(matched, alder, id_) for id_ in ("p", redemption, entry, "q")
    ]
    assert [None] * 3 == [kind_of(matched, brook, id_) for id_ in ("p", redemption, entry)]
    given(matched, "purchases", f"ref merchant\n{entry} bakery")
    assert "ref" == kind_of(matched, alder, entry)


def test_a_merchant_that_nobody_knows_is_told_by_its_identifier(matched: Store) -> None:
    given(matched, "identifiers", "identifier merchant\nM1 bakery\nM2 -")
    given(matched, "purchases", "ref merchant identifier\nq florist M1\nr florist M2")
    for ref, seller in (("q", "bakery"), ("r", "M2")):
        told = at(matched, ref, NOON)
        assert seller in told["events"][0]["detail"]


@pytest.mark.parametrize("version", [4, 8])
def test_an_id_that_nobody_has_leads_nowhere(matched: Store, version: int) -> None:
    assert kind_of(matched, uid("alder"), f"01234567-89ab-{version}def-a123-456789abcdef") is None
