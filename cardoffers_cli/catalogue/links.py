"""Take links (enrolments) from a catalogue file: one row per cardholder and offer.

A link is never changed once made: the first one is kept, whatever a later row says. Files of links
are long, so they are taken a batch at a time, straight from the frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.interning import intern_payers

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


def take(store: Store, rows: pl.DataFrame, findings: Table, run_no: int) -> int:
    """Write the links of well-formed rows; return how many are new."""
    store.load("catalogue/links:check", rows, findings)
    payers = store.make("catalogue/links:stage_payers", frame=rows)
    intern_payers(store, payers)
    store.load("catalogue/links:number", rows)
    new = store.execute("catalogue/links:insert", run_no=run_no)
    store.execute("catalogue/links:warn", findings)
    store.drop(payers)
    store.execute("catalogue/links:drop_numbered")
    return new
