"""The budgets of running offers: it is noon of 1 June."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.services.budgets import budget_burn
from tables import NOON, given, uid

if TYPE_CHECKING:
    from cardoffers_cli.store.store import Store

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
    rows = budget_burn(store, NOON, limit=20, **restricted)
    names = ("offer_id", "spent_amount", "recent_amount", "spent_share", "outlook")
    return [tuple(None if row[n] is None else str(row[n]) for n in names) for row in rows]


def test_those_that_run_out_come_first_then_those_that_are_spent(stocked: Store) -> None:
    assert [
        ("quicker", "4.00", "4.00", "0.6667", "runs out on 2026-06-15"),
        ("quick", "16.00", "14.00", "0.5333", "runs out on 2026-06-29"),
        ("spent", "2.00", "2.00", "0.8000", "spent on 2026-05-06"),
        ("small", "0.00", "0.00", "0.0000", "too small for one"),
        ("slow", "28.00", "28.00", "0.9333", "not at this rate"),
        ("lasting", "1.00", "1.00", "0.0011", "not at this rate"),
        ("untried", "0.00", "0.00", "0.0000", "not at this rate"),
        ("free", "1.00", "1.00", None, "no budget"),
    ] == seen(stocked)


def test_an_institution_has_the_offers_of_its_program(stocked: Store) -> None:
    offers = [row[0] for row in seen(stocked, institution_id=uid("brook"))]
    assert ["quick", "lasting"] == offers


def test_the_first_rows_know_how_many_there_are(stocked: Store) -> None:
    (row,) = budget_burn(stocked, NOON, limit=1)
    assert ("quicker", 8) == (row["offer_id"], row["offers"])


def test_titles_are_in_the_language_of_the_institution(stocked: Store) -> None:
    stocked.connection.execute("update institutions set languages = 'es|en'")
    given(stocked, "texts", "offer language title\nquick es rápido")
    rows = budget_burn(stocked, NOON, institution_id=uid("brook"), limit=2)
    assert ["rápido", "lasting"] == [row["title"] for row in rows]
    assert ["bakery", "bakery"] == [row["merchant_name"] for row in rows]
