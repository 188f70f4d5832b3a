"""Numbered migrations: each is applied once, with its record, in one transaction.

The number of the newest file in `sql/migrations/` is the schema version this program works with.
Migrations make tables; views and macros are in `sql/views/`, and are all made anew behind the last
migration. So the schema version decides those too, and no opening has to look at them: whoever
changes one adds a migration, be it one that only says so (`tests/store/digests.txt`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from cardoffers_cli.domain.money import MINOR_UNITS
from cardoffers_cli.sql import sql_folder, statements
from cardoffers_cli.store.engine_errors import SchemaUnknown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    import polars as pl

    from cardoffers_cli.store.store import Store


@dataclass(frozen=True)
class Migration:
    """One file of `sql/migrations/`, named `<number>_<name>.sql`."""

    version: int
    name: str
    stem: str

    @property
    def digest(self) -> str:
        """SHA-256 of the statements, kept with the record of the migration."""
        return _digest(statements(self.stem).values())


VIEWS = tuple(
    f"views/{name}" for name in "ids money keys purchases offers redemptions webhooks".split()
)
"""The files of views and macros; what one reads stands in it, or in one before it."""


def views_digest() -> str:
    """Return the SHA-256 of the statements that make views and macros."""
    return _digest(query for stem in VIEWS for query in statements(stem).values())


def _digest(queries: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(queries).encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the packaged migrations in order."""
    stems = sorted(
        entry.name.removesuffix(".sql")
        for entry in sql_folder().joinpath("migrations").iterdir()
        if entry.name.endswith(".sql")
    )
    return tuple(
        Migration(int(stem.partition("_")[0]), stem.partition("_")[2], f"migrations/{stem}")
        for stem in stems
    )


def newest_version() -> int:
    """Return the schema version this program works with."""
    return migrations()[-1].version


def applied(store: Store) -> list[dict[str, Any]]:
    """Return the records of applied migrations; empty if this is no store of ours.

    They are simply read: to ask the engine for its tables first takes ten times as long, and every
    opening of a store comes by here.
    """
    try:
        return store.rows("store/info:migrations")
    except SchemaUnknown:
        return []


def migrate(store: Store, now: datetime, have: Iterable[int] = ()) -> list[Migration]:
    """Apply what is missing inside the caller's transaction; return what was applied.

    `have` are the versions that are `applied`, which is asked before the transaction: in a new
    file the question fails, and would take the transaction with it.
    """
    missing = apply(store, now, have)
    for stem in VIEWS if missing else ():
        for query in statements(stem):
            store.execute(f"{stem}:{query}")
    store.load("store/info:currencies", _currencies())
    return missing


def apply(store: Store, now: datetime, have: Iterable[int]) -> list[Migration]:
    """Make the tables of the migrations that are missing, as `migrate` does, without any views."""
    missing = [made for made in migrations() if made.version not in set(have)]
    for migration in missing:
        for query in statements(migration.stem):
            store.execute(f"{migration.stem}:{query}")
        store.execute(
            "store/info:record_migration",
            version=migration.version,
            name=migration.name,
            digest=migration.digest,
            engine_version=duckdb.__version__,
            applied_at=now,
        )
    return missing


def _currencies() -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - heavy, and a current store needs none of it

    return pl.DataFrame({"currency": MINOR_UNITS.keys(), "minor_unit": MINOR_UNITS.values()})
