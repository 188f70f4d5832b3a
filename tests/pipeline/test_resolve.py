from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.pipeline.resolve import (
    find_undecided,
    find_waiting,
    purchases_of_import,
    resolve,
)
from tables import given, read, rows_of, select

if TYPE_CHECKING:
    from cardoffers_cli.store.store import Store

PURCHASES = """
ref  merchant  type           identifier  resolved
a    bakery    -              -           bakery
b    -         card_acceptor  M1          bakery
c    -         pix_key        M1          cinema
d    -         card_acceptor  m1          -
e    -         card_acceptor  01          cinema
f    -         card_acceptor  1           -
g    cinema    card_acceptor  M1          cinema
h    florist   card_acceptor  M1          bakery
i    -         -              -           -
j    -         upi_vpa        M1          -
k    florist   card_acceptor  M2          -
l    florist   -              -           -
"""
"""What a purchase names its merchant by, and the merchant meant."""


def test_a_known_merchant_id_goes_before_the_identifier_which_is_compared_as_text(
    store: Store,
) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery\ncinema")
    given(
        store,
        "identifiers",
        """
        merchant  type           identifier
        bakery    card_acceptor  M1
        cinema    pix_key        M1
        cinema    card_acceptor  01
        -         upi_vpa        M1
        """,
    )
    given(store, "purchases", PURCHASES)
    engine = DuckEngine(store.connection, store.tables)
    resolutions = resolve(engine, find_undecided(engine, find_waiting(store)))
    assert {row["ref"]: row["resolved"] for row in read(PURCHASES)} == dict(
        select(
            store,
            f"select transaction_ref, name from {resolutions.rows.identifier}"  # noqa: S608 - ours
            " join purchases using (purchase_no) left join merchants using (merchant_no)",
        )
    )


def test_one_import_is_looked_at_alone(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    given(store, "purchases", "ref merchant\na bakery\nb bakery\nc bakery")
    store.connection.execute(
        "update recent_purchases set import_no = 7 where transaction_ref = 'b'"
    )
    engine = DuckEngine(store.connection, store.tables)
    one = resolve(engine, purchases_of_import(store, 7)).rows
    of_b = "select purchase_no from purchases where transaction_ref = 'b'"
    assert select(store, of_b) == [(purchase_no,) for purchase_no, *_ in rows_of(store, one)]
    assert 3 == engine.count(resolve(engine, find_undecided(engine, find_waiting(store))).rows)
