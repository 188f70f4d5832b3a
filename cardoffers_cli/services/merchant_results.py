"""What merchants funded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

Order = Literal["funded", "redemptions"]
_SUMS = (
    "spend_amount",
    "merchant_funded_amount",
    "commission_amount",
    "institution_payout_amount",
    "reversed_amount",
    "funded_in_all",
)


def merchant_results(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "funded",
    limit: int,
) -> list[Row]:
    """Return what each merchant funded in a window, net of what was reversed since.

    Of each currency there are the first `limit` in an order; `merchants` is how many it has,
    `funded_in_all`, `redemptions_in_all` and `reversed_in_all` what they come to. `redemptions`
    counts all, `reversed` those of them that were reversed, whose money is `reversed_amount`.
    `average_amount` is the mean purchase of the others, rounded half up; a mean is no money that
    anybody is owed.
    """
    rows = store.rows(
        "services/merchant_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        order=order,
        limit=limit,
    )
    return [_row(row) for row in rows]


def _row(row: Row) -> Row:
    kept = row["redemptions"] - row["reversed"]
    mean = quantize(row["spend_amount"] / kept, row["currency"]) if kept else None
    return {
        **row,
        **{name: quantize(row[name], row["currency"]) for name in _SUMS},
        "average_amount": mean,
    }
