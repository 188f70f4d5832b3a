"""What offers bring, and how long their budgets last."""

from __future__ import annotations

from dataclasses import fields
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.offers.budgets import BudgetUse, band, outlook, planned_share, spent_share

if TYPE_CHECKING:
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


Order = Literal["spend", "redemptions", "ends"]
_BURN = tuple(field.name for field in fields(BudgetUse))
_FOUR_DECIMALS = Decimal("0.0001")


class OfferSums(Record):
    """What one offer brought in a window.

    Counts are of all redemptions; amounts and `cardholders` of those that were not reversed, but
    for `spent_amount`, which is all that is spent of the budget now.
    """

    offer_id: str = shown("offer id", "id", gives_way=5)
    title: str | None = shown("offer")
    merchant_id: UUID = shown("merchant id", gives_way=19)
    merchant_name: str = shown("merchant", gives_way=4)
    currency: str
    redemptions: int
    reversed: int = shown(gives_way=14)
    cardholders: int = shown(gives_way=9)
    spend_amount: Amount = shown("spend")
    merchant_funded_amount: Amount = shown("cost", gives_way=3)
    commission_amount: Amount = shown("commission", gives_way=12)
    institution_payout_amount: Amount = shown("cashback", gives_way=11)
    spent_amount: Amount = shown("spent in all", gives_way=13)


class MeasuredOffer(OfferSums):
    """An offer as the statement returns it, with what tells when its budget ends (`BudgetUse`).

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


class OfferResult(
    OfferSums,
    sheet="title merchant_name currency spend_amount * spent_amount spent_share planned_share"
    " outlook ends_on ends_from ends_until starts_at expires_at offer_id merchant_id -state"
    " -offers -redeemed -spent_offers -spend_in_all -cashback_in_all",
):
    """What one offer brought in a window, and how far its budget is now.

    `cashback_share` is the payout as a share of what was spent at the merchant. Of the budget:
    `spent_share`, `planned_share` (were it spent evenly), `outlook` in words, and the day it runs
    out, `ends_on`, with its band, `ends_from` and `ends_until` (None where it is open). The
    currency has so many `offers`, of which `redeemed` were redeemed and `spent_offers` have spent
    their budgets; `spend_in_all` and `cashback_in_all` are what they come to.
    """

    cashback_share: Decimal | None = shown("cashback per spend", "share", gives_way=7)
    budget_amount: Amount | None = shown("budget in all", gives_way=10)
    spent_share: Decimal | None = shown("spent", "share", gives_way=2)
    planned_share: Decimal | None = shown("planned", "share", gives_way=8)
    outlook: str = shown("budget", gives_way=1)
    state: str
    ends_on: date | None = shown("budget ends", gives_way=15)
    ends_from: date | None = shown("at the earliest", gives_way=16)
    ends_until: date | None = shown("at the latest", gives_way=17)
    starts_at: datetime = shown("starts", gives_way=18)
    expires_at: datetime = shown("offer ends", gives_way=6)
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
        "reports/offer_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        now=now,
        order=order,
        limit=limit,
    )
    return [_result(row, now) for row in rows]


def _result(row: MeasuredOffer, now: datetime) -> OfferResult:
    burn = BudgetUse(**{name: row[name] for name in _BURN})
    seen = outlook(burn, now)
    weeks = [row.week_1_amount, row.week_2_amount, row.week_3_amount, row.week_4_amount]
    limits = band(burn, weeks, now) if row.is_running else None
    share = row.institution_payout_amount / row.spend_amount if row.spend_amount else None
    values = {
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
    return OfferResult.of({field.name: values[field.name] for field in fields(OfferResult)})


# What merchants funded.


MerchantOrder = Literal["funded", "redemptions"]


class MerchantSums(Record):
    """What one merchant funded in one currency in a window, net of what was reversed since.

    `redemptions` counts all, `reversed` those of them that were reversed, whose money is
    `reversed_amount`; amounts and `cardholders` are of the others. The currency has so many
    `merchants`, which come to `redemptions_in_all`, `reversed_in_all` and `funded_in_all`.
    """

    merchant_id: UUID = shown("merchant id", gives_way=8)
    merchant_name: str = shown("merchant")
    category: str | None = shown(gives_way=7)
    currency: str
    redemptions: int
    reversed: int = shown(gives_way=4)
    cardholders: int = shown(gives_way=1)
    spend_amount: Amount = shown("spend", gives_way=5)
    merchant_funded_amount: Amount = shown("funded")
    commission_amount: Amount = shown("commission", gives_way=2)
    institution_payout_amount: Amount = shown("payout")
    reversed_amount: Amount = shown("reversed, money", gives_way=6)
    merchants: int
    redemptions_in_all: int
    reversed_in_all: int
    funded_in_all: Amount


class MerchantResult(
    MerchantSums,
    sheet="* redemptions reversed reversed_amount cardholders spend_amount average_amount category"
    " merchant_id -merchants -redemptions_in_all -reversed_in_all -funded_in_all",
):
    """What one merchant funded, and the mean purchase of what was not reversed, if anything.

    The mean is rounded half up: it is no money that anybody is owed.
    """

    average_amount: Amount | None = shown("average purchase", gives_way=3)


def merchant_results(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: MerchantOrder = "funded",
    limit: int,
) -> list[MerchantResult]:
    """Return what each merchant funded: of each currency the first `limit` in an order."""
    rows = store.records(
        MerchantSums,
        "reports/merchant_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        order=order,
        limit=limit,
    )
    return [MerchantResult.of({**row, "average_amount": _average(row)}) for row in rows]


def _average(row: MerchantSums) -> Decimal | None:
    count = row.redemptions - row.reversed
    return row.spend_amount / count if count else None
