"""What was decided of purchases, with every check and its reason."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

_AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


def decisions_of_import(store: Store, institution_id: UUID, import_no: int) -> list[Row]:
    """Return every purchase of an import in the order of the file, as `simulate` answers it.

    One item per purchase: outcome `match` or `no_match`, the merchant, the offer and amounts of a
    match, and one evaluation per offer of the merchant that is in the program or linked, or of the
    cardholder's links while the merchant is unknown (decisions, Why, and HTTP contract: simulate).
    """
    of = {"institution_id": institution_id, "import_no": import_no}
    found = store.rows("services/decisions:evaluations_of_import", **of)
    evaluations = {
        purchase_no: [_evaluation(row) for row in rows]
        for purchase_no, rows in groupby(found, key=lambda row: row["purchase_no"])
    }
    return [
        _item(row, evaluations.get(row["purchase_no"], []))
        for row in store.rows("services/decisions:of_import", **of)
    ]


def _item(row: Row, evaluations: list[Row]) -> Row:
    redeemed = row["offer_id"] is not None
    amounts = {
        name: quantize(row[name], row["currency"]) if redeemed else None for name in _AMOUNTS
    }
    return {
        "line": row["line"],
        "transaction_ref": row["transaction_ref"],
        "outcome": "match" if redeemed else "no_match",
        "reason": _reason(row["outcome"], evaluations),
        "merchant_id": row["merchant_id"],
        "offer_id": row["offer_id"],
        **amounts,
        "currency": row["currency"],
        "evaluations": evaluations,
    }


def _reason(decided: str | None, evaluations: list[Row]) -> str:
    """Say what was decided or, where no offer was won, how near the nearest of them came."""
    if decided != "not_redeemed":
        return decided or "not_matched_yet"
    outcomes = [evaluation["outcome"] for evaluation in evaluations]
    return min(outcomes, key=_NEAREST.index, default="no_offer")


_NEAREST = (
    "outranked",
    "redemption_limit_reached",
    "budget_exhausted",
    "below_min_spend",
    "offer_expired",
    "offer_not_started",
    "enrolled_after_purchase",
    "not_enrolled",
)
"""The outcomes of a purchase that won no offer, from just missed to far off."""


def _evaluation(row: Row) -> Row:
    explain = _EXPLAINED.get(row["outcome"])
    expected, actual = explain(row) if explain else (None, None)
    return {
        "offer_id": row["offer_id"],
        "outcome": row["outcome"],
        "expected": expected,
        "actual": actual,
    }


_EXPLAINED: dict[str, Callable[[Row], tuple[Any, Any]]] = {
    "enrolled_after_purchase": lambda row: (row["transacted_at"], row["added_at"]),
    "offer_not_started": lambda row: (row["starts_at"], row["transacted_at"]),
    "offer_expired": lambda row: (row["expires_at"], row["transacted_at"]),
    "below_min_spend": lambda row: (
        quantize(row["min_spend"], row["currency"]),
        quantize(row["amount"], row["currency"]),
    ),
    "budget_exhausted": lambda row: (quantize(row["budget_amount"], row["currency"]), None),
    "redemption_limit_reached": lambda row: (row["max_redemptions_per_cardholder"], None),
}
"""What each check expected and what was there; the other outcomes compare nothing."""
