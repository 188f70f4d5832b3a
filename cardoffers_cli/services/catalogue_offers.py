"""Take offers from a catalogue file: terms, texts, and a version per change.

A version counts from the clock of the import, or from `effective_at`, which dates a correction
back: the newest version known at a purchase is the one it is judged by (rules.md#terms), so a
correction also takes the place of what was imported between. It cannot lie in the future, as the
feed shows the newest terms at once. `effective_at` alone, on an offer that stays as it is, dates
its newest version back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def stage(store: Store) -> None:
    """Make room for the rows of one file."""
    store.execute("services/catalogue_offers:stage")


def load(store: Store, rows: pl.DataFrame) -> None:
    """Add well-formed rows to those staged."""
    store.load("services/catalogue_offers:load", rows)


def take(
    store: Store, findings: Table, changes: Table, run_no: int, now: datetime
) -> tuple[int, int]:
    """Write the staged offers; return how many are new and how many changed."""
    store.execute("services/catalogue_offers:check", findings, now=now)
    store.execute("services/catalogue_offers:refuse", findings)
    store.execute("services/catalogue_offers:warn", findings)
    store.execute("services/catalogue_offers:stage_texts")
    store.execute("services/catalogue_offers:compare", changes)
    store.execute("services/catalogue_offers:compare_texts", changes)
    store.execute("services/catalogue_offers:compare_times", changes)
    changed = store.execute("services/catalogue_offers:update", changes)
    new = store.execute("services/catalogue_offers:insert")
    store.execute("services/catalogue_offers:update_texts")
    store.execute("services/catalogue_offers:insert_texts")
    store.execute("services/catalogue_offers:version", run_no=run_no, now=now)
    store.execute("services/catalogue_offers:drop_texts")
    store.execute("services/catalogue_offers:drop_staged")
    return new, changed


def concerned(store: Store, resolutions: Table, run_no: int) -> int:
    """Count the purchases of `resolutions` that the changed offers of a run concern."""
    return int(store.value("services/catalogue_offers:concerned", resolutions, run_no=run_no))
