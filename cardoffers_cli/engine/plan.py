"""What an engine is: it computes plans over the tables that it is handed, and writes no ledger.

A plan is a file of `sql/plan/`: named SELECTs in an order in which each reads only tables of the
store, what it declares and is handed, and what stands before it. The text is the same for every
engine; `tests/test_sql.py` holds its subset of SQL. What plans read is in `tables.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cardoffers_cli.sql import statements
from cardoffers_cli.sql.binding import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa

    from cardoffers_cli.sql.binding import Bound, Table, TempTables

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

    def fetch(self, table: Table) -> pa.RecordBatchReader:
        """Return the rows of a table, ids as text; take them to the end before anything else."""


def each_select(
    plan: str, tables: Iterable[Table], names: TempTables, act: Callable[[Table, str], None]
) -> Made:
    """Let `act` make a table of every SELECT of a plan, and return these tables.

    Raises `LookupError` where the plan reads what it was not handed, or is handed what it does not
    read.
    """
    made: dict[str, Table] = {}
    at_hand = {table.name: table for table in tables}
    unread = set(at_hand)
    for query in statements(f"plan/{plan}"):
        bound: Bound = names.bind_any(f"plan/{plan}:{query}", {**at_hand, **made})
        if bound.made is None:
            raise LookupError(f"plan/{plan}:{query} declares no columns that it makes.")
        unread -= declared(f"plan/{plan}:{query}").handed.keys()
        act(bound.made, bound.sql)
        made[query] = bound.made
    if unread:
        raise LookupError(f"plan/{plan} is handed {sorted(unread)}, which it does not declare.")
    return made
