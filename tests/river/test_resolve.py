from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.river.decide import decide
from cardoffers_cli.river.resolve import find_undecided, find_waiting, purchases_of_import, resolve
from cardoffers_cli.storage.doctor import offending
from tables import given, read, rows_of, select, snapshot
from work import fresh_store, job

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.store import Store

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


def waits(store: Store) -> tuple[set[str], set[str], int]:
    """Return the refs behind the watermark, those of the unresolved, and what a match looks at."""
    behind = "select transaction_ref from purchases, match_watermark"
    behind += " where purchases.purchase_no > match_watermark.purchase_no"
    unresolved = (
        "select transaction_ref from unresolved_purchases join purchases using (purchase_no)"
    )
    engine = DuckEngine(store.connection, store.tables)
    waiting = find_waiting(store)
    looked_at = engine.count(find_undecided(engine, waiting).purchases)
    return (
        {ref for (ref,) in select(store, behind)},
        {ref for (ref,) in select(store, unresolved)},
        looked_at,
    )


def test_what_waits_is_looked_at_once_and_again_when_its_merchant_is_known(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "merchants", "merchant\nbakery")
    given(store, "identifiers", "identifier merchant\nM1 bakery")
    given(store, "purchases", "ref identifier merchant\na M1 -\nb M2 -\nc - cinema\nd - -")
    assert ({"a", "b", "c", "d"}, set(), 4) == waits(store)
    first = decide(store, job()).redeemed
    assert (4, 3) == (first.considered, first.merchant_unresolved)
    assert (set(), {"b", "c", "d"}, 0) == waits(store)
    given(store, "purchases", "ref identifier\ne M2\nf M1")
    assert ({"e", "f"}, {"b", "c", "d"}, 2) == waits(store)
    second = decide(store, job()).redeemed
    assert (5, 4) == (second.considered, second.merchant_unresolved)  # also who was not looked at
    assert (set(), {"b", "c", "d", "e"}, 0) == waits(store)
    given(store, "identifiers", "identifier merchant\nM2 bakery")
    assert (set(), {"b", "c", "d", "e"}, 2) == waits(store)
    third = decide(store, job()).redeemed
    assert (4, 2) == (third.considered, third.merchant_unresolved)
    given(store, "merchants", "merchant\ncinema")
    assert (set(), {"c", "d"}, 1) == waits(store)
    again = decide(store, job(), rematch=True).redeemed
    assert (6, 1) == (again.considered, again.merchant_unresolved)
    assert (set(), {"d"}, 0) == waits(store)
    said = "select count(*) from decisions where outcome = 'merchant_unresolved'"
    assert [(4,)] == select(store, said)
    assert (0, None) == offending(store, "waiting_is_what_waits")


def test_a_match_that_is_not_kept_leaves_the_queue(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        given(store, "institutions", "institution\nalder")
        given(store, "purchases", "ref\na\nb")
        before = snapshot(store)
        with store.transaction(keep=False):
            assert 2 == decide(store, job(), dry_run=True).redeemed.merchant_unresolved
        assert before == snapshot(store)


def test_a_number_that_was_looked_at_is_not_given_again(store: Store) -> None:
    given(store, "institutions", "institution\nalder")
    given(store, "purchases", "ref\na\nb")
    decide(store, job())
    select(store, "delete from recent_purchases where transaction_ref = 'b'")
    assert [(2,)] == select(store, "from last_purchase")
