"""What offers bring, and how long their budgets last."""

from __future__ import annotations

from dataclasses import fields
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.budgets import Burn, band, outlook, planned_share, spent_share
from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

Order = Literal["spend", "redemptions", "ends"]
_NAMED = ("offer_id", "title", "merchant_id", "merchant_name", "currency")
_COUNTED = ("redemptions", "reversed", "cardholders")
_SUMS = (
    "spend_amount",
    "merchant_funded_amount",
    "commission_amount",
    "institution_payout_amount",
    "spent_amount",
)
_IN_ALL = ("offers", "redeemed", "spent_offers", "spend_in_all", "cashback_in_all")
_BURN = tuple(field.name for field in fields(Burn))
_FOUR_DECIMALS = Decimal("0.0001")


def offer_results(
    store: Store,
    now: datetime,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "spend",
    limit: int,
) -> list[Row]:
    """Return the offers that run or redeemed in a window, with what they brought in it.

    Of each currency there are the first `limit` in an order; `offers` is how many it has,
    `redeemed` and `spent_offers` how many of them redeemed and have spent their budgets,
    `spend_in_all` and `cashback_in_all` what they come to. Counts are of all redemptions, amounts
    of those that were not reversed. `cashback_share` is the payout as a share of what was
    spent at the merchant. Of the budget, at `now`: `spent_share`, `planned_share` (were it spent
    evenly), `outlook` in words, and the day it runs out, `ends_on`, with its band, `ends_from` and
    `ends_until` (None where it is open).
    """
    rows = store.rows(
        "services/offer_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        now=now,
        order=order,
        limit=limit,
    )
    return [_row(row, now) for row in rows]


def _row(row: Row, now: datetime) -> Row:
    burn = Burn(**{name: row[name] for name in _BURN})
    seen = outlook(burn, now)
    weeks = [row[f"week_{number}_amount"] for number in (1, 2, 3, 4)]
    limits = band(burn, weeks, now) if row["is_running"] else None
    budget = row["budget_amount"]
    spend = row["spend_amount"]
    share = row["institution_payout_amount"] / spend if spend else None
    return {
        **{name: row[name] for name in (*_NAMED, *_COUNTED)},
        **{name: quantize(row[name], row["currency"]) for name in _SUMS},
        "cashback_share": share and share.quantize(_FOUR_DECIMALS, ROUND_HALF_UP),
        "budget_amount": None if budget is None else quantize(budget, row["currency"]),
        "spent_share": spent_share(burn),
        "planned_share": None if budget is None else planned_share(burn, now),
        "outlook": seen.text if row["is_running"] else "ended",
        "state": seen.state if row["is_running"] else "ended",
        "ends_on": seen.day if row["is_running"] else None,
        "ends_from": limits and limits.first,
        "ends_until": limits and limits.last,
        "starts_at": row["starts_at"],
        "expires_at": row["expires_at"],
        **{name: row[name] for name in _IN_ALL},
    }
