"""A match on two engines, and the rows that only one of them has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive.connecting import Folder
from cardoffers_cli.archive.target import EngineTarget, given
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.river.handles import ReservedTables, Waiting
from cardoffers_cli.river.match import match
from cardoffers_cli.river.redeem import find_all_held, redeem
from cardoffers_cli.river.resolve import find_undecided, find_waiting, resolve
from tables import select

if TYPE_CHECKING:
    from cardoffers_cli.archive.duck import Engine, Made
    from cardoffers_cli.archive.spark import SparkEngine
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Decided

PLANS = (
    *("resolve", "match", "candidates", "limits", "redeem", "contest", "redeem_round"),
    *("redeemed", "outcome", "found"),
)
PRICED = (
    *("resolve", "match", "priced", "limits", "redeem", "contest", "redeem_round", "redeemed"),
    *("closing", "closing_round", "closing_outcome", "found"),
)
FOUND, FOUND_PRICED = (
    [name for plan in plans for name in statements(f"river/plan/{plan}")]
    for plans in (PLANS, PRICED)
)
"""Every table of a match, and of one in which what an offer gives depends on the purchase."""


class Kept:
    """An engine whose tables all stay, the newest by the name of its query."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.made: dict[str, Table] = {}

    def define(self, plan: str, *tables: Table) -> Made:
        made = self._engine.define(plan, *tables)
        self.made |= made
        return made

    def run(self, plan: str, *tables: Table) -> Made:
        made = self._engine.run(plan, *tables)
        self.made |= made
        return made

    def drop(self, *tables: Table) -> None:
        """Keep them."""

    def count(self, table: Table) -> int:
        return self._engine.count(table)


def everything(
    engine: Engine, waiting: Waiting, held: ReservedTables, *, is_priced: bool = False
) -> tuple[Decided, dict[str, Table]]:
    """Run all plans of a match; return what it came to, and every table by name."""
    kept = Kept(engine)
    resolutions = resolve(kept, find_undecided(kept, waiting))
    candidates = match(kept, resolutions, is_priced=is_priced)
    decided = redeem(kept, resolutions, candidates, held)
    return decided, kept.made


Handed = tuple[Waiting, ReservedTables]
"""What a match is handed: what waits, and what earlier runs hold."""


def handed_on_both(store: Store, spark: SparkEngine) -> tuple[Handed, Handed]:
    """Give an engine what the other one reads of a store; return what a match is handed on each."""
    waiting, held = find_waiting(store), find_all_held(store, 7)
    nowhere = EngineTarget(url="", root=Folder(Path()), named="")
    tables = (waiting.watermark, waiting.known_now, waiting.refunded, *vars(held).values())
    there = given(store, nowhere, tables, "purchases", "decisions").to(spark)
    waits = {name: there.pop(name) for name in ("watermark", "known_now", "refunded")}
    theirs = Waiting(**waits, still_unknown=waiting.still_unknown), ReservedTables(**there)
    return (waiting, held), theirs


def differing(store: Store, mine: Table, engine: SparkEngine, theirs: Table) -> list[Any]:
    """Return the rows that only one of both has, each as often as it has more of them."""
    fetched = engine.fetch(theirs)
    store.connection.register("theirs", fetched)
    names = ", ".join(fetched.column_names)
    rows = f"select {names} from {mine.identifier}"  # noqa: S608 - of our own plans
    try:
        return select(store, f"({rows} except all from theirs)") + select(
            store, f"(from theirs except all {rows})"
        )
    finally:
        store.connection.unregister("theirs")
