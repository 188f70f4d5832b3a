"""One cardholder: find the number that stands for a token, or give it one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.store.interning import intern_cardholders, intern_payers

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.store.store import Store

_STAGE_PAYER = "services/cardholders:stage_payer"


def find_cardholder(store: Store, institution_id: UUID, token: str) -> int | None:
    """Return the number of a cardholder, or None for a stranger."""
    number: int | None = store.value(
        "services/cardholders:number", institution_id=institution_id, cardholder_token=token
    )
    return number


def take_in_cardholder(store: Store, institution_id: UUID, token: str) -> int:
    """Return the number of a cardholder, given now to a stranger."""
    owned = {"institution_id": institution_id, "cardholder_token": token}
    intern_cardholders(store, store.make(_STAGE_PAYER, **owned, card_token=None))
    return int(store.value("services/cardholders:number", **owned))


def take_in_payer(
    store: Store, institution_id: UUID, token: str, card_token: str
) -> tuple[int, int]:
    """Return the numbers of a cardholder and of a card, given now where they are new."""
    owned = {"institution_id": institution_id, "cardholder_token": token}
    intern_payers(store, store.make(_STAGE_PAYER, **owned, card_token=card_token))
    row = store.rows("services/cardholders:payer", **owned, card_token=card_token)[0]
    return row["cardholder_no"], row["instrument_no"]
