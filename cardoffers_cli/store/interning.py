"""Numbers for tokens: what repeats in millions of rows is kept once and pointed to by number.

The caller makes the temporary table of pairs that its rows carry, calls one of these, and joins
its rows to the numbers. A pair known already keeps its number; new ones continue from the highest,
in the order of their text, so the same rows always get the same numbers. Running it again adds
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.store.store import Store


def intern_payers(store: Store) -> None:
    """Give new cardholders and instruments numbers, in the caller's transaction.

    Reads the temporary table `staged_payers(institution_id, cardholder_token, instrument_token)`,
    no column null; repeated rows do no harm.
    """
    intern_cardholders(store)
    store.execute("store/interning:instruments")


def intern_cardholders(store: Store) -> None:
    """Give new cardholders numbers, where no instrument is known, in the caller's transaction.

    Reads the temporary table `staged_payers(institution_id, cardholder_token)`, no column null;
    repeated rows and other columns do no harm.
    """
    store.execute("store/interning:cardholders")


def intern_identifiers(store: Store) -> None:
    """Give new merchant identifiers numbers, their owner unknown for now.

    Reads the temporary table `staged_identifiers(merchant_identifier_type, merchant_identifier)`,
    no column null; repeated rows do no harm.
    """
    store.execute("store/interning:identifiers")
