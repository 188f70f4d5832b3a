"""Resolve: every purchase that is not decided yet gets its merchant, where somebody knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.engine.duck import DuckEngine
    from cardoffers_cli.store.store import Store


def resolve(
    store: Store,
    engine: DuckEngine,
    *,
    rematch: bool = False,
    import_no: int | None = None,
    purchase_no: int | None = None,
) -> None:
    """Make `undecided` and `resolutions`.

    With `rematch` look at all that never redeemed; with an `import_no` at that import alone, and
    with a `purchase_no` at that purchase, whatever was decided of it.
    """
    if purchase_no is not None:
        store.execute("pipeline/resolve:purchase_looked_at", purchase_no=purchase_no)
        store.execute("pipeline/resolve:of_purchase")
    elif import_no is not None:
        store.execute("pipeline/resolve:import_looked_at", import_no=import_no)
        store.execute("pipeline/resolve:of_import")
    else:
        store.execute(f"pipeline/resolve:{'without_redemption' if rematch else 'undecided'}")
    engine.run("resolve")
