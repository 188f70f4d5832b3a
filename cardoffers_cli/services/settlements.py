"""Settlements with their sums, what is owed to whom, and what will be due when.

A settlement says what is owed; whether it was paid is not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.errors import NotFound, UsageError
from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

Order = Literal["newest", "largest"]
_SUMS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
_OWED = (*_SUMS, "pending_payout_amount", "open_adjustment_amount")


def list_settlements(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "newest",
    limit: int,
) -> list[Row]:
    """Return settlements, net of adjustments; `settlements` of each is how many there are in all.

    The window is of when they were settled.
    """
    rows = store.rows(
        "services/settlements:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        order=order,
        limit=limit,
    )
    return [_exact(row, _SUMS) for row in rows]


def owed(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int,
) -> list[Row]:
    """Return, per institution and currency, what the window settled, and what is still to come.

    What is on hold (`pending`, `pending_payout_amount`, `next_settles_at`) and what is to be
    deducted (`open_adjustments`, `open_adjustment_amount`, negative) is of now. The most comes
    first.
    """
    rows = store.rows(
        "services/settlements:owed",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        limit=limit,
    )
    return [_exact(row, _OWED) for row in rows]


def due(store: Store, *, institution_id: UUID | None = None, limit: int) -> list[Row]:
    """Return entries on hold by the day they are due; `rows` is how many rows there are in all."""
    rows = store.rows("services/settlements:due", institution_id=institution_id, limit=limit)
    return [_exact(row, ("institution_payout_amount",)) for row in rows]


def find_settlement(store: Store, beginning: str) -> int:
    """Return the number of the one settlement whose id is this, or begins with it.

    Raises `NotFound` where there is none, and `UsageError` where there are several.
    """
    found = store.rows("services/settlements:find", beginning=beginning)
    if not found:
        raise NotFound(
            f"There is no settlement {beginning!r}.",
            code="settlement_not_found",
            hint="`cardoffers report settlements --by settlement` lists them.",
        )
    if len(found) > 1:
        raise UsageError(
            f"Several settlements begin with {beginning!r}.",
            code="settlement_ambiguous",
            hint="Give more of its id.",
        )
    return int(found[0]["settlement_no"])


def _exact(row: Row, amounts: tuple[str, ...]) -> Row:
    return {**row, **{name: quantize(row[name], row["currency"]) for name in amounts}}
