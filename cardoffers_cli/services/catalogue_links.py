"""Take links (enrolments) from a catalogue file: one row per cardholder and offer.

A link is never changed once made: the first one is kept, whatever a later row says. Files of links
are long, so they are taken a batch at a time, straight from the frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.store.interning import intern_payers

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def take(store: Store, rows: pl.DataFrame, findings: Table, run_no: int) -> int:
    """Write the links of well-formed rows; return how many are new."""
    store.load("services/catalogue_links:check", rows, findings)
    payers = store.make("services/catalogue_links:stage_payers", frame=rows)
    intern_payers(store, payers)
    store.load("services/catalogue_links:number", rows)
    new = store.execute("services/catalogue_links:insert", run_no=run_no)
    store.execute("services/catalogue_links:warn", findings)
    store.drop(payers)
    store.execute("services/catalogue_links:drop_numbered")
    return new
