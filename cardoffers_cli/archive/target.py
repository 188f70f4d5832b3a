"""Where an engine works for a store, and what it is given to compute there.

It reads the parts of the archive where they are. What else it needs is handed to it by value.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.archive import export
from cardoffers_cli.archive.archive import WORK, Archive, begin, part_folder
from cardoffers_cli.kernel.store.binding import run
from cardoffers_cli.kernel.store.statements import statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from cardoffers_cli.archive.archive import Lister
    from cardoffers_cli.archive.buckets import Place
    from cardoffers_cli.archive.spark import SparkEngine
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

CATALOGUE = ("merchants", "identifiers", "terms_in_force", "link_starts")
"""The tables and views of the store that plans read, but for those that are archived."""


@dataclass(frozen=True, kw_only=True)
class EngineTarget:
    """Where an engine works: its address, and the archive's place, as named here and there."""

    url: str
    root: Place
    named: str

    @property
    def endpoint(self) -> str:
        """The address as it may be shown and kept, without the token that it may carry."""
        return self.url.partition("/;")[0]

    def there(self, folder: Place) -> str:
        """Return how the engine names a folder of the archive."""
        return self.named + str(folder).removeprefix(str(self.root))

    def begin(self, store: Store) -> None:
        """Let the archive begin, in the caller's transaction, where the store has none yet."""
        begin(store, self.root)

    def move_recent(self, store: Store, job: Job) -> None:
        """Move what is recent into the archive, in transactions of its own."""
        export.move_recent(store, job, self.root)

    def known_references(self, store: Store, refs: Table, same: Table, *, name: object) -> pa.Table:
        """Return those of some `refs` that are in the archive, of the rows of the `same` hash.

        The session is called by a new `name`. The store stays open meanwhile, as its transaction
        holds what is staged.
        """
        rows = given(store, self, [refs, same], "purchases", catalogue=())
        with self.engine(name) as engine:
            there = rows.to(engine)
            tables = engine.run("dedupe", there["staged_refs"], there["same_refs"])
            return engine.fetch(tables["known_refs"])

    @contextmanager
    def engine(self, name: object) -> Iterator[SparkEngine]:
        """Open a session for the length of a `with` block; what it left on the way is removed.

        That is in a folder of this name, and of this process.
        """
        from cardoffers_cli.archive.spark import SparkEngine  # noqa: PLC0415 - heavy, and seldom

        work = self.root / WORK / f"{name}.{os.getpid()}"
        engine = SparkEngine.at(self.url, self.there(work))
        try:
            yield engine
        finally:
            engine.close()
            work.remove()


@dataclass(frozen=True, kw_only=True)
class EngineInput:
    """What an engine is given: rows by value, and folders of the archive to read in place.

    `stored` are tables of the store, which plans read by name; `handed` are handed to plans.
    """

    stored: Mapping[str, pa.Table]
    handed: Mapping[str, pa.Table]
    folders: Mapping[str, list[str]]

    def to(self, engine: SparkEngine) -> dict[str, Table]:
        """Hand it over; return the tables that plans are to be handed."""
        for name, rows in self.stored.items():
            engine.put(name, rows, self.folders.get(name, ()))
        return {name: engine.hand(name, rows) for name, rows in self.handed.items()}


def given(
    store: Lister,
    target: EngineTarget,
    handed: Iterable[Table],
    *archived: str,
    catalogue: Iterable[str] = CATALOGUE,
) -> EngineInput:
    """Take what an engine needs: tables that are handed, those `archived` and the `catalogue`'s.

    Of what is archived the rows are taken that are still in the store.
    """
    folders: dict[str, list[str]] = {}
    for part in Archive(store, target.root).parts():
        folder = target.there(part_folder(target.root, part.table_name, part.run_id))
        folders.setdefault(part.table_name, []).append(folder)
    return EngineInput(
        stored={name: stored(store, name) for name in catalogue}
        | {name: stored(store, f"recent_{name}") for name in archived},
        handed={table.name: rows_of(store, table) for table in handed},
        folders=folders,
    )


def stored(store: Lister, name: str) -> pa.Table:
    """Return what plans read of a table of the store; ids are text."""
    with store.guarded():
        return store.connection.sql(statement(f"archive/target:{name}")).to_arrow_table()


def rows_of(store: Lister, table: Table) -> pa.Table:
    """Return the rows of a temporary table; ids are text."""
    with store.guarded():
        reading = store.tables.reading(table)
        rows: pa.Table = run(store.connection, reading, for_arrow=True).to_arrow_table()
    return rows
