"""Links of one cardholder to offers (rules.md#adding).

A link is made once and never changed. It counts towards `max_active_offers` until its offer has
expired or its uses are spent; a pause, a later start or a spent budget does not end it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.interning import intern_cardholders, intern_payers
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


ENDED = ("expired", "used_up")
"""The states of a link that no longer counts."""


class LinkRow(
    Record,
    sheet="offer_id offer_title merchant_name state active uses uses_left * cardholder_offer_id",
):
    """A link of a cardholder to an offer, masked; `state` is that of the offer now, or `used_up`.

    `uses_left` is None where nothing limits them; `active` says whether it counts towards
    `max_active_offers`.
    """

    cardholder_offer_id: UUID = shown(gives_way=5)
    offer_id: str
    offer_title: str | None
    merchant_name: str = shown(gives_way=3)
    added_at: datetime = shown(gives_way=1)
    expires_at: datetime = shown(gives_way=2)
    state: str
    uses: int
    uses_left: int | None = shown(gives_way=1)
    active: bool
    cardholder_token_masked: str = shown(gives_way=4)
    card_token_masked: str = shown(gives_way=4)


def links_of(
    store: Store, institution_id: UUID, cardholder_no: int | None, now: datetime
) -> list[LinkRow]:
    """Return the links of a cardholder at `now`, the oldest first; a stranger has none."""
    rows = store.rows(
        "offers/links:of_cardholder",
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        now=now,
    )
    return [
        LinkRow.part(
            row,
            active=row["state"] not in ENDED,
            cardholder_token_masked=mask(row["cardholder_token"]),
            card_token_masked=mask(row["instrument_token"]),
        )
        for row in rows
    ]


def add_link(
    store: Store,
    institution_id: UUID,
    payer: tuple[int, int],
    offer_id: str,
    *,
    now: datetime,
    run_no: int,
) -> None:
    """Make the link of a cardholder and a card (their numbers) to an offer."""
    cardholder_no, instrument_no = payer
    store.execute(
        "offers/links:insert",
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        instrument_no=instrument_no,
        offer_id=offer_id,
        added_at=now,
        run_no=run_no,
    )


# Cardholders: find the numbers that stand for tokens, or give them some.


_STAGE_PAYERS = "offers/cardholders:stage_payers"
_NUMBERS = "offers/cardholders:numbers"
_MOST = 50_000
"""Tokens whose numbers are remembered while a store is open."""


class CardholderUnknown(NotFound, code="cardholder_not_found"):
    """The institution has no cardholder with a token, which is told nowhere."""

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
    cache: dict[str, int] = store.memory.recall(
        (_NUMBERS, institution_id), (_NUMBERS,), dict, grows=True
    )
    numbers = {token: cache[token] for token in tokens if token in cache}
    if len(numbers) < len({*tokens}):
        if len(cache) >= _MOST:
            cache.clear()
        new = store.rows(
            _NUMBERS,
            institution_id=institution_id,
            cardholder_tokens=sorted({*tokens} - numbers.keys()),
        )
        for row in new:
            cache[row["cardholder_token"]] = numbers[row["cardholder_token"]] = row["cardholder_no"]
    return numbers


def take_in_cardholders(
    store: Store, institution_id: UUID, tokens: Collection[str]
) -> dict[str, int]:
    """Return the numbers of cardholders by their tokens, given now to strangers."""
    numbers = find_cardholders(store, institution_id, tokens)
    if strangers := sorted({*tokens} - numbers.keys()):
        intern_cardholders(
            store,
            store.define(
                _STAGE_PAYERS,
                institution_id=institution_id,
                cardholder_tokens=strangers,
                card_token=None,
            ),
        )
        numbers |= find_cardholders(store, institution_id, strangers)
    return numbers


def take_in_payer(
    store: Store, institution_id: UUID, token: str, card_token: str
) -> tuple[int, int]:
    """Return the numbers of a cardholder and of a card, given now where they are new."""
    owned: dict[str, Any] = {"institution_id": institution_id, "card_token": card_token}
    intern_payers(store, store.define(_STAGE_PAYERS, **owned, cardholder_tokens=[token]))
    row = store.rows("offers/cardholders:payer", **owned, cardholder_token=token)[0]
    return row["cardholder_no"], row["instrument_no"]
