from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.store.interning import intern_identifiers, intern_payers
from cardoffers_cli.store.opening import scratch_store
from tables import NOON, select, uid
from work import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.store.store import Store

ALDER, BROOK = sorted([uid("alder"), uid("brook")])


@pytest.fixture
def store() -> Iterator[Store]:
    with scratch_store(settings(), NOON) as store:
        yield store


def stage_payers(store: Store, *payers: tuple[object, str, str]) -> None:
    store.connection.execute(
        "create or replace temp table staged_payers"
        " (institution_id uuid, cardholder_token varchar, instrument_token varchar)"
    )
    store.connection.executemany("insert into staged_payers values ($1, $2, $3)", payers)


def stage_identifiers(store: Store, *identifiers: tuple[str, str]) -> None:
    store.connection.execute(
        "create or replace temp table staged_identifiers"
        " (merchant_identifier_type varchar, merchant_identifier varchar)"
    )
    store.connection.executemany("insert into staged_identifiers values ($1, $2)", identifiers)


CARDHOLDERS = "select cardholder_no, institution_id, cardholder_token from cardholders order by all"
INSTRUMENTS = "select instrument_no, cardholder_no, instrument_token from instruments order by all"
IDENTIFIERS = "select identifier_no, merchant_identifier_type, merchant_identifier from identifiers"


def test_new_tokens_are_numbered_in_the_order_of_their_text(store: Store) -> None:
    stage_payers(store, (BROOK, "a", "x"), (ALDER, "b", "y"), (ALDER, "a", "y"), (ALDER, "a", "x"))
    intern_payers(store)
    assert [(1, ALDER, "a"), (2, ALDER, "b"), (3, BROOK, "a")] == select(store, CARDHOLDERS)
    assert [(1, 1, "x"), (2, 1, "y"), (3, 2, "y"), (4, 3, "x")] == select(store, INSTRUMENTS)


def test_known_tokens_keep_their_numbers(store: Store) -> None:
    stage_payers(store, (ALDER, "m", "m"))
    intern_payers(store)
    for _ in range(2):
        stage_payers(store, (ALDER, "a", "a"), (ALDER, "m", "m"), (ALDER, "m", "a"))
        intern_payers(store)
    assert [(1, ALDER, "m"), (2, ALDER, "a")] == select(store, CARDHOLDERS)
    assert [(1, 1, "m"), (2, 1, "a"), (3, 2, "a")] == select(store, INSTRUMENTS)


def test_repeated_rows_do_no_harm(store: Store) -> None:
    stage_payers(store, *[(ALDER, "a", "x")] * 3)
    intern_payers(store)
    assert [(1, 1, "x")] == select(store, INSTRUMENTS)


def test_identifiers_are_numbered_by_type_and_exact_text(store: Store) -> None:
    for _ in range(2):
        stage_identifiers(store, ("pix_key", "a"), ("card_acceptor", "01"), ("card_acceptor", "1"))
        intern_identifiers(store)
    stage_identifiers(store, ("card_acceptor", "A"), ("pix_key", "a"))
    intern_identifiers(store)
    assert [
        (1, "card_acceptor", "01"),
        (2, "card_acceptor", "1"),
        (3, "pix_key", "a"),
        (4, "card_acceptor", "A"),
    ] == select(store, f"{IDENTIFIERS} order by all")
