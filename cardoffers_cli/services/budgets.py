"""How fast the budgets of running offers are spent, and the day on which each will be."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.budgets import RECENT, Burn, outlook, spent_share
from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

_AMOUNTS = ("budget_amount", "spent_amount", "recent_amount")
_KNOWN = tuple(field.name for field in fields(Burn))


def budget_burn(
    store: Store, now: datetime, *, institution_id: UUID | None = None, limit: int
) -> list[dict[str, Any]]:
    """Return the budgets of the offers that run at a moment: first those that will run out.

    Each row has the offer, `currency`, `budget_amount`, `spent_amount`, `recent_amount` (of the
    last 28 days), `spent_share`, `outlook` in words, and `offers`, how many there are in all.
    """
    rows = store.rows(
        "services/budgets:burn",
        institution_id=institution_id,
        since=now - RECENT,
        now=now,
        limit=limit,
    )
    return [_row(row, now) for row in rows]


def _row(row: dict[str, Any], now: datetime) -> dict[str, Any]:
    burn = Burn(**{name: row[name] for name in _KNOWN})
    amounts = {name: row[name] for name in _AMOUNTS if row[name] is not None}
    known = ("offer_id", "title", "merchant_name", "currency", "offers")
    return {
        **{name: row[name] for name in known},
        "budget_amount": None,
        **{name: quantize(amount, row["currency"]) for name, amount in amounts.items()},
        "spent_share": spent_share(burn),
        "outlook": outlook(burn, now).text,
    }
