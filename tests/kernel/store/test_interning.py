from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.kernel.store.interning import intern_identifiers, intern_payers
from tables import select, temporary, uid
from work import fresh_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store

ALDER, BROOK = sorted([uid("alder"), uid("brook")])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as store:
        yield store


def take_payers(store: Store, *payers: tuple[object, str, str]) -> None:
    kind = "institution_id uuid, cardholder_token varchar, instrument_token varchar"
    intern_payers(store, handed(store, kind, payers))


def take_identifiers(store: Store, *identifiers: tuple[str, str]) -> None:
    kind = "merchant_identifier_type varchar, merchant_identifier varchar"
    intern_identifiers(store, handed(store, kind, identifiers))


def handed(store: Store, columns: str, rows: Sequence[tuple[object, ...]]) -> Table:
    nulls = ", ".join(
        f"cast(null as {kind}) as {name}" for name, kind in map(str.split, columns.split(", "))
    )
    table = temporary(store, "any", f"select {nulls} limit 0")
    places = ", ".join(f"${number}" for number, _ in enumerate(rows[0], 1))
    store.connection.executemany(f"insert into {table.identifier} values ({places})", rows)  # noqa: S608 - ours
    return table


CARDHOLDERS = "select cardholder_no, institution_id, cardholder_token from cardholders order by all"
INSTRUMENTS = "select instrument_no, cardholder_no, instrument_token from instruments order by all"
IDENTIFIERS = "select identifier_no, merchant_identifier_type, merchant_identifier from identifiers"


def test_new_tokens_are_numbered_in_the_order_of_their_text(store: Store) -> None:
    take_payers(store, (BROOK, "a", "x"), (ALDER, "b", "y"), (ALDER, "a", "y"), (ALDER, "a", "x"))
    assert [(1, ALDER, "a"), (2, ALDER, "b"), (3, BROOK, "a")] == select(store, CARDHOLDERS)
    assert [(1, 1, "x"), (2, 1, "y"), (3, 2, "y"), (4, 3, "x")] == select(store, INSTRUMENTS)


def test_known_tokens_keep_their_numbers(store: Store) -> None:
    take_payers(store, (ALDER, "m", "m"))
    for _ in range(2):
        take_payers(store, (ALDER, "a", "a"), (ALDER, "m", "m"), (ALDER, "m", "a"))
    assert [(1, ALDER, "m"), (2, ALDER, "a")] == select(store, CARDHOLDERS)
    assert [(1, 1, "m"), (2, 1, "a"), (3, 2, "a")] == select(store, INSTRUMENTS)


def test_repeated_rows_do_no_harm(store: Store) -> None:
    take_payers(store, *[(ALDER, "a", "x")] * 3)
    assert [(1, 1, "x")] == select(store, INSTRUMENTS)


def test_identifiers_are_numbered_by_type_and_exact_text(store: Store) -> None:
    for _ in range(2):
        take_identifiers(store, ("pix_key", "a"), ("card_acceptor", "01"), ("card_acceptor", "1"))
    take_identifiers(store, ("card_acceptor", "A"), ("pix_key", "a"))
    assert [
        (1, "card_acceptor", "01"),
        (2, "card_acceptor", "1"),
        (3, "pix_key", "a"),
        (4, "card_acceptor", "A"),
    ] == select(store, f"{IDENTIFIERS} order by all")
