from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.engine.duck import DuckEngine
from cardoffers_cli.pipeline.resolve import resolve, resolve_import
from tables import given, read, select

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
    resolve(DuckEngine(store.connection))
    assert {row["ref"]: row["resolved"] for row in read(PURCHASES)} == dict(
        select(
            store,
            "select transaction_ref, name from resolutions join purchases using (purchase_no)"
            " left join merchants using (merchant_no)",
        )
    )


def test_one_import_is_looked_at_alone(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    given(store, "purchases", "ref merchant\na bakery\nb bakery\nc bakery")
    store.connection.execute(
        "update recent_purchases set import_no = 7 where transaction_ref = 'b'"
    )
    resolve_import(store, DuckEngine(store.connection), 7)
    assert [("b",)] == select(
        store, "select transaction_ref from resolutions join purchases using (purchase_no)"
    )
    resolve(DuckEngine(store.connection))
    assert [(3,)] == select(store, "select count(*) from resolutions")
