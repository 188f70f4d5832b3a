"""The state of everything, for `status`: per institution, in all, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.store.store import Store


def overview(store: Store, now: datetime) -> dict[str, Any]:
    """Return institutions (one row each), totals, what is due at `now`, and the last runs."""
    return {
        "institutions": [
            {
                **row,
                "amount": quantize(row["amount"], row["currency"]),
                "institution_payout_amount": quantize(
                    row["institution_payout_amount"], row["currency"]
                ),
            }
            for row in store.rows("services/overview:institutions")
        ],
        **store.rows("services/overview:totals")[0],
        "due": store.value("services/overview:due", now=now),
        "last_runs": store.rows("services/overview:last_runs"),
    }
