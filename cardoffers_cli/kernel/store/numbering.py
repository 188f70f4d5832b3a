"""Numbers of new rows: those behind the highest of their table, which is looked up once.

While a store is open for writing nobody else numbers rows in it. So the next number is remembered
with what else is (`memory.py`): until a statement changes the table, or a transaction is rolled
back. Who adds rows says what the next number is after them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store


def next_number(store: Store, address: str) -> int:
    """Return the number of the next row, as the statement at an address has it."""
    return store.memory.recall(address, (address,), lambda: int(store.value(address)))


def numbered_up_to(store: Store, address: str, number: int) -> None:
    """Say that rows up to this number have been added, and no others since the last was given."""
    store.memory.know(address, (address,), number + 1)
