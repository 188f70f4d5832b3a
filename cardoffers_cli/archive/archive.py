"""The archive of a store: what grows with purchases, kept outside of it as Parquet.

A store that has an archive lists its parts: `<root>/<table>/run=<run id>/`, each with its rows and
sums. The root is a folder or a URL (`places.py`). Nothing reads a folder that is not listed, so one
that was never finished is never seen. While such a store is open, the views of these tables show
the parts with the recent rows, which are still in the store; every statement that reads them stays
as it is. A part is written once and is never changed: `move` takes the recent rows there, and
`export.py` makes one part of many. What was written is read back and on the disk before it is
listed, and a transaction that is not kept leaves folders that are nobody's.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cardoffers_cli.archive.buckets import place_of
from cardoffers_cli.kernel.words.errors import CardoffersError, Refused, StoreDamaged
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from decimal import Decimal
    from uuid import UUID

    import duckdb

    from cardoffers_cli.archive.buckets import Place
    from cardoffers_cli.kernel.store.binding import TempTables

R = TypeVar("R", bound=Record)

TABLES = ("purchases", "purchase_details", "decisions", "outcomes")
"""The tables that an archive has parts of."""

FILE = "part.parquet"
"""What is written here is one file; of an engine a part may have many."""
WORK = "work"
"""The folder for what is on the way, by name and process."""


class Sums(Record):
    """What tells rows that came whole: how many, and what their numbers and amounts come to."""

    row_count: int
    purchase_no_sum: int | Decimal
    amount: Decimal | None


class Part(Sums):
    """One table's rows of one run, in a folder of their own."""

    table_name: str
    run_id: UUID


class Lister(Protocol):
    """An open store, as far as an archive knows it: its named statements, and its connection."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, for what reads and writes files."""

    @property
    def tables(self) -> TempTables:
        """What the temporary tables of the connection are called, or stand for."""

    def execute(self, name: str, /, **parameters: Any) -> int:
        """Run a named statement."""

    def records(self, shape: type[R], name: str, /, **parameters: Any) -> list[R]:
        """Return every row of a named query as a record."""

    def rows(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        """Return every row of a named query as a dictionary."""

    def value(self, name: str, /, **parameters: Any) -> Any:
        """Return the first value of a named query, or None."""

    def guarded(self) -> AbstractContextManager[None]:
        """Raise as ours what the connection raises in the block."""


class Writer(Protocol):
    """A run that writes parts: its number in the store, and its public id."""

    @property
    def run_no(self) -> int:
        """Its number."""

    @property
    def run_id(self) -> UUID:
        """Its id."""


class PartFault(Record):
    """A part that is not what is listed of it; `rows_found` is None where its files are damaged."""

    table: str
    run_id: UUID
    rows: int
    rows_found: int | None


def part_folder(root: Place, table: str, run_id: UUID) -> Place:
    """Return the folder of a part of the archive at a root."""
    return root / table / f"run={run_id}"


def archive_of(store: Lister) -> Archive | None:
    """Return the archive of an open store, or None where it has none."""
    root = store.value("archive/archive:root")
    return None if root is None else Archive(store, place_of(root))


def begin(store: Lister, root: Place) -> Archive:
    """Let the archive of a store begin at a place, in the caller's transaction; return it.

    Raises `Refused` where it has begun elsewhere.
    """
    store.execute("archive/archive:begin", root=str(root))
    check_root(store, root)
    root.ready(store.connection)
    return Archive(store, root)


def check_root(store: Lister, root: Place) -> None:
    """Raise `Refused` where the archive of a store has begun at another place."""
    archive = archive_of(store)
    if archive is not None and archive.root != root:
        raise Refused.from_table("archive", "history_elsewhere", archive=archive)


def recent(store: Lister) -> dict[str, Sums]:
    """Return what the rows that are still in the store come to, by table, if there are any."""
    totals = {table: store.records(Sums, f"archive/archive:recent_{table}") for table in TABLES}
    return {table: sums for table, (sums,) in totals.items() if sums.row_count}


class Archive:
    """The archive that an open store lists, at its place."""

    def __init__(self, store: Lister, root: Place) -> None:
        self._store = store
        self.root = root

    def parts(self) -> list[Part]:
        """Return the parts that may be read, the oldest first."""
        return self._store.records(Part, "archive/archive:parts")

    def show(self, *, whole: bool = True) -> None:
        """Let the views of the store show the parts too.

        Raises `StoreDamaged` where a part is missing or cannot be read; if it is not to be `whole`,
        what cannot be shown is left out. Raises `NetworkFailure` where its place cannot be reached.
        """
        self.root.ready(self._store.connection)
        parts = self._files(self.parts())
        if whole and not all(files for _, files in parts):
            missing = sorted(str(self._folder(part)) for part, files in parts if not files)
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise StoreDamaged(
                f"The history of the store lacks {missing[0]}{more}.",
                code="history_incomplete",
                hint="Bring its folder back, or the disk that it is on; `cardoffers doctor "
                "--strict` looks at everything else.",
                missing=missing[:20],
            )
        for table in TABLES:
            files = [file for part, some in parts if part.table_name == table for file in some]
            with nullcontext() if whole else suppress(StoreDamaged):
                self._show(table, files)

    def move(self, run: Writer) -> dict[str, Sums]:
        """Move all recent rows into parts of a run, in the caller's transaction.

        Return what they come to by table.
        """
        moved = recent(self._store)
        for table, sums in moved.items():
            file = self.new_file(table, run)
            self._store.execute(f"archive/archive:write_{table}", file=file)
            self.add(table, run, expected=sums)
            self._store.execute(f"archive/archive:empty_{table}")
        return moved

    def add(self, table: str, run: Writer, *, expected: Sums) -> None:
        """Read a part back, put it on the disk and list it, in the caller's transaction.

        A part without rows is not listed, and goes. Raises `StoreDamaged` where it is not what was
        `expected`.
        """
        folder = part_folder(self.root, table, run.run_id)
        sums = self._measure(table, folder.files().get(str(folder), []))
        if sums != expected:
            raise StoreDamaged.from_table("archive", "part_differs", folder=folder)
        if sums.row_count == 0:
            folder.remove()
            return
        folder.settle()
        self._store.execute(
            "archive/archive:add", table_name=table, run_no=run.run_no, run_id=run.run_id, **sums
        )

    def files_of(self, some: Sequence[Part]) -> list[str]:
        """Return the files of some parts."""
        return [file for _, files in self._files(some) for file in files]

    def new_file(self, table: str, run: Writer) -> str:
        """Return the file that is to be written into a part of a run, whose folder is made."""
        folder = part_folder(self.root, table, run.run_id)
        folder.make()
        return str(folder / FILE)

    def faults(self) -> list[PartFault]:
        """Return the parts that are not what is listed of them: each file is read."""
        parts = ((part, self._measured(part, files)) for part, files in self._files(self.parts()))
        return [
            PartFault(
                table=part.table_name,
                run_id=part.run_id,
                rows=part.row_count,
                rows_found=None if sums is None else sums.row_count,
            )
            for part, sums in parts
            if sums != Sums.cut(part)
        ]

    def remove_work(self, is_alive: Callable[[int], bool]) -> None:
        """Remove what dead processes left on the way."""
        work = self.root / WORK
        for name in work.names():
            _, dot, pid = name.rpartition(".")
            if dot and pid.isdecimal() and not is_alive(int(pid)):
                (work / name).remove()

    def unfinished(self) -> list[tuple[UUID, Place]]:
        """Return the folders of runs that were never finished, but for those that are listed."""
        rows = self._store.rows("archive/archive:unfinished")
        runs = {f"run={row['run_id']}": row["run_id"] for row in rows}
        listed = {self._folder(part) for part in self.parts()}
        return [
            (runs[name], folder)
            for table in (self.root / table_name for table_name in TABLES if runs)
            for name in table.names()
            if name in runs and (folder := table / name) not in listed
        ]

    def _show(self, table: str, files: list[str]) -> None:
        if not files:
            return
        try:
            self._store.execute(f"archive/archive:files_of_{table}", files=files)
            self._store.execute(f"archive/archive:show_{table}")
        except CardoffersError as error:
            if error.code != "store_error":  # such as of a column whose name is damaged
                raise
            raise StoreDamaged.from_table("archive", "history_damaged") from error

    def _folder(self, part: Part) -> Place:
        return part_folder(self.root, part.table_name, part.run_id)

    def _files(self, some: Sequence[Part]) -> list[tuple[Part, list[str]]]:
        """Return parts, each with the files that it has; every table is listed once."""
        files: dict[str, list[str]] = {}
        for table in sorted({part.table_name for part in some}):
            files |= (self.root / table).files()
        return [(part, files.get(str(self._folder(part)), [])) for part in some]

    def _measure(self, table: str, files: list[str]) -> Sums:
        """Return what files of a table come to."""
        if not files:
            return Sums(row_count=0, purchase_no_sum=0, amount=None)
        return self._store.records(Sums, f"archive/archive:sums_{table}", files=files)[0]

    def _measured(self, part: Part, files: list[str]) -> Sums | None:
        """Return what the files of a part come to, or None where they are damaged."""
        if self._folder(part).damaged():
            return None
        try:
            return self._measure(part.table_name, files)
        except StoreDamaged:
            return None
