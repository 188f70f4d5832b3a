"""What an engine is: it computes plans over the tables that it is handed; and DuckDB as one.

A plan is a file of `river/plan/`: named SELECTs in an order in which each reads only tables of the
store, what it declares and is handed, and what stands before it. The text is the same for every
engine; `tests/test_sql.py` holds its subset of SQL. No engine writes the ledger.

On DuckDB each SELECT becomes a temporary table. Where a plan is handed tables of few rows, which
are defined and not made, its own are defined too: the statement that reads the last of them
computes them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import duckdb

    from cardoffers_cli.kernel.store.binding import Bound, Table, TempTables


if TYPE_CHECKING:
    Made = Mapping[str, Table]
    """The tables of a plan by the names of its SELECTs."""


class Engine(Protocol):
    """Where plans run; the tables of the store are there by name before."""

    def define(self, plan: str, *tables: Table) -> Made:
        """Name every SELECT of a plan, without computing it: for what is read once, or in part."""

    def run(self, plan: str, *tables: Table) -> Made:
        """Compute every SELECT of a plan into a table."""

    def drop(self, *tables: Table) -> None:
        """Drop tables that nobody reads any more."""

    def count(self, table: Table) -> int:
        """Return the number of rows of a table."""


class DuckEngine:
    """Runs plans on one DuckDB connection, whose tables and views they read.

    Its temporary tables are those of the connection (`tables`), and go when they do. Their names
    come from the packaged files and a counter, never from data.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: TempTables) -> None:
        self._connection = connection
        self._tables = tables

    def define(self, plan: str, *tables: Table) -> Made:
        """Name every SELECT of `river/plan/<plan>.sql`, without computing it."""
        return self._each(plan, tables, self._view)

    def run(self, plan: str, *tables: Table) -> Made:
        """Compute every table of `river/plan/<plan>.sql`."""
        return self._each(plan, tables, self._table)

    def drop(self, *tables: Table) -> None:
        """Drop tables that nobody reads any more; what was defined by them is computed first."""
        for reader in self._tables.readers(tables):
            self._tables.compute(self._connection, reader)
        if dropping := self._tables.dropping(tables):
            self._connection.execute(dropping)
        self._tables.forget(tables)

    def count(self, table: Table) -> int:
        """Return the number of rows of a table."""
        if not self._tables.is_made(table):
            return self._tables.compute(self._connection, table)
        rows = self._connection.table(table.identifier).count("*").fetchall()
        return int(rows[0][0])

    def _each(
        self, plan: str, tables: Sequence[Table], make: Callable[[Table, Bound], None]
    ) -> Made:
        if self._tables.are_few(tables):
            make = self._define
        return self._tables.each_select(plan, tables, make)

    def _define(self, _made: Table, bound: Bound) -> None:
        self._tables.defines(bound)

    def _table(self, table: Table, bound: Bound) -> None:
        self._connection.execute(f"create temp table {table.identifier} as {bound.sql}")

    def _view(self, table: Table, bound: Bound) -> None:
        self._tables.is_view(table)
        self._connection.execute(f"create temp view {table.identifier} as {bound.sql}")
