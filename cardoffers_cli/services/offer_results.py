"""What offers bring, and how long their budgets last."""

from __future__ import annotations

from dataclasses import fields
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Literal

from cardoffers_cli.domain.budgets import Burn, band, outlook, planned_share, spent_share
from cardoffers_cli.domain.records import Record

if TYPE_CHECKING:
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.domain.records import Amount
    from cardoffers_cli.store.store import Store

Order = Literal["spend", "redemptions", "ends"]
_BURN = tuple(field.name for field in fields(Burn))
_FOUR_DECIMALS = Decimal("0.0001")


class OfferSums(Record):
    """What one offer brought in a window.

    Counts are of all redemptions; amounts and `cardholders` of those that were not reversed, but
    for `spent_amount`, which is all that is spent of the budget now.
    """

    offer_id: str
    title: str | None
    merchant_id: UUID
    merchant_name: str
    currency: str
    redemptions: int
    reversed: int
    cardholders: int
    spend_amount: Amount
    merchant_funded_amount: Amount
    commission_amount: Amount
    institution_payout_amount: Amount
    spent_amount: Amount


class MeasuredOffer(OfferSums):
    """An offer as the statement returns it, with what tells when its budget ends (`Burn`).

    The weeks are the last four, the newest first; `place` is that of its order in its currency.
    """

    budget_amount: Decimal | None
    next_amount: Decimal
    starts_at: datetime
    expires_at: datetime
    is_running: bool
    recent_amount: Decimal
    week_1_amount: Decimal
    week_2_amount: Decimal
    week_3_amount: Decimal
    week_4_amount: Decimal
    last_redeemed_at: datetime | None
    offers: int
    spent_offers: int
    redeemed: int
    spend_in_all: Decimal
    cashback_in_all: Decimal
    place: int


class OfferResult(OfferSums):
    """What one offer brought in a window, and how far its budget is now.

    `cashback_share` is the payout as a share of what was spent at the merchant. Of the budget:
    `spent_share`, `planned_share` (were it spent evenly), `outlook` in words, and the day it runs
    out, `ends_on`, with its band, `ends_from` and `ends_until` (None where it is open). The
    currency has so many `offers`, of which `redeemed` were redeemed and `spent_offers` have spent
    their budgets; `spend_in_all` and `cashback_in_all` are what they come to.
    """

    cashback_share: Decimal | None
    budget_amount: Amount | None
    spent_share: Decimal | None
    planned_share: Decimal | None
    outlook: str
    state: str
    ends_on: date | None
    ends_from: date | None
    ends_until: date | None
    starts_at: datetime
    expires_at: datetime
    offers: int
    redeemed: int
    spent_offers: int
    spend_in_all: Decimal
    cashback_in_all: Decimal


def offer_results(
    store: Store,
    now: datetime,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "spend",
    limit: int,
) -> list[OfferResult]:
    """Return the offers that run or redeemed in a window, with what they brought in it.

    Of each currency there are the first `limit` in an order.
    """
    rows = store.records(
        MeasuredOffer,
        "services/offer_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        now=now,
        order=order,
        limit=limit,
    )
    return [_result(row, now) for row in rows]


def _result(row: MeasuredOffer, now: datetime) -> OfferResult:
    burn = Burn(**{name: row[name] for name in _BURN})
    seen = outlook(burn, now)
    weeks = [row.week_1_amount, row.week_2_amount, row.week_3_amount, row.week_4_amount]
    limits = band(burn, weeks, now) if row.is_running else None
    share = row.institution_payout_amount / row.spend_amount if row.spend_amount else None
    found = {
        **row,
        "cashback_share": share and share.quantize(_FOUR_DECIMALS, ROUND_HALF_UP),
        "spent_share": spent_share(burn),
        "planned_share": None if row.budget_amount is None else planned_share(burn, now),
        "outlook": seen.text if row.is_running else "ended",
        "state": seen.state if row.is_running else "ended",
        "ends_on": seen.day if row.is_running else None,
        "ends_from": limits and limits.first,
        "ends_until": limits and limits.last,
    }
    return OfferResult.of({each.name: found[each.name] for each in fields(OfferResult)})
