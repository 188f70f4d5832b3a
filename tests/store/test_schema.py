"""The schema is told once: tables in `sql/schema.sql`, views and macros in `sql/views/`.

A new store is made of them, an older one by migrations, and both come to the same. Migrations that
are out there stay as they are: `digests.txt` says what each was, and which views the newest one
makes. A new migration is added to it by `UPDATE_GOLDENS=1 pytest tests/store/test_schema.py`; what
stands there already is changed by nothing but a hand.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cardoffers_cli.jobs.river.export import export
from cardoffers_cli.sql import sql_folder, statements
from cardoffers_cli.store.migrations import (
    VIEWS,
    make_store,
    migrate,
    migrations,
    newest_version,
    views_digest,
)
from cardoffers_cli.store.store import Store
from tables import NOON, select
from work import file_of, found, settings, taken, with_catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import duckdb

DIGESTS = Path(__file__).parent / "digests.txt"

CATALOGUE = (
    """
    select table_name, column_name, data_type, is_nullable, column_default, comment
    from duckdb_columns()
    where not internal
    order by table_name, column_index
    """,
    """
    select table_name, constraint_type, constraint_column_names, constraint_text
    from duckdb_constraints()
    order by all
    """,
    "select view_name, sql from duckdb_views() where not internal order by all",
    """
    select function_name, function_type, parameters, macro_definition
    from duckdb_functions()
    where not internal
    order by all
    """,
    "select table_name, index_name, sql from duckdb_indexes() order by all",
    "select sequence_name, sql from duckdb_sequences() order by all",
    "select type_name, logical_type from duckdb_types() where not internal order by all",
)
"""Everything that a store has but rows: what tables and views have, in its order, first."""

TABLES = "select table_name from duckdb_tables() where not internal order by all"


def content(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
    """Return the catalogue of a store, and every row of every table."""
    catalogue = {query: connection.execute(query).fetchall() for query in CATALOGUE}
    tables = connection.execute(TABLES).fetchall()
    rows = {name: connection.execute(f"from {name} order by all").fetchall() for (name,) in tables}
    return catalogue | rows


@contextmanager
def made_by(make: Callable[[Store, datetime], object]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Make a store in memory by one of the ways to make it."""
    made = Store(":memory:", settings())
    try:
        with made.transaction():
            make(made, NOON)
        yield made.connection
    finally:
        made.close()


@pytest.fixture(scope="module")
def migrated() -> dict[str, list[tuple[Any, ...]]]:
    """What a store has that was made by migrations."""
    with made_by(migrate) as connection:
        return content(connection)


def test_a_new_store_is_what_migrations_make(migrated: dict[str, list[tuple[Any, ...]]]) -> None:
    with made_by(make_store) as connection:
        assert migrated == content(connection)


def test_a_scratch_store_is_a_new_one_that_no_migration_made(store: Store) -> None:
    with made_by(make_store) as connection:
        assert content(connection) == content(store.connection) | {
            "migrations": connection.execute("from migrations").fetchall()
        }


@pytest.mark.parametrize(
    "change",
    [
        "alter table runs alter column actor drop not null",
        "alter table merchants alter column category set data type integer",
        "alter table institutions alter column require_marker drop default",
        "alter table runs drop column counts",
        "alter table history rename column root to place",
        "alter table history add primary key (root)",
        "alter table links add column seen_at timestamp",
        "drop table links",
        "create table more (a integer)",
        "create or replace view link_starts as select 1 as institution_id",
        "drop view deliveries",
        "create or replace macro masked(token) as token",
        "create macro more(a) as a",
        "create index by_name on merchants (name)",
        "create sequence numbers",
        "create type mood as enum ('good')",
        "comment on column runs.kind is 'what ran'",
        "delete from terms_of_purchases",
        "update currencies set minor_unit = 3 where currency = 'GBP'",
        "update migrations set digest = '' where version = 1",
        "insert into history values ('here')",
    ],
)
def test_another_store_is_found(migrated: dict[str, list[tuple[Any, ...]]], change: str) -> None:
    with made_by(make_store) as connection:
        connection.execute(change)
        assert migrated != content(connection)


def test_every_file_of_views_is_made() -> None:
    files = {entry.name for entry in sql_folder().joinpath("views").iterdir()}
    assert files == {f"{stem.removeprefix('views/')}.sql" for stem in VIEWS}


def test_a_store_has_just_the_views_and_macros_of_the_files(store: Store) -> None:
    named = sorted(name for stem in VIEWS for name in statements(stem))
    assert [(name,) for name in named] == select(
        store,
        "select view_name from duckdb_views() where not internal and not temporary"
        " union all select function_name from duckdb_functions() where not internal order by all",
    )


def test_every_view_can_be_read(store: Store) -> None:
    """A view is bound when it is read: what it names may have gone since it was made."""
    views = select(store, "select view_name from duckdb_views() where not internal")
    assert [[]] * len(views) == [select(store, f"from {view} limit 0") for (view,) in views]


def test_migrations_make_tables_only() -> None:
    """The first ones made views and macros too, which `sql/views/` has taken over."""
    makes = re.compile(r"^create\s+(or\s+replace\s+)?(view|macro)", re.MULTILINE)
    assert [1, 2, 3, 4, 6, 10, 12] == [
        made.version
        for made in migrations()
        if any(makes.search(query) for query in statements(made.stem).values())
    ]


def test_views_show_what_is_in_the_history(tmp_path: Path) -> None:
    made = with_catalogue(tmp_path)
    taken(made, file_of(tmp_path / "tx.csv", "ref cardholder identifier\nr-1 c0 M0"))
    asked = "select transaction_ref, merchant_name from identified_purchases"
    before = found(made, asked)
    assert [("r-1", "bakery")] == before
    export(made, str(tmp_path / "history"))
    assert [] == found(made, "from recent_purchases")
    assert before == found(made, asked)


# Digests


def digests() -> list[str]:
    """Return what is made today: a line for each migration, and one for the views."""
    named = [f"{made.stem.removeprefix('migrations/')} {made.digest}" for made in migrations()]
    return [*named, f"views of {newest_version()} {views_digest()}"]


def changed(lines: list[str], today: list[str]) -> list[str]:
    """Return the lines that are not as they were, by what is made today."""
    known = dict(line.rsplit(" ", 1) for line in today)
    return [line for line in lines if known.get(line.rsplit(" ", 1)[0]) != line.rsplit(" ", 1)[1]]


def test_a_migration_stays_as_it_was_and_views_change_with_a_new_one() -> None:
    lines, today = DIGESTS.read_text().splitlines(), digests()
    if os.environ.get("UPDATE_GOLDENS"):
        of_before = f"views of {newest_version()} "
        lines = [line for line in lines if not line.startswith("views ") or of_before in line]
        lines = sorted({*lines, *(line for line in today if not is_in(line, lines))})
        DIGESTS.write_text("\n".join([*lines, ""]))
    assert [] == changed(lines, today), "add a migration with the next number instead"
    assert today == lines


def is_in(line: str, lines: list[str]) -> bool:
    return any(each.rsplit(" ", 1)[0] == line.rsplit(" ", 1)[0] for each in lines)


@pytest.mark.parametrize(
    ("expected", "today"),
    [
        ([], ["0001_a 11", "views of 1 22"]),
        ([], ["0001_a 11", "0002_b 33", "views of 1 22"]),
        (["0001_a 11"], ["0001_a 12", "views of 1 22"]),
        (["0001_a 11"], ["views of 1 22"]),
        (["views of 1 22"], ["0001_a 11", "views of 1 23"]),
    ],
)
def test_a_change_is_found(expected: list[str], today: list[str]) -> None:
    assert expected == changed(["0001_a 11", "views of 1 22"], today)
