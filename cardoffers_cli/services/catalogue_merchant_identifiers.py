"""Take owners of merchant identifiers from a catalogue file: one row per type and identifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.store.interning import intern_identifiers

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_merchant_identifiers:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_merchant_identifiers:load", rows)


def take(store: Store, findings: Table, changes: Table) -> tuple[int, int]:
    """Write the staged owners; return how many identifiers got their first, how many another."""
    store.execute("services/catalogue_merchant_identifiers:check", findings)
    store.execute("services/catalogue_merchant_identifiers:refuse", findings)
    identifiers = store.make("services/catalogue_merchant_identifiers:stage_identifiers")
    intern_identifiers(store, identifiers)
    store.execute("services/catalogue_merchant_identifiers:compare", changes)
    changed = store.execute("services/catalogue_merchant_identifiers:update")
    new = store.execute("services/catalogue_merchant_identifiers:insert")
    store.drop(identifiers)
    store.execute("services/catalogue_merchant_identifiers:drop_staged")
    return new, changed
