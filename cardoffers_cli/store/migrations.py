"""A new store, and the numbered migrations that bring an older one to the same schema.

The number of the newest file in `sql/migrations/` is the schema version this program works with.
Each migration is applied once, with its record, in one transaction. A new store is made of
`sql/schema.sql` in a fifth of the time that all migrations take, and has their records as if they
had run; `tests/store/test_schema.py` holds that both ways lead to the same tables and rows.
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


_NAMES = (
    "ids money keys purchases counts offers redemptions refunds webhooks approvals reconciliation"
    " statements payouts"
)
VIEWS = tuple(f"views/{name}" for name in _NAMES.split())
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


def make_store(store: Store, now: datetime) -> None:
    """Make all of a new store inside the caller's transaction, the records of migrations too."""
    make_schema(store)
    _record(store, migrations(), now)


def make_schema(store: Store) -> None:
    """Make the tables of a new store, their first rows, and the views and macros."""
    store.execute_files("schema", *VIEWS)
    _add_currencies(store)


def migrate(store: Store, now: datetime, have: Iterable[int] = ()) -> list[Migration]:
    """Apply what is missing inside the caller's transaction; return what was applied.

    `have` are the versions that are `applied`, which is asked before the transaction: in a new
    file the question fails, and would take the transaction with it.
    """
    missing = apply(store, now, have)
    if missing:
        store.execute_files(*VIEWS)
    _add_currencies(store)
    return missing


def apply(store: Store, now: datetime, have: Iterable[int]) -> list[Migration]:
    """Make the tables of the migrations that are missing, as `migrate` does, without any views."""
    missing = [made for made in migrations() if made.version not in set(have)]
    if missing:
        store.execute_files(*(migration.stem for migration in missing))
        _record(store, missing, now)
    return missing


def _record(store: Store, done: Iterable[Migration], now: datetime) -> None:
    for migration in done:
        store.execute(
            "store/info:record_migration",
            version=migration.version,
            name=migration.name,
            digest=migration.digest,
            engine_version=duckdb.__version__,
            applied_at=now,
        )


def _add_currencies(store: Store) -> None:
    store.execute(
        "store/info:add_currencies",
        currencies=[*MINOR_UNITS],
        minor_units=[*MINOR_UNITS.values()],
    )
