"""Take links (enrolments) from a catalogue file: one row per cardholder and offer.

A link is never changed once made: the first one is kept, whatever a later row says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.store.interning import intern_payers

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_links:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_links:load", rows)


def take(store: Store, run_no: int) -> tuple[int, int]:
    """Write the staged links; return how many are new, and 0, because none ever changes."""
    store.execute("services/catalogue_links:check")
    store.execute("services/catalogue_links:refuse")
    store.execute("services/catalogue_links:stage_payers")
    intern_payers(store)
    store.execute("services/catalogue_links:drop_payers")
    store.execute("services/catalogue_links:number")
    store.execute("services/catalogue_links:drop_staged")
    new = store.execute("services/catalogue_links:insert", run_no=run_no)
    store.execute("services/catalogue_links:warn")
    store.execute("services/catalogue_links:drop_numbered")
    return new, 0
