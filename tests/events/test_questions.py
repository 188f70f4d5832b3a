"""How the events of institutions fare, counted from their attempts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.events.questions import EventHealth
from tables import NOON, given, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

EVENTS = """
    institution state     attempts took
    alder       delivered 1        10
    alder       delivered 1        20
    alder       delivered 2        30
    alder       delivered 9        400
    alder       due       0        -
    alder       failed    3        -
    alder       exhausted 9        -
    brook       due       0        -
"""


@pytest.fixture
def sent(store: Store) -> Store:
    given(store, "institutions", "institution\nalder\nbrook\ncrane")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant\nA bakery")
    for number, line in enumerate(EVENTS.strip().splitlines()[1:], 1):
        institution, state, attempts, took = line.split()
        given(store, "ledger", f"institution offer\n{institution} A")
        event = [number, uid(f"event {number}"), uid(institution), NOON, state, int(attempts)]
        store.connection.execute(
            "insert into outbox (event_no, kind, redemption_no, run_no, subject_id, institution_id,"
            " body, occurred_at, state, attempts, failures)"
            " values ($1, 'redemption.completed', $1, 1, $2, $3, '{}', $4, $5, $6, 0)",
            event,
        )
        if took != "-":
            store.connection.execute(
                "insert into attempts (event_no, institution_id, number, run_no, started_at,"
                " duration_ms, is_manual) values ($1, $2, $3, 1, $4, $5, false)",
                [number, uid(institution), int(attempts), NOON, int(took)],
            )
    return store


def seen(store: Store, institution: str | None = None, hours: int = 0) -> list[tuple[Any, ...]]:
    start = NOON + timedelta(hours=hours)
    owner = uid(institution) if institution else None
    window = {"from_at": start, "to_at": start + timedelta(hours=1)}
    rows = store.records(EventHealth, "events/questions:health", institution_id=owner, **window)
    return [tuple(row.values()) for row in rows]


ALDER = ("alder", 7, 4, 1, 1, 0, 1, 1, 9, 20, 400)
BROOK = ("brook", 1, 0, 1, 0, 0, 0, None, None, None, None)


def test_events_are_counted_by_state_and_by_what_they_took(sent: Store) -> None:
    assert [ALDER, BROOK] == seen(sent)


def test_an_institution_sees_its_own(sent: Store) -> None:
    assert [BROOK] == seen(sent, "brook")
    assert [] == seen(sent, "crane")


@pytest.mark.parametrize("hours", [-1, 1])
def test_events_of_another_time_do_not_count(sent: Store, hours: int) -> None:
    assert [] == seen(sent, hours=hours)


def test_what_is_held_back_is_stopped(sent: Store) -> None:
    of = {"institution_id": uid("brook"), "is_held_back": True}
    sent.execute("events/questions:hold_back", **of)
    assert [("brook", 1, 0, 0, 0, 1, 0, None, None, None, None)] == seen(sent, "brook")
