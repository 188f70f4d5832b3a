"""Take offers from a catalogue file: terms, texts, and a version of the terms per change."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_offers:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_offers:load", rows)


def take(store: Store, run_no: int) -> tuple[int, int]:
    """Write the staged offers; return how many are new and how many changed."""
    store.execute("services/catalogue_offers:check")
    store.execute("services/catalogue_offers:refuse")
    store.execute("services/catalogue_offers:stage_texts")
    store.execute("services/catalogue_offers:compare")
    store.execute("services/catalogue_offers:compare_texts")
    changed = store.execute("services/catalogue_offers:update")
    new = store.execute("services/catalogue_offers:insert")
    store.execute("services/catalogue_offers:update_texts")
    store.execute("services/catalogue_offers:insert_texts")
    store.execute("services/catalogue_offers:version", run_no=run_no)
    store.execute("services/catalogue_offers:drop_texts")
    store.execute("services/catalogue_offers:drop_staged")
    return new, changed
