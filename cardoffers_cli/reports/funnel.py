"""The funnel: how many saw offers, added them and redeemed them in a window of time.

A view and an impression count when they occurred, an added offer by the `added_at` of its link
(whoever made it, the add operation or a file), a redemption when it was created, whatever became of
it since. Windows are half-open, UTC; one that ends now includes what happens at this moment.

Those counts are of other things and other people, so none is a part of the one before. The
cardholders are: who saw offers, who of them had added any, and who of these redeemed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

By = Literal["day", "offer", "merchant"]
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of time, its start included, its end excluded unless it is now."""

    from_at: datetime
    to_at: datetime
    ends_now: bool = False


class FunnelCounts(Record):
    """The five counts of a funnel (rules.md#funnel)."""

    widget_views: int
    unique_cardholders: int
    offer_impressions: int
    offer_add_successes: int
    redemptions: int


class FunnelPeople(Record):
    """How many cardholders `saw` offers, had `added` any of them, and `redeemed` of these.

    Each is a part of the one before; `all_who_redeemed` has those too who saw or added none here.
    """

    saw: int
    added: int
    redeemed: int
    all_who_redeemed: int


class FunnelDay(Record):
    """The five counts of one day, written as ISO 8601 has it.

    `redemptions` are those decided on the day, `purchase_day_redemptions` those of its purchases.
    """

    day: str = shown(kind="date")
    widget_views: int = shown("views")
    unique_cardholders: int = shown("cardholders")
    offer_impressions: int = shown("shown")
    offer_add_successes: int = shown("added")
    redemptions: int = shown("decided", gives_way=1)
    purchase_day_redemptions: int = shown("purchased")


class OfferSteps(Record):
    """What cardholders did with one offer."""

    offer_id: str = shown("offer id", "id", gives_way=2)
    title: str | None = shown("offer")
    merchant_name: str = shown("merchant", gives_way=1)
    offer_impressions: int = shown("shown")
    offer_add_successes: int = shown("added")
    redemptions: int = shown("redemptions")


class FunnelOffer(OfferSteps, sheet="* -widget_views -unique_cardholders"):
    """The five counts of one offer; a view is of no single one, so two of them are None."""

    widget_views: None
    unique_cardholders: None


class MerchantSteps(Record):
    """What cardholders did with the offers of one merchant."""

    merchant_id: UUID = shown("merchant id", gives_way=1)
    merchant_name: str = shown("merchant")
    offer_impressions: int = shown("shown")
    offer_add_successes: int = shown("added")
    redemptions: int = shown("redemptions")


class FunnelMerchant(MerchantSteps, sheet="* -widget_views -unique_cardholders"):
    """The five counts of one merchant; a view is of no single one, so two of them are None."""

    widget_views: None
    unique_cardholders: None


FunnelRow = FunnelDay | FunnelOffer | FunnelMerchant
COUNTED: Mapping[By, type[FunnelRow]] = {
    "day": FunnelDay,
    "offer": FunnelOffer,
    "merchant": FunnelMerchant,
}
"""What a funnel is counted by."""


def count_funnel(store: Store, institution_id: UUID, window: Window) -> FunnelCounts:
    """Return the five counts of a funnel."""
    parameters = _parameters(institution_id, window)
    return store.records(FunnelCounts, "reports/funnel:count", **parameters)[0]


def count_people(store: Store, institution_id: UUID, window: Window) -> FunnelPeople:
    """Return how many cardholders took which step."""
    parameters = _parameters(institution_id, window)
    return store.records(FunnelPeople, "reports/funnel:people", **parameters)[0]


def count_by(store: Store, institution_id: UUID, window: Window, by: By) -> list[FunnelRow]:
    """Return the five counts for each day of the window, or each offer or merchant with any.

    Days are those of UTC; a cardholder who came on two days is counted on both, so unique
    cardholders do not add up to the funnel's. A redemption counts on the day it was decided, and as
    `purchase_day_redemptions` on that of its purchase. A view is of no single offer: rows of offers
    and merchants have neither views nor unique cardholders (None), and the most redeemed come
    first. An offer counts for the merchant it is of now.
    """
    parameters = _parameters(institution_id, window)
    if by == "day":
        return [*store.records(FunnelDay, "reports/funnel:by_day", **parameters)]
    if by == "offer":
        offers = store.records(OfferSteps, "reports/funnel:by_offer", **parameters)
        return [FunnelOffer(**row, widget_views=None, unique_cardholders=None) for row in offers]
    merchants = store.records(MerchantSteps, "reports/funnel:by_merchant", **parameters)
    return [FunnelMerchant(**row, widget_views=None, unique_cardholders=None) for row in merchants]


def _parameters(institution_id: UUID, window: Window) -> Mapping[str, Any]:
    to_at = window.to_at + _INSTANT if window.ends_now else window.to_at
    return {"institution_id": institution_id, "from_at": window.from_at, "to_at": to_at}
