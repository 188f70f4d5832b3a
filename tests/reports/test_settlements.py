"""Settlements with their sums, and what is owed and due, held against plain sums of the ledger."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.kernel.store.opening import scratch_store
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.reports.questions import Filters, exported_settlements, settlements
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.redemptions import reverse_redemption
from cardoffers_cli.river.settle import settle
from cardoffers_cli.river.settlements import due, find_settlement, list_settlements, owed
from tables import NOON, given, put, uid
from work import job, next_run, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

DAYS = [NOON + timedelta(days=number) for number in range(6)]
CURRENCY = {"alder": "GBP", "brook": "JPY"}
SUMS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


def catalogue(store: Store) -> None:
    given(store, "institutions", "institution currency hold_days\nalder GBP 0\nbrook JPY 2")
    given(store, "merchants", "merchant\nbakery")
    given(store, "offers", "offer merchant cashback rate\nA bakery 2.00 0.1")
    given(store, "offers", "offer merchant cashback rate currency\nJ bakery 100 0.1 JPY")
    given(store, "links", "institution offer\nalder A\nbrook J")


def redeem(store: Store, now: datetime, institution: str, *refs: str) -> None:
    row = {"institution": institution, "merchant": "bakery", "currency": CURRENCY[institution]}
    put(store, "purchases", [{"ref": ref, "amount": "9000", **row} for ref in refs])
    decide(store, job(now=now))


def reverse(store: Store, ref: str, now: datetime) -> None:
    rows = exported_settlements(store, Filters(), limit=100, cursor=None).rows
    (found,) = [row for row in rows if row["transaction_ref"] == ref]
    given_back = {
        "reason": "returned",
        "run_no": next_run(store, now),
        "now": now,
        "actor": "tester",
    }
    reverse_redemption(store, str(found["redemption_id"]), **given_back)


@pytest.fixture(scope="module")
def made() -> Iterator[Store]:
    """Two settlements of alder, the second net of a reversal, and one of brook; more on hold."""
    with scratch_store(settings()) as store:
        yield furnished(store)


def furnished(store: Store) -> Store:
    catalogue(store)
    redeem(store, DAYS[0], "alder", "a1", "a2", "a3")
    settle(store, run_no=next_run(store), now=DAYS[0], actor="tester")
    reverse(store, "a1", DAYS[1])
    redeem(store, DAYS[1], "alder", "a4", "a5")
    redeem(store, DAYS[1], "brook", "b1")
    settle(store, run_no=next_run(store), now=DAYS[3], actor="tester")
    redeem(store, DAYS[4], "brook", "b2", "b3")
    reverse(store, "a2", DAYS[5])
    return store


def lines(rows: list[dict[str, Any]], *names: str) -> list[str]:
    return [" ".join(str(row[name]) for name in names) for row in rows]


SHOWN = ("institution", "currency", "entries", "adjustments", *SUMS)


def test_settlements_come_newest_first_net_of_what_was_reversed(made: Store) -> None:
    rows = list_settlements(made, limit=10)
    assert [
        "brook JPY 1 0 110 10 100",
        "alder GBP 2 1 2.20 0.20 2.00",
        "alder GBP 3 0 6.60 0.60 6.00",
    ] == [*sorted(lines(rows[:2], *SHOWN), reverse=True), *lines(rows[2:], *SHOWN)]
    assert [DAYS[3], DAYS[3], DAYS[0]] == [row["settled_at"] for row in rows]
    assert {3} == {row["settlements"] for row in rows}


def test_the_largest_come_first_when_asked_for(made: Store) -> None:
    rows = list_settlements(made, order="largest", limit=2)
    assert ["100", "6.00"] == lines(rows, "institution_payout_amount")
    assert {3} == {row["settlements"] for row in rows}


@pytest.mark.parametrize(
    ("expected", "filters"),
    [
        (2, {"institution_id": uid("alder")}),
        (1, {"to_at": DAYS[3]}),
        (2, {"from_at": DAYS[3]}),
        (0, {"from_at": DAYS[4]}),
    ],
)
def test_settlements_are_of_when_they_were_settled(
    made: Store, expected: int, filters: dict[str, Any]
) -> None:
    assert expected == len(list_settlements(made, limit=10, **filters))


def test_what_is_owed_is_what_was_settled_and_beside_it_what_is_to_come(made: Store) -> None:
    names = (
        *("institution", "currency", "settlements", "institution_payout_amount"),
        *("pending", "pending_payout_amount", "open_adjustments", "open_adjustment_amount"),
    )
    assert ["alder GBP 2 8.00 0 0.00 1 -2.00", "brook JPY 1 100 2 200 0 0"] == lines(
        owed(made, limit=10), *names
    )
    assert [None, DAYS[4] + timedelta(days=2)] == [
        row["next_settles_at"] for row in owed(made, limit=10)
    ]


def test_what_is_owed_is_the_sum_of_the_settlements(made: Store) -> None:
    for row in owed(made, limit=10):
        of_it = [
            each
            for each in list_settlements(made, limit=10)
            if each["institution"] == row["institution"]
        ]
        for name in SUMS:
            assert sum((each[name] for each in of_it), Decimal(0)) == row[name]


def test_what_is_on_hold_is_told_by_the_day_it_is_due(made: Store) -> None:
    assert [f"{(DAYS[4] + timedelta(days=2)).date()} brook JPY 2 200 1"] == lines(
        due(made, limit=10),
        *("day", "institution", "currency", "entries", "institution_payout_amount", "rows"),
    )
    assert [] == due(made, institution_id=uid("alder"), limit=10)


def test_of_nothing_nothing_is_owed(store: Store) -> None:
    catalogue(store)
    assert [] == owed(store, limit=10)
    assert [] == list_settlements(store, limit=10)
    assert [] == due(store, limit=10)


def test_the_entries_behind_a_settlement_are_found_by_the_beginning_of_its_id(made: Store) -> None:
    for row in list_settlements(made, limit=10):
        for beginning in (str(row["settlement_id"]), str(row["settlement_id"])[:8].upper()):
            filters = Filters(settlement_no=find_settlement(made, beginning))
            entries = settlements(made, filters, limit=10, cursor=None).rows
            assert row["entries"] == len(entries)
            assert {row["settlement_id"]} == {entry["settlement_id"] for entry in entries}


def test_a_beginning_that_says_too_little_or_nothing_is_refused(made: Store) -> None:
    with pytest.raises(UsageError, match="Several settlements"):
        find_settlement(made, "")
    with pytest.raises(NotFound, match="no settlement"):
        find_settlement(made, "zzzz")


def test_an_exported_entry_has_its_purchase_and_its_names(made: Store) -> None:
    (entry, *_) = exported_settlements(made, Filters(), limit=1, cursor=None).rows
    assert ("bakery", "J", Decimal(9000), NOON) == tuple(
        entry[name] for name in ("merchant_name", "offer_title", "purchase_amount", "transacted_at")
    )
    (plain, *_) = settlements(made, Filters(), limit=1, cursor=None).rows
    assert entry.keys() - plain.keys() == {
        *("merchant_name", "offer_title", "purchase_amount", "transacted_at")
    }
