"""Who earns strangely: each rule just below its bound, and at it; found once, without a token."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.watch.questions import (
    find_abuse,
    list_watch_findings,
    record_findings,
)
from tables import NOON, given, uid
from work import fresh_store, next_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

ALDER = uid("alder")


def keep_look(store: Store) -> None:
    """Keep that all there is of alder by now has been looked at."""
    store.execute("watch/abuse:keep_look", institution_id=ALDER, run_no=next_run(store))


@pytest.fixture
def looked(tmp_path: Path) -> Iterator[Store]:
    """A store in which everything so far has been looked at."""
    with fresh_store(tmp_path) as store:
        given(store, "institutions", "institution\nalder\nbrook")
        given(store, "merchants", "merchant\nbakery\nbutcher")
        keep_look(store)
        yield store


def instruments(store: Store, *pairs: tuple[int, str]) -> None:
    """Give cardholders of alder, by number, instruments."""
    for cardholder_no, token in pairs:
        store.connection.execute(
            "insert into instruments select coalesce(max(instrument_no), 0) + 1, $1, $2, $3"
            " from instruments",
            [cardholder_no, ALDER, token],
        )


def redeem(store: Store, cardholders: str, merchant: str = "bakery") -> None:
    """Write redemptions of 2.00, of cardholders that a query tells as `cardholder_no`."""
    run_no = next_run(store)
    first = "(select coalesce(max(redemption_no), 0) from redemptions)"
    store.connection.execute(
        f"create or replace temp table made as select row_number() over () + {first}"  # noqa: S608
        f" as redemption_no, cardholder_no from ({cardholders})"
    )
    store.connection.execute(
        "insert into redemptions by name select redemption_no, uuid() as redemption_id,"
        " $1 as institution_id, redemption_no as purchase_no, cardholder_no, 1 as offer_no,"
        " $2 as run_no, $3 as created_at from made",
        [ALDER, run_no, NOON],
    )
    store.connection.execute(
        "insert into ledger_entries by name select redemption_no, uuid() as entry_id,"
        " $1 as institution_id, cardholder_no, 1 as offer_no, $2 as merchant_id,"
        " 'GBP' as currency, 2 as merchant_funded_amount, 0 as commission_amount,"
        " 2 as institution_payout_amount, 'settled' as status, $3 as created_at,"
        " $3 as settles_at, $3 as settled_at from made",
        [ALDER, uid(merchant), NOON],
    )


def refund(store: Store, purchase_no: int, after: timedelta) -> None:
    """Link a refund to a purchase, so long after its redemption was settled."""
    run_no = next_run(store)
    store.connection.execute(
        "insert into refunds by name select $1 as refund_no, $2 as institution_id, 'r' as"
        " refund_ref, 1 as ref_hash, 'refund' as kind, 5 as amount, 'GBP' as currency,"
        " $3 as refunded_at, $3 as received_at",
        [purchase_no, ALDER, NOON + after],
    )
    store.connection.execute(
        "insert into refund_links by name select $1 as refund_no, $2 as institution_id,"
        " $1 as purchase_no, 5 as amount, 'referenced' as how, 'ann' as actor, $3 as run_no,"
        " $4 as linked_at",
        [purchase_no, ALDER, run_no, NOON + after],
    )


def told(store: Store) -> list[tuple[str, str]]:
    return [(each.code, each.subject) for each in find_abuse(store, ALDER, NOON)]


def test_an_instrument_of_three_cardholders_is_found_when_the_third_comes(looked: Store) -> None:
    instruments(looked, (1, "t1"), (2, "t1"), (1, "t2"), (2, "t3"), (3, "t4"))
    assert [] == told(looked)
    keep_look(looked)
    assert [] == told(looked)
    instruments(looked, (3, "t1"))
    assert [("instrument_shared", "instrument 1")] == told(looked)
    (found,) = find_abuse(looked, ALDER, NOON)
    assert {"cardholders": 3} == found.figures
    assert [] == find_abuse(looked, uid("brook"), NOON)


def test_a_cardholder_far_above_all_others_is_found_where_they_are_many(looked: Store) -> None:
    others = "select unnest(range(1, {})) as cardholder_no"
    redeem(looked, others.format(1000), "butcher")
    redeem(looked, "select 7 as cardholder_no from range(9)", "bakery")
    assert [] == told(looked)
    redeem(looked, "select 2000 as cardholder_no", "butcher")
    assert [("cardholder_busy", "cardholder 7")] == told(looked)


@pytest.mark.parametrize(
    ("expected", "of_five", "of_others"),
    [(True, 16, 4), (False, 15, 4), (False, 16, 5), (True, 20, 0), (False, 19, 0)],
)
def test_a_merchant_of_whom_few_earn_most_is_found(
    looked: Store, expected: bool, of_five: int, of_others: int
) -> None:
    redeem(looked, f"select 1 + range % 5 as cardholder_no from range({of_five})")  # noqa: S608
    if of_others:
        redeem(looked, f"select 10 + range as cardholder_no from range({of_others})")  # noqa: S608
    assert [("merchant_concentrated", str(uid("bakery")))] * expected == told(looked)


@pytest.mark.parametrize(
    ("expected", "after"),
    [
        (False, timedelta(seconds=-1)),
        (True, timedelta(0)),
        (True, timedelta(days=3, seconds=-1)),
        (False, timedelta(days=3)),
    ],
)
def test_a_refund_within_three_days_of_settlement_is_found(
    looked: Store, expected: bool, after: timedelta
) -> None:
    redeem(looked, "select 4 as cardholder_no")
    refund(looked, 1, after)
    assert [("refund_after_settlement", "cardholder 4")] * expected == told(looked)


def test_what_was_looked_at_or_told_is_not_told_again(looked: Store) -> None:
    given(looked, "purchases", "ref cardholder identifier\nr-1 c0 M0")
    redeem(looked, "select 1001 as cardholder_no")
    refund(looked, 1, timedelta(days=1))
    found = find_abuse(looked, ALDER, NOON)
    run_no = next_run(looked)
    assert 1 == record_findings(looked, ALDER, found, run_no=run_no, now=NOON)
    assert [] == told(looked)
    assert [] == find_abuse(looked, ALDER, NOON + timedelta(days=29))
    assert 1 == len(find_abuse(looked, ALDER, NOON + timedelta(days=30)))
    keep_look(looked)
    assert [] == find_abuse(looked, ALDER, NOON + timedelta(days=30))
    (listed,) = list_watch_findings(looked, limit=9)
    assert ("cardholder 1001", "cardholder …") == (listed.subject, listed.about)


def test_nothing_is_told_before_the_first_look(looked: Store) -> None:
    looked.connection.execute("delete from watch_looks")
    instruments(looked, (1, "t1"), (2, "t1"), (3, "t1"))
    assert [] == told(looked)
