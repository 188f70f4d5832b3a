"""Numbers for tokens: what repeats in millions of rows is kept once and pointed to by number.

The caller makes a temporary table of the pairs that its rows carry, hands it to one of these, and
joins its rows to the numbers. A pair known already keeps its number; new ones continue from the
highest, in the order of their text, so the same rows always get the same numbers. Running it again
adds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def intern_payers(store: Store, payers: Table) -> None:
    """Give new cardholders and instruments numbers, in the caller's transaction.

    `payers` has institution_id, cardholder_token and instrument_token, of which only the last may
    be null; repeated rows do no harm.
    """
    intern_cardholders(store, payers)
    store.execute("store/interning:instruments", payers.called("staged_payers"))


def intern_cardholders(store: Store, payers: Table) -> None:
    """Give new cardholders numbers, where no instrument is known, in the caller's transaction.

    `payers` has institution_id and cardholder_token, neither of them null; repeated rows and other
    columns do no harm.
    """
    store.execute("store/interning:cardholders", payers.called("staged_payers"))


def intern_identifiers(store: Store, identifiers: Table) -> None:
    """Give new merchant identifiers numbers, their owner unknown for now.

    `identifiers` has merchant_identifier_type and merchant_identifier, neither of them null;
    repeated rows do no harm.
    """
    store.execute("store/interning:identifiers", identifiers.called("staged_identifiers"))
