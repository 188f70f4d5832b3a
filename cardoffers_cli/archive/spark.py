"""Plans on Apache Spark: through Spark Connect, or a session that is there already.

Spark computes lazily. A table read by several others would be computed again for each of them, and
a loop would grow a plan without end, so every table of `run` is written into the working folder and
read from there: that works on each server, and a table that was written survives the loss of the
worker that made it. What `define` names is computed where it is used.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from cardoffers_cli.archive import connecting
from cardoffers_cli.archive.archive import Sums
from cardoffers_cli.kernel.store.binding import Bound, Table, TempTables
from cardoffers_cli.kernel.words.errors import EngineFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

_SLICE_BYTES = 32 * 2**20
"""What is sent in one message, of which servers take 128 MiB."""
_BUCKET_ROWS = 500_000
_SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
_LOUD = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Loggers that write failed statements to stderr, with what is in them."""
_WORDS = {
    **dict.fromkeys(("uint32", "int64", "uint64"), "bigint"),
    "int32": "int",
    "string": "string",
    "timestamp[us]": "timestamp_ntz",
}
"""Arrow's words for types, as Spark says them; decimals are said alike."""


class SparkEngine:
    """Runs plans in one session; `work` is a folder for tables on the way, of this run alone.

    Folders are paths or URLs as the workers of the engine see them. Every method raises
    `EngineFailed` where the engine fails.
    """

    def __init__(self, session: SparkSession, work: str, endpoint: str = connecting.HERE) -> None:
        self._session = session
        self._work = work
        self._endpoint = endpoint
        self._is_own = False
        self._numbers = count()
        self._tables = TempTables()
        self._computed: set[str] = set()
        from pyspark.logger import PySparkLogger  # noqa: PLC0415 - heavy, and an extra

        for name in _LOUD:
            PySparkLogger.getLogger(name).disabled = True
        with self._guarded():
            for name, value in _SETTINGS.items():
                session.conf.set(name, value)

    @classmethod
    def at(cls, url: str, work: str) -> SparkEngine:
        """Return an engine in a session of its own at `sc://host:port`, or in that of `session`."""
        if url == connecting.HERE:
            return cls(connecting.session_here(), work)
        session, endpoint = connecting.connect(url)
        engine = cls(session, work, endpoint)
        engine._is_own = True
        return engine

    def put(self, name: str, rows: pa.Table, folders: Sequence[str] = ()) -> Table:
        """Let plans read a table of the store by its name: these rows, with Parquet folders'.

        A folder is read where it is, by the columns of the rows; one that is not there fails on
        most servers, and has no rows on some.
        """
        table = Table(name=name, identifier=name, columns=tuple(rows.column_names))
        return self._put(table, rows, folders)

    def hand(self, name: str, rows: pa.Table) -> Table:
        """Return a table of these rows, which plans are to be handed."""
        return self._put(self._tables.name(name, rows.column_names), rows)

    def define(self, plan: str, *tables: Table) -> Mapping[str, Table]:
        """Name every SELECT of `river/plan/<plan>.sql`, without computing it."""
        with self._guarded():
            return self._tables.each_select(plan, tables, self._view)

    def run(self, plan: str, *tables: Table) -> Mapping[str, Table]:
        """Compute every table of `river/plan/<plan>.sql`."""
        with self._guarded():
            return self._tables.each_select(plan, tables, self._run)

    def drop(self, *tables: Table) -> None:
        """Let nobody read these tables any more; their files go with the working folder."""
        with self._guarded():
            for table in tables:
                self._session.catalog.dropTempView(table.identifier)
        self._tables.forget(tables)

    def count(self, table: Table) -> int:
        """Return the number of rows of a table."""
        with self._guarded():
            return self._session.table(table.identifier).count()

    def fetch(self, table: Table) -> pa.Table:
        """Return the rows of a table; a large one, which the server has to hold, by buckets."""
        view = table.identifier
        with self._guarded():
            if view not in self._computed:
                self._compute(table, self._session.table(view))
            rows = self._session.table(view)
            buckets = 1 + rows.count() // _BUCKET_ROWS if "offer_no" in rows.columns else 1
            if buckets == 1:
                return rows.toArrow()
            some = (rows.where(f"offer_no % {buckets} = {bucket}") for bucket in range(buckets))
            return pa.concat_tables([frame.toArrow() for frame in some])

    def save(self, table: Table, folder: str) -> Sums:
        """Write decisions or outcomes as Parquet, in the place of what was in the folder.

        Return what was read back from there. Without rows there may be no folder.
        """
        with self._guarded():
            rows = self._session.table(table.identifier)
            rows.write.mode("overwrite").parquet(folder)
            frame = self._session.read.schema(rows.schema).parquet(folder)
            total = "coalesce(sum(cast(purchase_no as decimal(38,0))), 0) as purchase_no_sum"
            counted = frame.selectExpr("count(*) as row_count", total).toArrow()
        return Sums(**counted.to_pylist()[0], amount=None)

    def close(self) -> None:
        """Empty the working folder and end the session, if it was made here; never raises.

        Where the engine does not answer any more, the folder stays as it is.
        """
        try:
            with self._guarded():
                # Nobody but the engine is sure to reach the folder: it is overwritten as a whole.
                nothing = self._session.createDataFrame([], "nothing int")
                nothing.write.mode("overwrite").parquet(self._work)
        except EngineFailed as failure:
            answers = failure.code != connecting.UNREACHABLE
        else:
            answers = True
        if self._is_own:
            # The server is told, if it still answers.
            self._session.release_session_on_close = answers  # type: ignore[attr-defined]
            self._session.stop()

    def _guarded(self) -> AbstractContextManager[None]:
        return connecting.guarded(self._endpoint)

    def _view(self, table: Table, bound: Bound) -> None:
        self._session.sql(_bare(bound.sql)).createOrReplaceTempView(table.identifier)

    def _run(self, table: Table, bound: Bound) -> None:
        self._compute(table, self._session.sql(_bare(bound.sql)))

    def _compute(self, table: Table, rows: DataFrame) -> None:
        """Write a table and read it from there; in a new folder each."""
        folder = self._folder(table.name)
        rows.write.mode("overwrite").parquet(folder)
        written = self._session.read.schema(rows.schema).parquet(folder)
        written.createOrReplaceTempView(table.identifier)
        self._computed.add(table.identifier)

    def _put(self, table: Table, rows: pa.Table, folders: Sequence[str] = ()) -> Table:
        schema = ", ".join(f"{column.name} {_word(column.type)}" for column in rows.schema)
        with self._guarded():
            size = max(1, rows.num_rows * _SLICE_BYTES // max(1, rows.nbytes))  # fits a message
            pieces = (rows.slice(start, size) for start in range(0, rows.num_rows, size))
            sent = [self._send(schema, table.name, piece) for piece in pieces]
            self._read(schema, [*folders, *sent]).createOrReplaceTempView(table.identifier)
            self._computed.add(table.identifier)
        return table

    def _send(self, schema: str, name: str, piece: pa.Table) -> str:
        folder = self._folder(name)
        sent = self._session.createDataFrame(piece, schema)
        sent.write.mode("overwrite").parquet(folder)
        return folder

    def _read(self, schema: str, folders: Sequence[str]) -> DataFrame:
        if not folders:
            return self._session.createDataFrame([], schema)
        return self._session.read.schema(schema).parquet(*folders)

    def _folder(self, name: str) -> str:
        return f"{self._work}/{next(self._numbers):04}-{name}"


def _word(kind: pa.DataType) -> str:
    """Return what Spark calls a type of Arrow."""
    return _WORDS.get(str(kind)) or str(kind).replace("decimal128", "decimal")


def _bare(select: str) -> str:
    """Return a statement without the semicolon at its end, which Spark does not take."""
    return select.rstrip().removesuffix(";")
