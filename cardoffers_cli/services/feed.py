"""The offer feed of one cardholder (rules.md#feed).

`open_offers` stages what may be seen now; the readings choose from it, `offers_shown` says what a
feed says of the chosen, and `record` notes that they were seen. Segment and hints are parameters of
queries and are written nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any

from cardoffers_cli.domain.locale import first_text
from cardoffers_cli.domain.personal import MOST_POPULAR, PAST, WEIGHTS, reason
from cardoffers_cli.domain.records import Record, if_any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.domain.records import Amount
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store

    Texts = Mapping[str, Mapping[str, str | None]]


class ChosenOffer(Record):
    """An offer that is to be shown, and why, if its order has reasons."""

    offer_no: int
    reason: str | None = if_any()


class ShownOffer(Record):
    """An offer as the contract shows it to a cardholder, who may have added it."""

    id: str
    title: str
    description: str
    merchant_id: UUID
    min_spend: Amount
    cashback_amount: Amount
    currency: str
    starts_at: datetime
    expires_at: datetime
    added: Annotated[bool, "Whether the cardholder has added it."]
    reason: Annotated[str | None, "Only when personalize is true."] = if_any()


def open_offers(
    store: Store,
    institution_id: UUID,
    cardholder_no: int | None,
    segment: str | None,
    now: datetime,
) -> int:
    """Stage the offers that a cardholder may see now; return how many there are.

    A stranger, who has no number, has spent no uses.
    """
    store.execute(
        "services/feed:open_offers",
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        segment=segment,
        now=now,
    )
    return int(store.value("services/feed:total"))


def in_program_order(store: Store, limit: int) -> list[ChosenOffer]:
    """Choose from the open offers: the first of the program."""
    return [ChosenOffer(**row) for row in store.rows("services/feed:in_program_order", limit=limit)]


def by_affinity(
    store: Store,
    institution_id: UUID,
    cardholder_no: int | None,
    preferred: Mapping[str, Sequence[str]],
    link_totals: Table,
    *,
    now: datetime,
    limit: int,
) -> list[ChosenOffer]:
    """Choose from the open offers those that suit best, in order.

    `link_totals` is what `popularity` counted. `preferred` holds the hints by `merchants` and
    `categories`; a stranger has no number.
    """
    rows = store.rows(
        "services/feed:by_affinity",
        link_totals,
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        merchant_hints=[hint.lower() for hint in preferred["merchants"]],
        category_hints=[hint.lower() for hint in preferred["categories"]],
        past_from=now - PAST,
        now=now,
        most_popular=MOST_POPULAR,
        limit=limit,
        **WEIGHTS,
    )
    return [ChosenOffer(offer_no=row["offer_no"], reason=reason(row)) for row in rows]


def offers_shown(
    store: Store,
    institution_id: UUID,
    cardholder_no: int | None,
    chosen: Sequence[ChosenOffer],
    languages: Sequence[str],
) -> list[ShownOffer]:
    """Return the chosen offers as the contract shows them, texts in the first language had."""
    numbers = [row.offer_no for row in chosen]
    texts = _texts(store, numbers)
    found = {
        row["offer_no"]: row
        for row in store.rows(
            "services/feed:offers",
            institution_id=institution_id,
            cardholder_no=cardholder_no,
            offer_nos=numbers,
        )
    }
    return [
        ShownOffer.part(
            found[row.offer_no],
            title=first_text(texts[row.offer_no]["title"], languages),
            description=first_text(texts[row.offer_no]["description"], languages),
            reason=row.reason,
        )
        for row in chosen
    ]


def record(
    store: Store,
    institution_id: UUID,
    cardholder_no: int,
    chosen: Sequence[ChosenOffer],
    now: datetime,
) -> None:
    """Note one widget view and one impression per offer shown (rules.md#engagement)."""
    store.execute(
        "services/feed:record",
        institution_id=institution_id,
        cardholder_no=cardholder_no,
        offer_nos=[row.offer_no for row in chosen],
        now=now,
    )


def _texts(store: Store, numbers: Sequence[int]) -> dict[int, Texts]:
    """Return title and description by offer and language."""
    texts: dict[int, Any] = defaultdict(lambda: {"title": {}, "description": {}})
    for row in store.rows("services/feed:texts", offer_nos=numbers):
        for part, in_languages in texts[row["offer_no"]].items():
            in_languages[row["language"]] = row[part]
    return texts
