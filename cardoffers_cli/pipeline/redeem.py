"""Redeem: every purchase takes the best offer still open to it, as if one after the other.

The serial meaning (decisions, Redeem) is computed in rounds: each purchase proposes to its best
offer; an offer keeps the earliest within its budget and its uses; the rest move on to their next
best. All offers rank purchases by one common order, so the rounds end in exactly the serial answer.
Only offers that cannot serve everybody (`tight`) can refuse, so only their proposals go round. The
loop ends because every round but the last refuses somebody, and nobody is refused by the same offer
twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from cardoffers_cli.engine.duck import DuckEngine
    from cardoffers_cli.store.store import Store


AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


@dataclass(frozen=True, kw_only=True)
class Redeemed:
    """What one match came to; the amounts are by name (`AMOUNTS`) and by currency."""

    considered: int
    redeemed: int
    merchant_unresolved: int
    rounds: int
    refusals: int
    amounts: dict[str, dict[str, Decimal]]

    @property
    def not_redeemed(self) -> int:
        """Purchases whose merchant is known and that redeemed nothing."""
        return self.considered - self.redeemed - self.merchant_unresolved


def redeem(
    store: Store, engine: DuckEngine, *, run_no: int, created_at: datetime, actor: str
) -> Redeemed:
    """Decide `resolutions` and `candidates`; write redemptions, ledger, decisions, outcomes."""
    rounds = _propose(store, engine)
    engine.run("outcome")
    store.execute("pipeline/redeem:redemptions", run_no=run_no, created_at=created_at)
    store.execute("pipeline/redeem:ledger_entries", run_no=run_no)
    store.execute("pipeline/redeem:ledger_moves", run_no=run_no, actor=actor)
    store.execute("pipeline/redeem:decisions", run_no=run_no)
    store.execute("pipeline/redeem:outcomes", run_no=run_no)
    funded = store.rows("pipeline/redeem:funded", run_no=run_no)
    counts = store.rows("pipeline/redeem:counts")[0]
    return Redeemed(
        **counts,
        redeemed=sum(row["redeemed"] for row in funded),
        rounds=rounds,
        refusals=engine.count("refusals"),
        amounts={name: {row["currency"]: row[name] for row in funded} for name in AMOUNTS},
    )


def _propose(store: Store, engine: DuckEngine) -> int:
    """Let purchases propose until nobody is refused; return the number of rounds."""
    store.execute("pipeline/redeem:reserved")
    store.execute("pipeline/redeem:uses")
    engine.run("redeem")
    rounds = 0
    while engine.count("proposals"):
        rounds += 1
        engine.run("redeem_round")
        engine.advance("standing", "refusals", "proposals")
    return rounds
