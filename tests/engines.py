"""A match on two engines, and the rows that only one of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.pipeline.match import match
from cardoffers_cli.pipeline.redeem import Found, redeem
from cardoffers_cli.pipeline.resolve import resolve
from cardoffers_cli.sql import statements
from tables import select

if TYPE_CHECKING:
    from cardoffers_cli.engine.plan import Engine
    from cardoffers_cli.engine.spark import SparkEngine
    from cardoffers_cli.store.store import Store

GIVEN = (
    *("merchants", "identifiers", "terms_in_force", "link_starts", "reserved", "uses", "this_run"),
    *("purchases", "decisions"),
)
"""What plans read."""
PLANS = ("resolve", "match", "redeem", "redeem_round", "outcome", "found")
FOUND = [name for plan in PLANS for name in statements(f"plan/{plan}")]
"""Every table of a match."""


def everything(engine: Engine) -> Found:
    """Run all plans of a match."""
    resolve(engine)
    match(engine)
    return redeem(engine)


def differing(store: Store, name: str, engine: SparkEngine) -> list[Any]:
    """Return the rows that only one of both has, each as often as it has more of them."""
    theirs = engine.fetch(name).read_all()
    store.connection.register("theirs", theirs)
    names = ", ".join(theirs.column_names)
    mine = f"select {names} from {name}"  # noqa: S608 - of our own plans
    try:
        return select(store, f"({mine} except all from theirs)") + select(
            store, f"(from theirs except all {mine})"
        )
    finally:
        store.connection.unregister("theirs")
