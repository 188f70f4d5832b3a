"""Merging: the many small parts of a history become few large ones.

Whoever reads a history looks into every part, and each night adds some. They are merged as digits
are carried in counting: ten parts of a table whose numbers of rows have as many digits become one,
which has more. So there are some nine of a size at most, and a row is written anew at most once for
each digit that its part gains. A part of ten million rows is large: it is no slower to read than
the same rows in a larger one, so it stays, and a row was then written seven times at most.

What is merged is written, read back and on the disk before one transaction lists it in the place of
what it was made of. Those folders stay for a while, as a snapshot and backups may list them.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import NoSpace
from cardoffers_cli.store import history, journal
from cardoffers_cli.store.history import FILE, Part, Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.store.places import Place
    from cardoffers_cli.store.store import Store

    Choice = Callable[[Sequence[Part]], list[Part]]
    """Says which parts of a table are to become one."""

MANY = 10
LARGE_ROWS = 10_000_000


def due(parts: Sequence[Part]) -> list[Part]:
    """Return the small parts of a table of whose size there are many."""
    few_rows = _small(parts)
    sizes = Counter(map(_digits, few_rows))
    return [part for part in few_rows if sizes[_digits(part)] >= MANY]


def small(parts: Sequence[Part]) -> list[Part]:
    """Return the small parts of a table, if there are several."""
    few_rows = _small(parts)
    return few_rows if len(few_rows) > 1 else []


def _small(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if part.sums.row_count < LARGE_ROWS]


def _digits(part: Part) -> int:
    return len(str(part.sums.row_count))


def chosen(store: Store, choice: Choice) -> dict[str, list[Part]]:
    """Return the parts that are to become one, by table, of those tables that have any."""
    listed = history.parts(store)
    by_table = {
        table: choice([part for part in listed if part.table == table]) for table in history.TABLES
    }
    return {table: parts for table, parts in by_table.items() if parts}


def write(store: Store, merged: dict[str, list[Part]], run_id: UUID) -> None:
    """Write the merged parts of a run, which nothing reads yet; a failure leaves none."""
    where = _folders(store, merged, run_id)
    try:
        for table, parts in merged.items():
            _write(store, parts, where[table])
    except BaseException:
        for folder in where.values():
            folder.remove()
        raise


def _write(store: Store, parts: Sequence[Part], folder: Place) -> None:
    folder.make()
    files = history.files_of(store, parts)
    try:
        store.execute("store/merging:write", files=files, file=str(folder / FILE))
    except NoSpace:
        raise NoSpace(
            f"The disk that holds {folder} is full.",
            hint="Free some space there and run it again: the history is as it was.",
        ) from None


def replace(
    store: Store, merged: dict[str, list[Part]], run_no: int, run_id: UUID, left_at: datetime
) -> None:
    """List the merged parts of a run in the place of others, in the caller's transaction.

    Raises `StoreDamaged` where one does not come to what they do.
    """
    for table, folder in _folders(store, merged, run_id).items():
        parts = merged[table]
        expected = total([part.sums for part in parts])
        history.list_part(store, table, folder, run_no, run_id, expected=expected)
        left = {"table_name": table, "run_ids": [part.run_id for part in parts]}
        store.execute("store/merging:leave", **left, left_at=left_at)
        store.execute("store/merging:unlist", **left)


def sweep(store: Store, path: Path, root: Place, *, before: datetime) -> None:
    """Remove the parts that the store at `path` left before a moment.

    A store that was put back since then keeps them: until that day another copy of it was the
    store, which may have listed them, and its backups with it. Call it while nobody else writes
    parts there.
    """
    left = store.rows("store/merging:left", before=before)
    put_back_at = journal.put_back_at(path) if left else None
    if put_back_at is not None and put_back_at >= before:
        return
    listed = {part.folder for part in history.parts(store)}
    for row in left:
        folder = history.folder_of(root, row["table_name"], row["run_id"])
        if folder not in listed and _remove(folder):
            store.execute("store/merging:forget", **row)


def total(sums: Sequence[Sums]) -> Sums:
    """Return what several parts of a table come to together."""
    amounts = [each.amount for each in sums if each.amount is not None]
    return Sums(
        row_count=sum(each.row_count for each in sums),
        purchase_no_sum=sum(each.purchase_no_sum for each in sums),
        amount=sum(amounts, Decimal(0)) if amounts else None,
    )


def size(store: Store, parts: Sequence[Part]) -> int:
    """Return the bytes of the files of some parts of a table."""
    return int(store.value("store/merging:size", files=history.files_of(store, parts)))


def left_by_table(store: Store) -> dict[str, int]:
    """Return how many parts were left, whose folders are there, of the tables that have any."""
    return {row["table_name"]: row["parts"] for row in store.rows("store/merging:left_by_table")}


def _remove(folder: Place) -> bool:
    """Remove a folder; return whether nothing of it is left."""
    folder.remove()
    return not folder.names()


def _folders(store: Store, merged: dict[str, list[Part]], run_id: UUID) -> dict[str, Place]:
    root = history.root(store)
    return {table: history.folder_of(root, table, run_id) for table in merged} if root else {}
