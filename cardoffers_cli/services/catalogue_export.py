"""Read the catalogue back in the columns of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cardoffers_cli.store.store import Store


def export_kind(store: Store, kind: str) -> pl.DataFrame:
    """Return every row of one kind (but links and engagement), typed, in its file's columns."""
    return store.frame(f"services/catalogue_export:{kind}")


def export_masked_links(store: Store) -> pl.DataFrame:
    """Return every link in the columns of its file, its tokens masked."""
    return store.frame("services/catalogue_export:masked_links")
