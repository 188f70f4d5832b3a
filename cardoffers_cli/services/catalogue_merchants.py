"""Take merchants from a catalogue file: one row per merchant_id."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_merchants:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_merchants:load", rows)


def take(store: Store, findings: Table, changes: Table) -> tuple[int, int]:
    """Write the staged merchants; return how many are new and how many changed."""
    store.execute("services/catalogue_merchants:check", findings)
    store.execute("services/catalogue_merchants:refuse", findings)
    store.execute("services/catalogue_merchants:compare", changes)
    changed = store.execute("services/catalogue_merchants:update", changes)
    new = store.execute("services/catalogue_merchants:insert")
    store.execute("services/catalogue_merchants:drop_staged")
    return new, changed
