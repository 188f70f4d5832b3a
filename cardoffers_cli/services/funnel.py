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

from cardoffers_cli.domain.funnel import STEPS

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

By = Literal["day", "offer", "merchant"]
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of time, its start included, its end excluded unless it is now."""

    from_at: datetime
    to_at: datetime
    ends_now: bool = False


def count_funnel(store: Store, institution_id: UUID, window: Window) -> dict[str, int]:
    """Return the five counts of a funnel (rules.md#funnel)."""
    row = store.row("services/funnel:count", **_parameters(institution_id, window)) or {}
    return {step: row[step] for step in STEPS}


def count_people(store: Store, institution_id: UUID, window: Window) -> dict[str, int]:
    """Return how many cardholders `saw` offers, had `added` any of them, and `redeemed` of these.

    Each is a part of the one before; `all_who_redeemed` has those too who saw or added none here.
    """
    return store.rows("services/funnel:people", **_parameters(institution_id, window))[0]


def count_by(store: Store, institution_id: UUID, window: Window, by: By) -> list[dict[str, Any]]:
    """Return the five counts for each day of the window, or each offer or merchant with any.

    Days are those of UTC; a cardholder who came on two days is counted on both, so unique
    cardholders do not add up to the funnel's. A redemption counts on the day it was decided, and as
    `purchase_day_redemptions` on that of its purchase. A view is of no single offer: rows of offers
    and merchants have neither views nor unique cardholders (None), and the most redeemed come
    first. An offer counts for the merchant it is of now.
    """
    rows = store.rows(f"services/funnel:by_{by}", **_parameters(institution_id, window))
    return [{**row, **{step: row.get(step) for step in STEPS}} for row in rows]


def _parameters(institution_id: UUID, window: Window) -> dict[str, Any]:
    return {
        "institution_id": institution_id,
        "from_at": window.from_at,
        "to_at": window.to_at + _INSTANT if window.ends_now else window.to_at,
    }
