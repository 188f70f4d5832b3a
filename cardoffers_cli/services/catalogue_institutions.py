"""Take institutions with their programs from a catalogue file: one row per slug.

An empty institution_id keeps the one the slug is known under; a new slug gets one. An empty
webhook_url or require_marker keeps what is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_institutions:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_institutions:load", rows)


def take(
    store: Store, findings: Table, changes: Table, new_id: Callable[[], UUID]
) -> tuple[int, int]:
    """Write the staged institutions; return how many are new and how many changed."""
    store.execute("services/catalogue_institutions:check", findings)
    store.execute("services/catalogue_institutions:refuse", findings)
    store.execute("services/catalogue_institutions:keep_ids")
    for row in store.rows("services/catalogue_institutions:without_id"):
        store.execute(
            "services/catalogue_institutions:give_id", slug=row["slug"], institution_id=new_id()
        )
    store.execute("services/catalogue_institutions:compare", changes)
    changed = store.execute("services/catalogue_institutions:update", changes)
    new = store.execute("services/catalogue_institutions:insert")
    store.execute("services/catalogue_institutions:drop_staged")
    return new, changed
