"""What an engine is: it computes plans over the tables that it is handed, and writes no ledger.

A plan is a file of `river/plan/`: named SELECTs in an order in which each reads only tables of the
store, what it declares and is handed, and what stands before it. The text is the same for every
engine; `tests/test_sql.py` holds its subset of SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.kernel.store.binding import Table

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
