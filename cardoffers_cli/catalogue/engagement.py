"""Take engagement (widget views, offer impressions) from a catalogue file: one row per event.

Nothing but its content tells an event from another, so the same row again is the same event, also
where a feed read has recorded it. Moments to come are taken as they are: a funnel counts them when
its window has reached them. Files are long, so they are taken a batch at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.interning import intern_cardholders

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


def take(store: Store, rows: pl.DataFrame, findings: Table, run_no: int) -> int:
    """Write the events of well-formed rows; return how many are new."""
    store.load("catalogue/engagement:check", rows, findings)
    cardholders = store.make("catalogue/engagement:stage_cardholders", frame=rows)
    intern_cardholders(store, cardholders)
    new = store.load("catalogue/engagement:insert", rows, run_no=run_no)
    store.drop(cardholders)
    return new
