"""The one class that touches a DuckDB connection.

It runs named statements, always fetches everything, gives rows as dictionaries or polars frames,
and turns DuckDB's exceptions into ours. Transactions are opened by jobs only. A statement that
reads temporary tables is handed them (`kernel/store/binding.py`); the transaction drops those made
in it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from cardoffers_cli.kernel.store import engine_errors
from cardoffers_cli.kernel.store.binding import TempTables, declared, run
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.engine_errors import Interruptible
from cardoffers_cli.kernel.store.instances import IN_MEMORY, connect
from cardoffers_cli.kernel.store.layout import spill_path
from cardoffers_cli.kernel.store.memory import Memory
from cardoffers_cli.kernel.store.statements import statements
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    import polars as pl
    import pyarrow as pa

    from cardoffers_cli.kernel.store.binding import Bound, Table
    from cardoffers_cli.kernel.store.instances import Opened
    from cardoffers_cli.kernel.store.journal_file import JournalLine
    from cardoffers_cli.kernel.store.settings import Settings

R = TypeVar("R", bound=Record)

_PRIVATE = 0o077
_PAGE = 10_000


class Store:
    """A connection to one store, or to a scratch database in memory (`path` is `:memory:`).

    `after_commit` is called when a transaction was committed; what it raises is raised there.
    Where `keeps` is False no transaction is kept, whoever opens it: a dry run of work that opens
    its own. `machine` is the machine's clock. Errors name the store by its path, or by `about`'s.
    """

    def __init__(
        self, path: str, settings: Settings, *, read_only: bool = False, about: str = ""
    ) -> None:
        self._about = about or path
        self.after_commit: Callable[[], None] = lambda: None
        self.keeps = True
        self.machine: Callable[[datetime], datetime] = real_now
        self._opened = _connect(path, settings, read_only=read_only)
        self._connection = self._opened.connection
        self._statements = Interruptible(self._connection)
        self.tables = TempTables()
        self.memory = Memory()
        self.new_runs: list[JournalLine] = []
        """The runs that were written since the journal was last told of all."""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection, for an engine that computes on it; nobody else touches it."""
        return self._connection

    def interrupt(self) -> None:
        """Break off the statement that runs, and let no other begin: they raise `Interrupted`.

        Any thread may call it at any time; it returns at once. What ends a transaction is not
        broken off.
        """
        self._statements.interrupt()

    def close(self) -> None:
        """Close the connection; DuckDB checkpoints the file."""
        with self.guarded():
            self._opened.close()

    def declared_by(self, name: str, tables: Mapping[str, Table]) -> list[Table]:
        """Return those of the tables, by name, that a named statement declares."""
        return [tables[table_name] for table_name in declared(name).handed]

    def execute(self, name: str, /, *tables: Table, **parameters: Any) -> int:
        """Run a named statement and return the rows it changed (0 where it counts none)."""
        with self._statement():
            row = self._run(self._bound(name, tables), parameters).fetchall()
        return _changed(row)

    def execute_files(self, *stems: str) -> None:
        """Run every statement of files (`folder/file`) in their order; none has parameters."""
        with self._statement():
            self._connection.execute(
                "\n".join(chain(*(statements(stem).values() for stem in stems)))
            )

    def make(
        self,
        name: str,
        /,
        *tables: Table,
        frame: pl.DataFrame | pa.Table | None = None,
        **parameters: Any,
    ) -> Table:
        """Run a named statement that makes a temporary table, of `frame` if it reads one.

        The table lasts as long as the transaction, or as the connection where there is none. Of
        tables that are only defined, so is this one, and a view of any such table.
        """
        bound = self._bound(name, tables)
        if bound.made is None:
            raise LookupError(f"{name} declares no table that it makes.")
        if self.tables.are_few(tables) or self.tables.is_view_of_few(bound):
            return self.tables.defines(bound, parameters)
        with self._statement():
            if frame is None:
                self._run(bound, parameters)
            else:  # which is found here
                self._connection.execute(bound.sql, parameters)
        return bound.made

    def define(
        self,
        name: str,
        /,
        *tables: Table,
        frame: pl.DataFrame | None = None,
        rows: Sequence[Mapping[str, Any]] | None = None,
        **parameters: Any,
    ) -> Table:
        """Let a table stand for the SELECT of the named statement that makes it, for few rows.

        It is not made: whoever reads it computes it, from `frame` if it reads one, or from `rows`.
        """
        import pyarrow as pa  # noqa: PLC0415 - heavy, and most commands bring no rows

        if rows is not None:
            arrow_table = pa.Table.from_pylist([*rows])
        else:
            arrow_table = None if frame is None else _arrow(frame)
        return self.tables.defines(self._bound(name, tables), parameters, arrow_table)

    def widen(
        self, name: str, table: Table, /, *, parameters: Mapping[str, Any], **numbers: list[Any]
    ) -> Table:
        """Let a table stand for what the named statement makes of rows at hand and these numbers.

        The columns that are added hold a number, or none, for each row, in the order of the rows.
        """
        import pyarrow as pa  # noqa: PLC0415 - heavy, as above

        frame = self.tables.frame(table)
        for column, values in numbers.items():
            frame = frame.append_column(column, pa.array(values, pa.int64()))
        return self.tables.defines(self._bound(name, ()), parameters, frame)

    def compute(self, table: Table) -> int | None:
        """Fetch the rows of a table that is only defined, for all who read it after that.

        Returns how many there are; None for a table that is made.
        """
        if not self.tables.is_made(table):
            with self._statement():
                self.tables.compute(self._connection, table)
        return self.tables.height(table)

    def is_made(self, table: Table) -> bool:
        """Whether a table is in the connection, and not only defined."""
        return self.tables.is_made(table)

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the columns of the temporary table that a named statement makes."""
        return declared(name).columns

    def names(self, stem: str) -> list[str]:
        """Return the addresses of the statements of a file, in their order."""
        return [f"{stem}:{name}" for name in statements(stem)]

    def height(self, table: Table) -> int | None:
        """Return how many rows a table has, if they are at hand."""
        return self.tables.height(table)

    def at_hand(self, table: Table) -> Sequence[Mapping[str, Any]] | None:
        """Return the rows of a table, if they are at hand, without columns that are computed."""
        return self.tables.at_hand(table)

    def drop(self, *tables: Table) -> None:
        """Drop temporary tables that nobody reads any more, before their transaction does."""
        with self._statement():
            self._connection.execute(self.tables.dropping(tables))
        self.tables.forget(tables)

    def load(
        self,
        name: str,
        frame: pl.DataFrame | pa.Table,  # noqa: ARG002 - see below
        /,
        *tables: Table,
        **parameters: Any,
    ) -> int:
        """Run a named statement that reads `frame`, and return the rows it changed."""
        sql = self._bound(name, tables).sql
        with self._statement():
            # DuckDB finds the frame here, as the variable that the statement names. Registered, it
            # would be held until the transaction ends, and a file's pages would pile up.
            row = self._connection.execute(sql, parameters).fetchall()
        return _changed(row)

    def gather(
        self, name: str, frames: Iterable[pl.DataFrame | pa.Table], *, into: Table | None = None
    ) -> Table:
        """Make the temporary table of a named statement of frames of one schema.

        Frames are taken as they come, and added to a table that it made before. One statement
        writes whole row groups; a statement for each frame would cost several times as much. What
        the frames raise is raised here.
        """
        bound = self._bound(name, ())
        table = into or bound.made
        if table is None:
            raise LookupError(f"{name} declares no table that it makes.")
        sql = self.tables.adding(bound, into) if into else bound.sql
        source = _Source(frames)
        frame = source.reader()  # read by the statement, as in `load`
        if frame is None:
            raise LookupError(f"{name} was given no frame.")
        try:
            with self._statement():
                self._connection.execute(sql)
        except (CardoffersError, KeyboardInterrupt):
            if source.failure is not None:
                raise source.failure from None
            raise
        return table

    def apart(self, frame: pl.DataFrame) -> pa.Table:
        """Return a frame that may wait: it holds its own text, and not all that it was taken of."""
        from polars import CompatLevel  # noqa: PLC0415 - heavy, as below

        return frame.to_arrow(compat_level=CompatLevel.oldest())

    def rows(self, name: str, /, *tables: Table, **parameters: Any) -> list[dict[str, Any]]:
        """Return every row of a named query as a dictionary."""
        names, rows = self._all(name, *tables, **parameters)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def records(self, shape: type[R], name: str, /, *tables: Table, **parameters: Any) -> list[R]:
        """Return every row of a named query as a record, whose fields are the query's columns."""
        return shape.all_of(*self._all(name, *tables, **parameters))

    def _all(
        self, name: str, /, *tables: Table, **parameters: Any
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of the columns of a named query, and every row."""
        with self._statement():
            result = self._run(self._bound(name, tables), parameters)
            return [column[0] for column in result.description or ()], result.fetchall()

    def record(self, shape: type[R], name: str, /, *tables: Table, **parameters: Any) -> R | None:
        """Return the first row of a named query as a record, or None."""
        return next(iter(self.records(shape, name, *tables, **parameters)), None)

    def pages(
        self, name: str, /, *tables: Table, **parameters: Any
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield every row of a named query as dictionaries, some at a time; take them to the end.

        Until then the connection is busy, and runs nothing else.
        """
        with self._statement():
            result = self._run(self._bound(name, tables), parameters)
            names = [column[0] for column in result.description or ()]
        while rows := self._more(result):
            yield [dict(zip(names, row, strict=True)) for row in rows]

    def _more(self, result: duckdb.DuckDBPyConnection) -> list[Any]:
        with self._statement():
            return result.fetchmany(_PAGE)

    def row(self, name: str, /, *tables: Table, **parameters: Any) -> dict[str, Any] | None:
        """Return the first row of a named query, or None."""
        return next(iter(self.rows(name, *tables, **parameters)), None)

    def value(self, name: str, /, *tables: Table, **parameters: Any) -> Any:
        """Return the first value of the first row of a named query, or None."""
        row = self.row(name, *tables, **parameters)
        return next(iter(row.values())) if row else None

    def frame(self, name: str, /, *tables: Table, **parameters: Any) -> pl.DataFrame:
        """Return a named query as a polars frame."""
        statement = self.tables.runnable(self._bound(name, tables), parameters)
        with self._statement():
            frame: pl.DataFrame = run(self._connection, statement, for_arrow=True).pl()
        return frame

    @contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[None]:
        """All or nothing; with `keep=False` nothing in any case (dry runs, simulations).

        Temporary tables that were made in it are gone with it: what rolls back takes them along.
        """
        known_runs = len(self.new_runs)
        self.memory.begin()
        with self.guarded():
            self._connection.begin()
        try:
            yield
            keep = keep and self.keeps
            if keep and (dropping := self.tables.dropping()):
                with self._statement():
                    self._connection.execute(dropping)
        except BaseException:
            self._undone(known_runs)
            self._abandon()
            raise
        finally:
            self.tables.forget()
        if not keep:
            self._undone(known_runs)
        try:
            with self.guarded():
                self._connection.commit() if keep else self._connection.rollback()
        except BaseException:
            self._undone(known_runs)
            raise
        if keep:
            self.after_commit()

    def guarded(self) -> AbstractContextManager[None]:
        """Raise as ours what an engine that computes on the connection raises in the block."""
        return guarded(self._about)

    def _bound(self, name: str, tables: Iterable[Table]) -> Bound:
        """Return a named statement that is about to run, and forget what it changes."""
        self.memory.note(name)
        return self.tables.bind(name, tables)

    def _run(self, bound: Bound, parameters: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
        statement = self.tables.runnable(bound, parameters)
        result: duckdb.DuckDBPyConnection = run(self._connection, statement)
        return result

    @contextmanager
    def _statement(self) -> Iterator[None]:
        with self.guarded(), self._statements.statement():
            yield

    def _undone(self, known_runs: int) -> None:
        """Forget what was read and written since there were so many new runs."""
        self.memory.undo()
        del self.new_runs[known_runs:]

    def _abandon(self) -> None:
        try:
            self._connection.rollback()
        except duckdb.Error:
            # A fatal error has already ended the transaction; the first error is the one to tell.
            return


def _changed(rows: list[tuple[Any, ...]]) -> int:
    return int(rows[0][0]) if len(rows) == 1 and isinstance(rows[0][0], int) else 0


class _Source:
    """Frames as Arrow batches, for the engine to pull; keeps what the frames raised.

    The engine reports an exception of a source as one of its own, and its cause is lost.
    """

    def __init__(self, frames: Iterable[pl.DataFrame | pa.Table]) -> None:
        self._tables = (_arrow(frame) for frame in frames)
        self.failure: BaseException | None = None

    def reader(self) -> pa.RecordBatchReader | None:
        """Return a reader of all batches, or None where there is no frame."""
        import pyarrow as pa  # noqa: PLC0415 - heavy, and most commands bring no frames

        first = next(self._tables, None)
        if first is None:
            return None
        return pa.RecordBatchReader.from_batches(first.schema, self._batches(first))

    def _batches(self, first: pa.Table) -> Iterator[pa.RecordBatch]:
        try:
            for table in chain((first,), self._tables):
                yield from table.to_batches()
        except BaseException as failure:
            self.failure = failure
            raise


def _arrow(frame: pl.DataFrame | pa.Table) -> pa.Table:
    """Return a frame as Arrow without copying its text."""
    from polars import CompatLevel, DataFrame  # noqa: PLC0415 - heavy, as above

    if not isinstance(frame, DataFrame):
        return frame
    return frame.to_arrow(compat_level=CompatLevel.newest())


def _connect(path: str, settings: Settings, *, read_only: bool) -> Opened:
    config: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "memory_limit": settings.memory_limit,
        "preserve_insertion_order": False,
    }
    if settings.threads:
        config["threads"] = settings.threads
    if settings.temp_limit:
        config["max_temp_directory_size"] = settings.temp_limit
    spill_to = settings.temp_directory or spill_path(None if path == IN_MEMORY else Path(path))
    with _private_files():
        return connect(path, config, read_only=read_only, spill_to=str(spill_to))


@contextmanager
def guarded(path: str = "") -> Iterator[None]:
    """Raise DuckDB's exceptions as ours, of the store at `path` if that is known."""
    try:
        with _private_files():
            yield
    except duckdb.Error as error:
        raise engine_errors.of_statement(error, path) from error
    except UnicodeDecodeError:  # whose message quotes the text
        raise engine_errors.unreadable() from None


@contextmanager
def _private_files() -> Iterator[None]:
    """Whatever DuckDB creates meanwhile (store, log, temporary files) is for its owner only."""
    before = os.umask(_PRIVATE)
    try:
        yield
    finally:
        os.umask(before)
