"""Settle: ledger entries whose hold has ended become one settlement per institution and currency.

Money that was paid back through a reversal is in the sums as a negative adjustment, so the amounts
of a settlement are net: what changes hands. When there are adjustments and no entries the
settlement holds the adjustments alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class NewSettlement(Record, sheet="* settlement_id -institution_id -settled_at"):
    """A settlement that a run made; its sums are net of the adjustments."""

    settlement_id: UUID = shown("settlement id", gives_way=1)
    institution_id: UUID
    institution: str
    currency: str
    entries: int
    adjustments: int
    merchant_funded_amount: Amount = shown("merchants fund")
    commission_amount: Amount = shown("commission")
    institution_payout_amount: Amount = shown("payout")
    settled_at: datetime


class StillPending(Record):
    """How many entries have a hold that goes on, and when the next of them ends, if any."""

    still_pending: int
    next_settles_at: datetime | None


def settle(store: Store, *, run_no: int, now: datetime, actor: str) -> list[NewSettlement]:
    """Settle everything due at `now`; return the settlements made."""
    due = store.make("river/settle:due", now=now)
    store.execute("river/settle:settlements", due, run_no=run_no, now=now)
    store.execute("river/settle:ledger_entries", due, run_no=run_no, now=now)
    store.execute("river/settle:ledger_moves", due, run_no=run_no, now=now, actor=actor)
    store.execute("river/settle:adjustments", due, run_no=run_no, now=now)
    return store.records(NewSettlement, "river/settle:made", run_no=run_no)
