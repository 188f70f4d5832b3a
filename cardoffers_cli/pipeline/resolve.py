"""Resolve: every purchase that is not decided yet gets its merchant, where somebody knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.pipeline.handles import Resolutions, Undecided

if TYPE_CHECKING:
    from cardoffers_cli.engine.plan import Engine
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def find_undecided(engine: Engine, *, rematch: bool = False) -> Undecided:
    """Name the purchases that are not decided yet; with `rematch` all that never redeemed."""
    made = engine.define("rematch" if rematch else "undecided")
    return Undecided(purchases=made["undecided"])


def purchases_of_import(store: Store, import_no: int) -> Undecided:
    """Take the purchases of one import alone, which are few."""
    return Undecided(purchases=store.define("pipeline/resolve:of_import", import_no=import_no))


def one_purchase(store: Store, purchase_no: int) -> Undecided:
    """Take one purchase, whatever was decided of it."""
    return Undecided(purchases=store.make("pipeline/resolve:of_purchase", purchase_no=purchase_no))


def import_looked_at(store: Store, import_no: int) -> Table:
    """Make the table of one number, by which an engine tells the purchases of an import."""
    return store.make("pipeline/resolve:import_looked_at", import_no=import_no)


def resolve(engine: Engine, undecided: Undecided) -> Resolutions:
    """Find the merchant of each of these purchases."""
    made = engine.run("resolve", undecided.purchases)
    return Resolutions(rows=made["resolutions"])
