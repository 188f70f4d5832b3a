"""Cardholders: find the numbers that stand for tokens, or give them some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.interning import intern_cardholders, intern_payers
from cardoffers_cli.kernel.words.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

_STAGE_PAYERS = "offers/cardholders:stage_payers"
_NUMBERS = "offers/cardholders:numbers"
_MOST = 50_000
"""Tokens whose numbers are remembered while a store is open."""


class CardholderUnknown(NotFound):
    """The institution has no cardholder with a token, which is told nowhere."""

    code = "cardholder_not_found"

    def __init__(self, institution: str) -> None:
        super().__init__(
            f"{institution} has no cardholder with this token.",
            hint=f"See what it sent with `cardoffers find -i {institution} --cardholder -`.",
        )


def find_cardholder(store: Store, institution_id: UUID, token: str) -> int | None:
    """Return the number of a cardholder, or None for a stranger."""
    return find_cardholders(store, institution_id, [token]).get(token)


def find_cardholders(store: Store, institution_id: UUID, tokens: Collection[str]) -> dict[str, int]:
    """Return the numbers of those cardholders that are none of them strangers, by their tokens."""
    known: dict[str, int] = store.memory.recall(
        (_NUMBERS, institution_id), (_NUMBERS,), dict, grows=True
    )
    found = {token: known[token] for token in tokens if token in known}
    if len(found) < len({*tokens}):
        if len(known) >= _MOST:
            known.clear()
        new = store.rows(
            _NUMBERS,
            institution_id=institution_id,
            cardholder_tokens=sorted({*tokens} - found.keys()),
        )
        for row in new:
            known[row["cardholder_token"]] = found[row["cardholder_token"]] = row["cardholder_no"]
    return found


def take_in_cardholders(
    store: Store, institution_id: UUID, tokens: Collection[str]
) -> dict[str, int]:
    """Return the numbers of cardholders by their tokens, given now to strangers."""
    found = find_cardholders(store, institution_id, tokens)
    if strangers := sorted({*tokens} - found.keys()):
        intern_cardholders(
            store,
            store.define(
                _STAGE_PAYERS,
                institution_id=institution_id,
                cardholder_tokens=strangers,
                card_token=None,
            ),
        )
        found |= find_cardholders(store, institution_id, strangers)
    return found


def take_in_payer(
    store: Store, institution_id: UUID, token: str, card_token: str
) -> tuple[int, int]:
    """Return the numbers of a cardholder and of a card, given now where they are new."""
    owned: dict[str, Any] = {"institution_id": institution_id, "card_token": card_token}
    intern_payers(store, store.define(_STAGE_PAYERS, **owned, cardholder_tokens=[token]))
    row = store.rows("offers/cardholders:payer", **owned, cardholder_token=token)[0]
    return row["cardholder_no"], row["instrument_no"]
