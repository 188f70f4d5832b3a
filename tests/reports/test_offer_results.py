"""The budgets of running offers, first those that end first: it is noon of 1 June."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.reports.work import offer_results
from tables import NOON, given, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

OFFERS = """
    offer    cashback budget starts_at  expires_at
    free     1.00     -      2026-04-01 2026-07-01
    lasting  1.00     900.00 2026-04-01 2026-07-01
    slow     1.00     30.00  2026-04-01 2026-06-02
    quick    1.00     30.00  2026-04-01 2026-07-01
    quicker  1.00     6.00   2026-04-01 2026-07-01
    spent    1.00     2.50   2026-04-01 2026-07-01
    untried  1.00     6.00   2026-04-01 2026-07-01
    small    1.00     0.50   2026-04-01 2026-07-01
    over     1.00     6.00   2026-04-01 2026-06-01
    coming   1.00     6.00   2026-06-02 2026-07-01
"""
LEDGER = """
    offer    amount status   at
    free     1.00   settled  2026-05-31
    lasting  1.00   settled  2026-05-31
    slow     28.00  settled  2026-05-31
    quick    14.00  settled  2026-05-31
    quick    2.00   pending  2026-04-20
    quicker  4.00   settled  2026-05-05
    spent    1.00   pending  2026-05-06
    spent    1.00   settled  2026-05-05
    untried  6.00   reversed 2026-05-31
    over     1.00   settled  2026-05-31
"""


@pytest.fixture
def stocked(store: Store) -> Store:
    given(store, "institutions", "institution\nalder\nbrook")
    given(store, "merchants", "merchant\nbakery")
    rows = OFFERS.strip().splitlines()
    table = [f"{rows[0]} merchant", *(f"{row} bakery" for row in rows[1:])]
    given(store, "offers", "\n".join(table))
    given(store, "programs", "institution offer\nalder quick\nbrook lasting\nbrook quick")
    for number, row in enumerate(LEDGER.strip().splitlines()[1:], 1):
        offer, amount, status, at = row.split()
        given(store, "ledger", f"offer amount status\n{offer} {amount} {status}")
        store.connection.execute(
            "update ledger_entries set created_at = $1 where redemption_no = $2", [at, number]
        )
    return store


def seen(store: Store, **restricted: Any) -> list[tuple[Any, ...]]:
    restricted = {"from_at": NOON, **restricted}  # nothing was redeemed since
    rows = offer_results(store, NOON, order="ends", limit=20, **restricted)
    recent = {
        row["offer_id"]: row["recent_amount"]
        for row in store.rows(
            "reports/work:list",
            **{"institution_id": None, "to_at": None, **restricted},
            now=NOON,
            order="ends",
            limit=20,
        )
    }
    return [
        (
            row["offer_id"],
            str(row["spent_amount"]),
            f"{recent[row['offer_id']]:.2f}",
            None if row["spent_share"] is None else str(row["spent_share"]),
            row["outlook"],
        )
        for row in rows
    ]


def test_those_that_end_first_come_first_and_those_that_are_spent_last(stocked: Store) -> None:
    assert [
        ("slow", "28.00", "28.00", "0.9333", "not at this rate"),
        ("quicker", "4.00", "4.00", "0.6667", "runs out on 2026-06-15"),
        ("quick", "16.00", "14.00", "0.5333", "runs out on 2026-06-29"),
        ("free", "1.00", "1.00", None, "no budget"),
        ("lasting", "1.00", "1.00", "0.0011", "not at this rate"),
        ("untried", "0.00", "0.00", "0.0000", "not at this rate"),
        ("small", "0.00", "0.00", "0.0000", "too small for one"),
        ("spent", "2.00", "2.00", "0.8000", "spent on 2026-05-06"),
    ] == seen(stocked)


def test_an_institution_has_the_offers_of_its_program(stocked: Store) -> None:
    offers = [row[0] for row in seen(stocked, institution_id=uid("brook"))]
    assert ["quick", "lasting"] == offers


def test_the_first_rows_know_how_many_there_are(stocked: Store) -> None:
    (row,) = offer_results(stocked, NOON, from_at=NOON, order="ends", limit=1)
    assert ("slow", 8) == (row["offer_id"], row["offers"])


def test_titles_are_in_the_language_of_the_institution(stocked: Store) -> None:
    stocked.connection.execute("update institutions set languages = 'es|en'")
    given(stocked, "texts", "offer language title\nquick es rápido")
    brook = uid("brook")
    rows = offer_results(stocked, NOON, institution_id=brook, order="ends", limit=2)
    assert ["rápido", "lasting"] == [row["title"] for row in rows]
    assert ["bakery", "bakery"] == [row["merchant_name"] for row in rows]


AGES = """
    offer  starts_at         spent outlook
    hours  2026-06-01T11:00Z 8.00  2026-06-01
    day    2026-05-31T12:00Z 6.00  2026-06-02
    days   2026-05-29T12:00Z 6.00  2026-06-03
    week   2026-05-25T12:00Z 6.00  2026-06-06
    old    2026-01-01T12:00Z 7.00  2026-06-13
    weeks  2026-05-11T12:00Z 6.00  2026-06-15
    four   2026-05-04T12:00Z 6.00  2026-06-20
"""
"""Budgets of 10.00 that offers of an age have spent of, and when they run out at that rate."""


def test_young_offers_are_measured_over_the_time_that_they_have_run(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    rows = [line.split() for line in AGES.strip().splitlines()[1:]]
    given(
        store,
        "offers",
        "offer starts_at expires_at merchant budget\n"
        + "\n".join(f"{row[0]} {row[1]} 2026-06-30T12:00Z bakery 10.00" for row in rows),
    )
    given(store, "ledger", "offer amount\n" + "\n".join(f"{row[0]} {row[2]}" for row in rows))
    found = offer_results(store, NOON, order="ends", limit=10)
    assert [(row[0], f"runs out on {row[3]}") for row in rows] == [
        (row["offer_id"], row["outlook"]) for row in found
    ]
    firsts = offer_results(store, NOON, order="ends", limit=3)
    assert [row[0] for row in rows[:3]] == [row["offer_id"] for row in firsts]
