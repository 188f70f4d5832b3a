"""The funnel: how many saw offers, added them and redeemed them in a window of time.

A view and an impression count when they occurred, an added offer by the `added_at` of its link
(whoever made it, the add operation or a file), a redemption when it was created, whatever became of
it since. Windows are half-open, UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.funnel import STEPS

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

By = Literal["day", "offer", "merchant"]


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of time, its start included, its end excluded."""

    from_at: datetime
    to_at: datetime


def count_funnel(store: Store, institution_id: UUID, window: Window) -> dict[str, int]:
    """Return the five counts of a funnel (specification, Funnel)."""
    row = store.row("services/funnel:count", **_parameters(institution_id, window)) or {}
    return {step: row[step] for step in STEPS}


def count_by(store: Store, institution_id: UUID, window: Window, by: By) -> list[dict[str, Any]]:
    """Return the five counts for each day of the window, or each offer or merchant with any.

    Days are those of UTC; a cardholder who came on two days is counted on both, so unique
    cardholders do not add up to the funnel's. A view is of no single offer: rows of offers and
    merchants have neither views nor unique cardholders (None), and the most redeemed come first. An
    offer counts for the merchant it is of now.
    """
    rows = store.rows(f"services/funnel:by_{by}", **_parameters(institution_id, window))
    return [{**row, **{step: row.get(step) for step in STEPS}} for row in rows]


def _parameters(institution_id: UUID, window: Window) -> dict[str, Any]:
    return {
        "institution_id": institution_id,
        "from_at": window.from_at,
        "to_at": window.to_at,
    }
