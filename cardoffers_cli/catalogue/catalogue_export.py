"""Read the catalogue back in the columns of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.kernel.store.store import Store


SELDOM = ("net_days", "credit_days", "tax_id", "tax_note")
"""Columns that a file has only where a row of it says something there."""


def export_kind(store: Store, kind: str) -> pl.DataFrame:
    """Return every row of one kind (but links and engagement), typed, in its file's columns."""
    frame = store.frame(f"catalogue/catalogue_export:{kind}")
    unsaid = [name for name in SELDOM if name in frame.columns and frame[name].is_null().all()]
    return frame.drop(unsaid)
