"""What an engine is: it computes plans over tables known by name, and writes no ledger.

A plan is a file of `sql/plan/`: named SELECTs in an order in which each reads only inputs and what
stands before it. The text is the same for every engine; `tests/test_sql.py` holds its subset of
SQL. What plans read is in `tables.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Engine(Protocol):
    """Where plans run; the inputs are there by name before."""

    def define(self, plan: str) -> None:
        """Name every SELECT of a plan, without computing it: for what is read once, or in part."""

    def run(self, plan: str) -> None:
        """Compute every SELECT of a plan into a table of its name."""

    def advance(self, *names: str) -> None:
        """Let `next_<name>` become `<name>`, for the next round of a loop."""

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""

    def fetch(self, name: str) -> pa.RecordBatchReader:
        """Return the rows of a table, ids as text; take them to the end before anything else."""
