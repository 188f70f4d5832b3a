"""A new store, and the way of an older one to the schema of this program.

`kernel/store/schema.sql` is schema 1. A later schema is a file
`kernel/store/migrations/<number>_<name>.sql`, and the same change in `schema.sql`: a new store is
made of that, with the records of all migrations. What an older store lacks is applied in one
transaction. Views and macros are in `views.sql` of their slice: whoever opens a store for writing
that has the digest of others makes them anew.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from cardoffers_cli.kernel.store.statements import VIEWS, sql_folder, statements
from cardoffers_cli.kernel.words.money import MINOR_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store

_COMMENT = re.compile(r"\s*--.*")


@dataclass(frozen=True)
class Migration:
    """One file of SQL (`folder/file`) that brings a store to a schema."""

    version: int
    name: str
    stem: str


BASELINE = Migration(1, "baseline", "kernel/store/schema")


@cache
def digest_of(*stems: str) -> str:
    """Return the SHA-256 of the statements of files, comments left out."""
    queries = [query for stem in stems for query in statements(stem).values()]
    return hashlib.sha256(_COMMENT.sub("", "\n".join(queries)).encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """Return the baseline and the packaged migrations, in order."""
    folder = sql_folder() / "kernel" / "store" / "migrations"
    files = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    stems = [name.removesuffix(".sql") for name in files if name.endswith(".sql")]
    parts = [(stem, *stem.split("_", 1)) for stem in stems]
    return BASELINE, *(
        Migration(int(no), name, f"kernel/store/migrations/{stem}") for stem, no, name in parts
    )


def newest_version() -> int:
    """Return the schema version this program works with."""
    return migrations()[-1].version


def applied(store: Store) -> Sequence[Mapping[str, Any]]:
    """Return the records of the schemas that a store was brought to, oldest first."""
    return store.rows("kernel/store/info:migrations")


def make_store(store: Store, now: datetime) -> None:
    """Make all of a new store inside the caller's transaction, the records of migrations too."""
    make_schema(store)
    _record(store, migrations(), now)


def make_schema(store: Store) -> None:
    """Make the tables of a new store, their first rows, and the views and macros."""
    store.execute_files(BASELINE.stem)
    make_views(store)


def make_views(store: Store) -> None:
    """Make the views and macros anew inside the caller's transaction, and add new currencies."""
    store.execute_files(*VIEWS)
    store.execute("kernel/store/info:keep_views", digest=digest_of(*VIEWS))
    codes, units = [*MINOR_UNITS], [*MINOR_UNITS.values()]
    store.execute("kernel/store/info:add_currencies", currencies=codes, minor_units=units)


def missing(store: Store) -> list[Migration]:
    """Return the migrations that a store lacks, in order."""
    have = [record["version"] for record in applied(store)]
    return [migration for migration in migrations() if migration.version not in have]


def migrate(store: Store, now: datetime) -> list[Migration]:
    """Apply what is missing inside the caller's transaction; return what was applied."""
    lacking = missing(store)
    store.execute_files(*(migration.stem for migration in lacking))
    _record(store, lacking, now)
    make_views(store)
    return lacking


def _record(store: Store, new: Iterable[Migration], now: datetime) -> None:
    engine = {"engine_version": duckdb.__version__, "applied_at": now}
    for item in new:
        record = {"version": item.version, "name": item.name, "digest": digest_of(item.stem)}
        store.execute("kernel/store/info:record_migration", **record, **engine)
