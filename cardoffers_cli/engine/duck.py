"""Plans on DuckDB: each SELECT becomes a temporary table by its name, in the order of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.engine.tables import TABLES, columns
from cardoffers_cli.sql import statements

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_TABLE = "create or replace temp table "
_VIEW = "create or replace temp view "
_BATCH_ROWS = 100_000


class DuckEngine:
    """Runs plans on one DuckDB connection; the inputs are its tables and views.

    Table names come from the packaged files alone, never from data.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def define(self, plan: str) -> None:
        """Name every SELECT of `sql/plan/<plan>.sql`, without computing it."""
        for name, select in statements(f"plan/{plan}").items():
            self._connection.execute(f"{_VIEW}{name} as {select}")

    def run(self, plan: str) -> None:
        """Compute every table of `sql/plan/<plan>.sql`."""
        for name, select in statements(f"plan/{plan}").items():
            self._connection.execute(f"{_TABLE}{name} as {select}")

    def advance(self, *names: str) -> None:
        """Let `next_<name>` become `<name>`, for the next round of a loop."""
        for name in names:
            self._connection.execute(f"{_TABLE}{name} as from next_{name}")

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        rows = self._connection.table(name).count("*").fetchall()
        return int(rows[0][0])

    def fetch(self, name: str) -> pa.RecordBatchReader:
        """Return a table by its columns of `tables.py`, or whole if it is not there.

        The connection is busy until the last batch was taken.
        """
        table = self._connection.table(name)
        if name in TABLES:
            table = table.select(*columns(TABLES[name]))
        return table.to_arrow_reader(_BATCH_ROWS)
