"""The state of everything, for `status`: per institution, in all, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.store.store import Store

_AMOUNTS = ("amount", "pending_payout_amount", "settled_payout_amount")


def overview(store: Store, now: datetime) -> dict[str, Any]:
    """Return institutions (one row each), totals, what is due at `now`, and the last runs."""
    return {
        "institutions": [
            {**row, **{name: quantize(row[name], row["currency"]) for name in _AMOUNTS}}
            for row in store.rows("services/overview:institutions")
        ],
        **store.rows("services/overview:totals")[0],
        **store.rows("services/overview:due", now=now)[0],
        **store.rows("services/overview:webhooks", now=now)[0],
        "last_runs": store.rows("services/overview:last_runs"),
    }


def redemptions_by_day(store: Store, now: datetime) -> dict[str, list[int]]:
    """Return, by the slug of its institution, the redemptions of each of the 30 days up to `now`.

    Days are those of UTC, the oldest first, and the last is the one that `now` is in.
    """
    rows = store.rows("services/overview:redemptions_by_day", now=now)
    return {row["institution"]: row["redemptions"] for row in rows}
