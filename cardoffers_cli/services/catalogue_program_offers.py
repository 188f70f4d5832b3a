"""Take the offers of programs from a catalogue file: one row per institution and offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_program_offers:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_program_offers:load", rows)


def take(store: Store, findings: Table, changes: Table) -> tuple[int, int]:
    """Write the staged program offers; return how many are new and how many changed."""
    store.execute("services/catalogue_program_offers:check", findings)
    store.execute("services/catalogue_program_offers:refuse", findings)
    store.execute("services/catalogue_program_offers:compare", changes)
    changed = store.execute("services/catalogue_program_offers:update")
    new = store.execute("services/catalogue_program_offers:insert")
    store.execute("services/catalogue_program_offers:drop_staged")
    return new, changed
