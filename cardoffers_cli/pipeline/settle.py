"""Settle: ledger entries whose hold has ended become one settlement per institution and currency.

Money that was paid back through a reversal is in the sums as a negative adjustment, so the amounts
of a settlement are net: what changes hands. When there are adjustments and no entries the
settlement holds the adjustments alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.store.store import Store


def settle(store: Store, *, run_no: int, now: datetime, actor: str) -> list[dict[str, Any]]:
    """Settle everything due at `now`; return the settlements made, one row each."""
    due = store.make("pipeline/settle:due", now=now)
    store.execute("pipeline/settle:settlements", due, run_no=run_no, now=now)
    store.execute("pipeline/settle:ledger_entries", due, run_no=run_no, now=now)
    store.execute("pipeline/settle:ledger_moves", due, run_no=run_no, now=now, actor=actor)
    store.execute("pipeline/settle:adjustments", run_no=run_no, now=now)
    return store.rows("pipeline/settle:made", run_no=run_no)


def still_pending(store: Store) -> dict[str, Any]:
    """Return `still_pending`, the entries whose hold goes on, and `next_settles_at` or None."""
    return store.rows("pipeline/settle:still_pending")[0]
