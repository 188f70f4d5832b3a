"""Resolve: every purchase that is not decided yet gets its merchant, where somebody knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.engine.duck import DuckEngine
    from cardoffers_cli.store.store import Store


def resolve(store: Store, engine: DuckEngine, *, rematch: bool = False) -> None:
    """Make `undecided` and `resolutions`; with `rematch` look at all that never redeemed."""
    store.execute(f"pipeline/resolve:{'without_redemption' if rematch else 'undecided'}")
    engine.run("resolve")
