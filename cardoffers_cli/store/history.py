"""The history of a store: what grows with purchases, kept outside of it as Parquet.

A store that has a history lists its parts: `<root>/<table>/run=<run id>/`, each with its rows and
sums. The root is a folder or a URL (`places.py`). Nothing reads a folder that is not listed, so one
that was never finished is never seen. While such a store is open, the views of these tables show
the parts with the recent rows, which are still in the store; every statement that reads them stays
as it is. A part is written once and is never changed. `move` takes the recent rows there;
`merging.py` makes one part of many.
"""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from cardoffers_cli.domain.errors import CardoffersError, Refused, StoreDamaged
from cardoffers_cli.store import journal
from cardoffers_cli.store.leftovers import is_alive
from cardoffers_cli.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal
    from pathlib import Path

    from cardoffers_cli.store.places import Place
    from cardoffers_cli.store.store import Store

TABLES = ("purchases", "purchase_details", "decisions", "outcomes")
"""The tables that a history has parts of."""

FILE = "part.parquet"
"""What is written here is one file; of an engine a part may have many."""
_WORK = "work"


@dataclass(frozen=True, kw_only=True)
class Sums:
    """What tells rows that came whole: how many, and what their numbers and amounts come to."""

    row_count: int
    purchase_no_sum: int | Decimal
    amount: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Part:
    """One table's rows of one run, in a folder of their own."""

    table: str
    run_id: UUID
    folder: Place
    sums: Sums


def root(store: Store) -> Place | None:
    """Return where the history of a store is, or None where it has none."""
    found = store.value("store/history:root")
    return None if found is None else place_of(found)


def begin(store: Store, place: Place) -> None:
    """Let the history of a store begin at a place, in the caller's transaction.

    Raises `Refused` where it has begun elsewhere.
    """
    store.execute("store/history:begin", root=str(place))
    check_root(store, place)
    place.ready(store.connection)


def check_root(store: Store, place: Place) -> None:
    """Raise `Refused` where the history of a store has begun at another place."""
    found = root(store)
    if found is not None and found != place:
        raise Refused(
            f"The history of this store is at {found}.",
            code="history_elsewhere",
            hint="Leave out --to; what is exported goes there too.",
        )


def folder_of(root: Place, table: str, run_id: UUID) -> Place:
    """Return the folder of a part."""
    return root / table / f"run={run_id}"


def parts(store: Store) -> list[Part]:
    """Return the parts that may be read, the oldest first."""
    where = root(store)
    if where is None:
        return []
    return [
        Part(
            table=row["table_name"],
            run_id=row["run_id"],
            folder=folder_of(where, row["table_name"], row["run_id"]),
            sums=Sums(
                row_count=row["row_count"],
                purchase_no_sum=row["purchase_no_sum"],
                amount=row["amount"],
            ),
        )
        for row in store.rows("store/history:parts")
    ]


def show(store: Store, *, whole: bool = True) -> None:
    """Let the views of an open store show its history too.

    Raises `StoreDamaged` where a part is missing or cannot be read; if it is not to be `whole`,
    what cannot be shown is left out. Raises `NetworkFailure` where its place cannot be reached.
    """
    where = root(store)
    if where is None:
        return
    where.ready(store.connection)
    found = _found(store, where)
    if whole and (missing := [part for part, files in found if not files]):
        raise _incomplete(missing)
    for table in TABLES:
        files = [file for part, files in found if part.table == table for file in files]
        with nullcontext() if whole else suppress(StoreDamaged):
            _show(store, table, files)


def _show(store: Store, table: str, files: list[str]) -> None:
    if not files:
        return
    try:
        store.execute(f"store/history:folders_of_{table}", files=files)
        store.execute(f"store/history:show_{table}")
    except CardoffersError as error:
        if error.code != "store_error":  # such as of a column whose name is damaged
            raise
        raise StoreDamaged(
            "A file of the history is not what was written.",
            code="history_damaged",
            hint="Bring it back from a copy of that disk, then run `cardoffers doctor --strict`.",
        ) from error


def _found(store: Store, where: Place) -> list[tuple[Part, list[str]]]:
    """Return the parts, each with the files that it has; every table is listed once."""
    listed = parts(store)
    files = _files(where, listed)
    return [(part, files.get(str(part.folder), [])) for part in listed]


def files_of(store: Store, some: Sequence[Part]) -> list[str]:
    """Return the files of some parts; every table is listed once."""
    where = root(store)
    files = _files(where, some) if where else {}
    return [file for part in some for file in files.get(str(part.folder), [])]


def _files(where: Place, some: Sequence[Part]) -> dict[str, list[str]]:
    files: dict[str, list[str]] = {}
    for table in sorted({part.table for part in some}):
        files |= (where / table).files()
    return files


def recent(store: Store) -> dict[str, Sums]:
    """Return what the rows that are still in the store come to, by table, if there are any."""
    rows = store.rows("store/history:recent_sums")
    return {row.pop("table_name"): Sums(**row) for row in rows if row["row_count"]}


def measure(store: Store, table: str, files: list[str]) -> Sums:
    """Return what files of a table come to."""
    if not files:
        return Sums(row_count=0, purchase_no_sum=0, amount=None)
    query = "sums_of_purchases" if table == "purchases" else "sums"
    return Sums(**store.rows(f"store/history:{query}", files=files)[0])


def move(store: Store, run_no: int, run_id: UUID) -> dict[str, Sums]:
    """Move all recent rows into parts of a run, in the caller's transaction; return what they are.

    What was written is read back and on the disk before it is listed. If the transaction is not
    kept, the rows are still in the store, and the folders are nobody's.
    """
    where = root(store)
    if where is None:
        return {}
    moved = recent(store)
    for table, sums in moved.items():
        folder = folder_of(where, table, run_id)
        write(store, table, folder)
        list_part(store, table, folder, run_no, run_id, expected=sums)
        store.execute(f"store/history:empty_{table}")
    return moved


def write(store: Store, table: str, folder: Place) -> None:
    """Write the recent rows of a table into a folder."""
    folder.make()
    store.execute(f"store/history:write_{table}", file=str(folder / FILE))


def list_part(
    store: Store,
    table: str,
    folder: Place,
    run_no: int,
    run_id: UUID,
    *,
    expected: Sums,
) -> None:
    """Read a part back, put it on the disk and list it, in the caller's transaction.

    A part without rows is not listed, and goes. Raises `StoreDamaged` where it is not what was
    `expected`.
    """
    found = measure(store, table, folder.files().get(str(folder), []))
    if found != expected:
        raise StoreDamaged(
            f"What was written to {folder} is not what was read back from there.",
            code="part_differs",
            hint="The store is as it was. Look at that place, then try again.",
        )
    if found.row_count == 0:
        folder.remove()
        return
    folder.settle()
    row: dict[str, Any] = {**vars(found), "run_no": run_no, "run_id": run_id}
    store.execute("store/history:list_part", table_name=table, **row)


def faults(store: Store) -> list[dict[str, Any]]:
    """Return the parts that are not what is listed of them: each file of the history is read."""
    where = root(store)
    listed = _found(store, where) if where else []
    found = ((part, _measured(store, part, files)) for part, files in listed)
    return [
        {
            "table": part.table,
            "run_id": part.run_id,
            "rows": part.sums.row_count,
            "rows_found": sums and sums.row_count,
        }
        for part, sums in found
        if sums != part.sums
    ]


def _measured(store: Store, part: Part, files: list[str]) -> Sums | None:
    """Return what the files of a part come to, or None where they are damaged."""
    if part.folder.damaged():
        return None
    try:
        return measure(store, part.table, files)
    except StoreDamaged:
        return None


def work_folder(root: Place, name: str) -> Place:
    """Return a folder for what is on the way, of this process and of nobody else."""
    return root / _WORK / f"{name}.{os.getpid()}"


def commit_id(run_id: UUID) -> UUID:
    """Return the id of the run that commits another, by which the journal knows that it was."""
    return uuid5(run_id, "commit")


def sweep(store: Store, path: Path, root: Place) -> None:
    """Remove what runs that were never committed left behind in a history, and dead processes.

    A store at `path` that was put back to an earlier state may take a run for unfinished whose
    parts another copy of it lists: the journal knows better. Call it while nobody else writes
    parts there. Raises `NetworkFailure` where the place cannot be reached.
    """
    for name in (root / _WORK).names():
        _, dot, pid = name.rpartition(".")
        if dot and pid.isdecimal() and not is_alive(int(pid)):
            (root / _WORK / name).remove()
    left = _left_behind(store, root)
    committed = journal.all_ids(path) if left else set()
    for run_id, folder in left:
        if commit_id(run_id) not in committed:
            folder.remove()


def _left_behind(store: Store, root: Place) -> list[tuple[UUID, Place]]:
    """Return the folders of runs that were never finished, but for those that are listed."""
    rows = store.rows("store/history:unfinished")
    unfinished = {f"run={row['run_id']}": row["run_id"] for row in rows}
    listed = {part.folder for part in parts(store)}
    return [
        (unfinished[name], folder)
        for table in (root / each for each in TABLES if unfinished)
        for name in table.names()
        if name in unfinished and (folder := table / name) not in listed
    ]


def _incomplete(missing: Iterable[Part]) -> StoreDamaged:
    folders = sorted(str(part.folder) for part in missing)
    more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
    return StoreDamaged(
        f"The history of the store lacks {folders[0]}{more}.",
        code="history_incomplete",
        hint="Bring its folder back, or the disk that it is on; `cardoffers doctor --strict` looks "
        "at everything else.",
        missing=folders[:20],
    )
