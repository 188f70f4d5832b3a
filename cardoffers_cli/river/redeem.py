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

from cardoffers_cli.river.handles import Decided, MatchCounts, ReservedTables

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from cardoffers_cli.archive.duck import Engine, Made
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Candidates, Resolutions


AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


@dataclass(frozen=True, kw_only=True)
class Redeemed(MatchCounts):
    """What one match came to; the amounts are by name (`AMOUNTS`) and by currency."""

    redeemed: int
    amounts: dict[str, dict[str, Decimal]]

    @property
    def not_redeemed(self) -> int:
        """Purchases whose merchant is known and that redeemed nothing."""
        return self.considered - self.redeemed - self.merchant_unresolved


def find_held(
    store: Store, candidates: Candidates, run_no: int, *, without: int | None = None
) -> ReservedTables:
    """Find what earlier runs hold of budgets, and of the uses that the candidates ask for.

    What the purchase `without` holds is left out, as if it had been given back. Of few candidates
    no table is made, nor of this.
    """
    make = store.make if store.is_made(candidates.rows) else store.define
    this_run = make("river/redeem:this_run", run_no=run_no, purchase_no=without)
    return ReservedTables(
        this_run=this_run,
        reserved=store.make("river/redeem:reserved", this_run),
        uses=store.make("river/redeem:uses", this_run, candidates.rows, candidates.terms),
    )


def find_all_held(store: Store, run_no: int) -> ReservedTables:
    """Name what earlier runs hold of budgets and of uses, for an engine that finds candidates."""
    this_run = store.make("river/redeem:this_run", run_no=run_no, purchase_no=None)
    return ReservedTables(
        this_run=this_run,
        reserved=store.make("river/redeem:reserved", this_run),
        uses=store.make("river/redeem:all_uses"),
    )


def redeem(
    engine: Engine, resolutions: Resolutions, candidates: Candidates, hold: ReservedTables
) -> Decided:
    """Decide which offer each purchase redeems, of its candidates and what is left of them."""
    limits = engine.run("limits", candidates.terms, candidates.rows, hold.reserved, hold.uses)
    if engine.count(limits["tight"]):
        choices, refusals, rounds = _propose(engine, candidates, hold, limits)
    else:  # the first round refuses nobody, so there is no need to hold it
        uncontested = engine.run("uncontested", candidates.rows)
        choices, refusals = uncontested["choices"], uncontested["refusals"]
        rounds = 0
    outcome = engine.run("outcome", choices, refusals, candidates.terms, *limits.values())
    tables = engine.define(
        "found",
        *(resolutions.rows, resolutions.said_unknown, hold.this_run),
        *(candidates.enrolled, candidates.terms),
        *outcome.values(),
    )
    return Decided(
        decisions=tables["decided"],
        outcomes=tables["outcomes_found"],
        redemptions=tables["redeemed_purchases"],
        considered=resolutions.rows,
        unresolved=tables["unresolved"],
        candidates=candidates.rows,
        refusals=refusals,
        rounds=rounds,
        still_unknown=resolutions.still_unknown,
    )


def counted(engine: Engine, decided: Decided) -> MatchCounts:
    """Count what a match came to; where no offer can refuse, all propose in one round."""
    return MatchCounts(
        considered=engine.count(decided.considered) + decided.still_unknown,
        merchant_unresolved=engine.count(decided.unresolved) + decided.still_unknown,
        rounds=decided.rounds or min(1, engine.count(decided.candidates)),
        refusals=engine.count(decided.refusals),
    )


def keep_decisions(store: Store, decided: Decided) -> None:
    """Write decisions and outcomes into the store."""
    store.execute("river/redeem:decisions", decided.decisions)
    store.execute("river/redeem:outcomes", decided.outcomes)


def keep_redemptions(
    store: Store, redemptions: Table, *, run_no: int, created_at: datetime
) -> None:
    """Write redemptions and their ledger entries, of the purchases that redeem an offer."""
    store.execute("river/redeem:redemptions", redemptions, run_no=run_no, created_at=created_at)
    store.execute("river/redeem:ledger_entries", run_no=run_no)


def _propose(
    engine: Engine, candidates: Candidates, hold: ReservedTables, limits: Made
) -> tuple[Table, Table, int]:
    """Let the purchases of each period propose; return choices, refusals and how many rounds."""
    contest = engine.run("redeem", candidates.terms, candidates.rows, *limits.values())
    choices, turns = contest["choices"], contest["turns"]
    fixed = (*limits.values(), choices, candidates.terms, hold.uses)
    proposals, standing, refusals = (
        contest[name] for name in ("proposals", "standing", "refusals")
    )
    period, remaining = contest["period"], engine.count(contest["later_periods"])
    rounds = 0
    while True:
        while engine.count(proposals):
            rounds += 1
            last = (proposals, standing, refusals)
            tables = engine.run("redeem_round", *fixed, *last)
            standing = tables["next_standing"].called("standing")
            refusals = tables["next_refusals"].called("refusals")
            proposals = tables["next_proposals"].called("proposals")
            engine.drop(tables["held"], tables["kept"], tables["refused"], *last)
        if not remaining:
            return choices, refusals, rounds
        remaining -= 1
        tables = engine.run("redeem_period", period, turns, choices)
        period = tables["next_period"].called("period")
        proposals = tables["next_proposals"].called("proposals")
