"""Match: which offers every resolved purchase fits, best first, and in which turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.engine.duck import DuckEngine
    from cardoffers_cli.store.store import Store


def match(store: Store, engine: DuckEngine) -> None:
    """Make `enrolled` (with the first check that failed) and `candidates` from `resolutions`."""
    store.execute("pipeline/match:purchase_keys")
    engine.run("match")
