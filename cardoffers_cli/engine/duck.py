"""Plans on DuckDB: each SELECT becomes a temporary table, in the order of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

    from cardoffers_cli.engine.plan import Made
    from cardoffers_cli.sql.binding import Table, TempTables


class DuckEngine:
    """Runs plans on one DuckDB connection, whose tables and views they read.

    Its temporary tables are those of the connection (`tables`), and go when they do. Their names
    come from the packaged files and a counter, never from data.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, tables: TempTables) -> None:
        self._connection = connection
        self._tables = tables

    def define(self, plan: str, *tables: Table) -> Made:
        """Name every SELECT of `sql/plan/<plan>.sql`, without computing it."""
        return self._tables.each_select(plan, tables, self._view)

    def run(self, plan: str, *tables: Table) -> Made:
        """Compute every table of `sql/plan/<plan>.sql`."""
        return self._tables.each_select(plan, tables, self._table)

    def drop(self, *tables: Table) -> None:
        """Drop tables that nobody reads any more."""
        self._connection.execute(self._tables.dropping(tables))
        self._tables.forget(tables)

    def count(self, table: Table) -> int:
        """Return the number of rows of a table."""
        rows = self._connection.table(table.identifier).count("*").fetchall()
        return int(rows[0][0])

    def _table(self, made: Table, select: str) -> None:
        self._connection.execute(f"create temp table {made.identifier} as {select}")

    def _view(self, made: Table, select: str) -> None:
        self._tables.is_view(made)
        self._connection.execute(f"create temp view {made.identifier} as {select}")
