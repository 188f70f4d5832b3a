from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.river.match import match
from cardoffers_cli.river.resolve import find_undecided, find_waiting, resolve
from tables import given, select

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store


def test_candidates_are_ranked_for_each_purchase(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery\ncinema")
    given(
        store,
        "offers",
        """
        offer  merchant  cashback  expires_at  min_spend
        A      bakery    1.00      2026-07-02  0
        B      bakery    1.00      2026-07-01  0
        C      bakery    3.00      2026-07-01  50.00
        D      cinema    9.00      2026-07-01  0
        """,
    )
    given(store, "links", "cardholder offer\nann A\nann B\nann C\nann D\nben A")
    given(
        store,
        "purchases",
        """
        ref  cardholder  merchant  amount
        1    ann         bakery    49.99
        2    ann         bakery    50.00
        3    ben         bakery    50.00
        4    cat         bakery    50.00
        """,
    )
    engine = DuckEngine(store.connection, store.tables)
    candidates = match(engine, resolve(engine, find_undecided(engine, find_waiting(store))))
    assert [
        ("1", 1, "B"),
        ("1", 2, "A"),
        ("2", 1, "C"),
        ("2", 2, "B"),
        ("2", 3, "A"),
        ("3", 1, "A"),
    ] == select(
        store,
        f"select transaction_ref, choice_no, offer_id from {candidates.rows.identifier}"  # noqa: S608 - ours
        " join purchases using (purchase_no) join offers using (offer_no) order by all",
    )
