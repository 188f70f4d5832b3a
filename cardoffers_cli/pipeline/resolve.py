"""Resolve: every purchase that is not decided yet gets its merchant, where somebody knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.engine.plan import Engine
    from cardoffers_cli.store.store import Store


def resolve(engine: Engine, *, rematch: bool = False) -> None:
    """Make `undecided` and `resolutions`; with `rematch` look at all that never redeemed."""
    engine.define("rematch" if rematch else "undecided")
    engine.run("resolve")


def resolve_import(store: Store, engine: Engine, import_no: int) -> None:
    """Make `undecided` and `resolutions` of one import alone."""
    store.execute("pipeline/resolve:import_looked_at", import_no=import_no)
    store.execute("pipeline/resolve:of_import")
    engine.run("resolve")


def resolve_purchase(store: Store, engine: Engine, purchase_no: int) -> None:
    """Make `undecided` and `resolutions` of one purchase, whatever was decided of it."""
    store.execute("pipeline/resolve:purchase_looked_at", purchase_no=purchase_no)
    store.execute("pipeline/resolve:of_purchase")
    engine.run("resolve")
