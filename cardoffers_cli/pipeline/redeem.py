"""Redeem: every purchase takes the best offer still open to it, as if one after the other.

The serial meaning (rules.md#redeeming) is computed in rounds: each purchase proposes to its best
offer; an offer keeps the earliest within its budget and its uses; the rest move on to their next
best. Only offers that cannot serve everybody (`tight`) can refuse, so only their proposals go
round. The loop ends because every round but the last refuses somebody, and nobody is refused by the
same offer twice.

A purchase brings its own terms: the amount that it takes of a budget, and the number of uses that
it is allowed. Where these are the same for all who ask an offer, what it refuses once it would
always refuse: more who ask before can only leave less. Where they differ that is not so, for one
that was refused as too dear leaves room for a later one that asks for less. Terms follow time, and
so do turns. So time is cut, for each merchant, into periods in which every tight offer has one
amount and one limit, and these are decided one after the other; what an offer keeps of an earlier
period stands before all that come later. Most matches have one period.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    import pyarrow as pa

    from cardoffers_cli.engine.plan import Engine
    from cardoffers_cli.store.store import Store


AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


@dataclass(frozen=True, kw_only=True)
class Found:
    """What an engine found: purchases it considered, and how many rounds of proposals it took."""

    considered: int
    merchant_unresolved: int
    rounds: int
    refusals: int


@dataclass(frozen=True, kw_only=True)
class Redeemed(Found):
    """What one match came to; the amounts are by name (`AMOUNTS`) and by currency."""

    redeemed: int
    amounts: dict[str, dict[str, Decimal]]

    @property
    def not_redeemed(self) -> int:
        """Purchases whose merchant is known and that redeemed nothing."""
        return self.considered - self.redeemed - self.merchant_unresolved


def hold(store: Store, run_no: int) -> None:
    """Make what the store hands to the plans: `reserved`, `uses` and `this_run`."""
    store.execute("pipeline/redeem:reserved")
    store.execute("pipeline/redeem:uses")
    store.execute("pipeline/redeem:this_run", run_no=run_no)


def redeem(engine: Engine) -> Found:
    """Decide `resolutions` and `candidates`; make the tables of the plan `found`."""
    rounds = _propose(engine)
    engine.run("outcome")
    engine.define("found")
    return Found(
        considered=engine.count("resolutions"),
        merchant_unresolved=engine.count("unresolved"),
        rounds=rounds,
        refusals=engine.count("refusals"),
    )


def keep_decisions(store: Store) -> None:
    """Write `decided` and `outcomes_found` into the store."""
    store.execute("pipeline/redeem:decisions")
    store.execute("pipeline/redeem:outcomes")


def take_decisions(store: Store, decided: pa.Table, outcomes: pa.Table) -> None:
    """Write decisions and outcomes into the store that an engine found elsewhere."""
    store.load("pipeline/redeem:fetched_decisions", decided)
    store.load("pipeline/redeem:fetched_outcomes", outcomes)


def take_redemptions(store: Store, rows: pa.Table) -> None:
    """Make `redeemed_purchases` of what an engine found elsewhere."""
    store.load("pipeline/redeem:fetched_redemptions", rows)
    store.execute("pipeline/redeem:redeemed_purchases")


def keep_redemptions(
    store: Store, found: Found, *, run_no: int, created_at: datetime, actor: str
) -> Redeemed:
    """Write redemptions and their ledger from `redeemed_purchases`."""
    store.execute("pipeline/redeem:redemptions", run_no=run_no, created_at=created_at)
    store.execute("pipeline/redeem:ledger_entries", run_no=run_no)
    store.execute("pipeline/redeem:ledger_moves", run_no=run_no, actor=actor)
    funded = store.rows("pipeline/redeem:funded", run_no=run_no)
    return Redeemed(
        **vars(found),
        redeemed=sum(row["redeemed"] for row in funded),
        amounts={name: {row["currency"]: row[name] for row in funded} for name in AMOUNTS},
    )


def _propose(engine: Engine) -> int:
    """Let the purchases of each period propose in turn; return the number of rounds."""
    engine.run("redeem")
    rounds = _rounds(engine)
    for _ in range(engine.count("later_periods")):
        engine.run("redeem_period")
        engine.advance("period", "proposals")
        rounds += _rounds(engine)
    return rounds


def _rounds(engine: Engine) -> int:
    """Let purchases propose until nobody is refused; return the number of rounds."""
    rounds = 0
    while engine.count("proposals"):
        rounds += 1
        engine.run("redeem_round")
        engine.advance("standing", "refusals", "proposals")
    return rounds
