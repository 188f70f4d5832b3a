"""Redeem: every purchase takes the best offer still open to it, as if one after the other.

The serial meaning (rules.md#redeeming) is computed in rounds: each purchase proposes to its best
offer; an offer keeps the earliest within its budget and its uses; the rest move on to their next
best. Only offers that cannot serve everybody (`tight`) can refuse, so only their proposals go
round. Every round but the last refuses somebody, and nobody is refused by the same offer twice.
Where terms differ, one that was refused as too dear leaves room for a later one that asks for less.
So time is cut, for each merchant, into periods in which every tight offer has one amount and one
limit, decided one after the other; what an offer keeps of an earlier period stands before all that
come later. Most matches have one period.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    terms, rows = candidates.terms, candidates.rows
    limits = engine.run("limits", terms, rows, hold.reserved, hold.uses)
    if not engine.count(limits["tight"]):
        # The first round refuses nobody, so there is no need to hold it.
        uncontested = engine.run("uncontested", rows)
        outcome, rounds = _outcome(engine, candidates, limits, **uncontested), 0
    elif candidates.is_priced:
        outcome, rounds = _close(engine, candidates, hold, limits)
    else:
        turns = engine.run("redeem", terms, rows, *limits.values())["turns"]
        choices, refusals, rounds = _propose(engine, candidates, turns, hold, limits)
        outcome = _outcome(engine, candidates, limits, choices=choices, refusals=refusals)
    tables = engine.define(
        "found",
        *(resolutions.rows, resolutions.said_unknown, hold.this_run),
        *(candidates.enrolled, terms),
        *(outcome[name] for name in ("redeemed", "outcomes_of_choices")),
    )
    return Decided(
        decisions=tables["decided"],
        outcomes=tables["outcomes_found"],
        redemptions=tables["redeemed_purchases"],
        considered=resolutions.rows,
        unresolved=tables["unresolved"],
        candidates=candidates.rows,
        refusals=outcome["refusals"],
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


def _outcome(
    engine: Engine, candidates: Candidates, limits: Made, *, choices: Table, refusals: Table
) -> Made:
    """Say what became of every choice after all refusals."""
    redeemed = engine.run("redeemed", choices, refusals)["redeemed"]
    outcome = engine.run("outcome", choices, redeemed, candidates.terms, *limits.values())
    return {**outcome, "redeemed": redeemed, "refusals": refusals}


def _close(
    engine: Engine, candidates: Candidates, hold: ReservedTables, limits: Made
) -> tuple[Made, int]:
    """Close offers whose cost depends on the purchase; return outcome and rounds.

    All contest without budgets. The first moment at which an offer of a merchant can no longer
    cover the most that a redemption costs closes it from there, and that merchant contests once
    more, until no offer is overdrawn.
    """
    terms, rows = candidates.terms, candidates.rows
    turns = engine.run("redeem", terms, rows, *limits.values())["turns"]
    start = engine.run("closing", limits["limits"], rows)
    closings, final = start["closings"], start["final"]
    without_budgets = {"limits": start["unlimited"].called("limits"), "tight": limits["tight"]}
    asking, rounds = candidates, 0
    while engine.count(asking.rows):
        choices, refusals, more = _propose(engine, asking, turns, hold, without_budgets)
        redeemed = engine.run("redeemed", choices, refusals)["redeemed"]
        last = (closings, final)
        tables = engine.run("closing_round", redeemed, terms, rows, turns, *limits.values(), *last)
        closings = tables["next_closings"].called("closings")
        final = tables["next_final"].called("final")
        asking = replace(candidates, rows=tables["reopened"].called("candidates"))
        engine.drop(tables["overdrawn"], redeemed, choices, refusals, *last)
        rounds += more
    tables = engine.run("closing_outcome", rows, turns, terms, limits["limits"], final)
    return {**tables, "redeemed": final.called("redeemed")}, rounds


def _propose(
    engine: Engine, candidates: Candidates, turns: Table, hold: ReservedTables, limits: Made
) -> tuple[Table, Table, int]:
    """Let the purchases of each period propose; return choices, refusals and how many rounds."""
    contest = engine.run("contest", candidates.rows, turns)
    choices = contest["choices"]
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
