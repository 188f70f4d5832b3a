"""Plans on Apache Spark: through Spark Connect, or a session that is there already.

Spark computes lazily. A table read by several others would be computed again for each of them, and
a loop would grow a plan without end, so every table of `run` is written into the working folder and
read from there: that works on each server, and a table that was written survives the loss of the
worker that made it. What `define` names is computed where it is used.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cardoffers_cli.domain.errors import EngineFailed
from cardoffers_cli.engine.connecting import HERE, connect, disconnect, session_here
from cardoffers_cli.engine.failures import UNREACHABLE, guarded, silence
from cardoffers_cli.engine.tables import TABLES, columns
from cardoffers_cli.sql import statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

_SLICE_BYTES = 32 * 2**20
"""What is sent in one message, of which servers take 128 MiB."""
_BUCKET_ROWS = 500_000
_SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}
_SUMMED = {"purchase_no": "decimal(38,0)", "amount": "decimal(38,4)"}


class SparkEngine:
    """Runs plans in one session; `work` is a folder for tables on the way, of this run alone.

    Folders are paths or URLs as the workers of the engine see them. Every method raises
    `EngineFailed` where the engine fails.
    """

    def __init__(self, session: SparkSession, work: str, endpoint: str = HERE) -> None:
        self._session = session
        self._work = work
        self._endpoint = endpoint
        self._is_own = False
        self._numbers = count()
        self._computed: set[str] = set()
        silence()
        with self._guarded():
            for name, value in _SETTINGS.items():
                session.conf.set(name, value)

    @classmethod
    def at(cls, url: str, work: str) -> SparkEngine:
        """Return an engine in a session of its own at `sc://host:port`, or in that of `session`."""
        if url == HERE:
            return cls(session_here(), work)
        session, endpoint = connect(url)
        engine = cls(session, work, endpoint)
        engine._is_own = True
        return engine

    def put(self, name: str, rows: pa.RecordBatchReader, folders: Sequence[str] = ()) -> None:
        """Let `name`, one of `tables.py`, be these rows with those of Parquet folders."""
        sent = [self._send(name, piece) for piece in _slices(rows, columns(TABLES[name]))]
        self.attach(name, [*folders, *sent])

    def attach(self, name: str, folders: Sequence[str]) -> None:
        """Let `name`, one of `tables.py`, be the rows of Parquet folders, read where they are.

        A folder that is not there fails on most servers, and has no rows on some.
        """
        with self._guarded():
            self._read(TABLES[name], folders).createOrReplaceTempView(name)
            self._computed.add(name)

    def define(self, plan: str) -> None:
        """Name every SELECT of `sql/plan/<plan>.sql`, without computing it."""
        with self._guarded():
            for name, select in statements(f"plan/{plan}").items():
                self._computed.discard(name)
                self._session.sql(_bare(select)).createOrReplaceTempView(name)

    def run(self, plan: str) -> None:
        """Compute every table of `sql/plan/<plan>.sql`."""
        with self._guarded():
            for name, select in statements(f"plan/{plan}").items():
                self._compute(name, self._session.sql(_bare(select)))

    def advance(self, *names: str) -> None:
        """Let `next_<name>` become `<name>`, for the next round of a loop."""
        with self._guarded():
            for name in names:
                self._session.table(f"next_{name}").createOrReplaceTempView(name)

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        with self._guarded():
            return self._session.table(name).count()

    def fetch(self, name: str) -> pa.RecordBatchReader:
        """Return the rows of a table; a large one, which the server has to hold, by buckets."""
        with self._guarded():
            table = self._table(name)
            schema = table.limit(0).toArrow().schema
            buckets = 1 + table.count() // _BUCKET_ROWS if "offer_no" in schema.names else 1
        return pa.RecordBatchReader.from_batches(schema, self._buckets(table, buckets))

    def save(self, name: str, folder: str) -> dict[str, Any]:
        """Write a table as Parquet, in the place of what was in the folder; return what is there.

        That is what was read back: `row_count`, and `purchase_no_sum` and `amount_sum` of a table
        that has such columns. Without rows there may be no folder.
        """
        with self._guarded():
            table = self._session.table(name)
            table.write.mode("overwrite").parquet(folder)
            found = self._session.read.schema(table.schema).parquet(folder)
            names = [name for name in _SUMMED if name in found.columns]
            sums = [f"sum(cast({name} as {_SUMMED[name]})) as {name}_sum" for name in names]
            (row,) = found.selectExpr("count(*) as row_count", *sums).toArrow().to_pylist()
        return dict(row)

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
            answers = failure.code != UNREACHABLE
        else:
            answers = True
        if self._is_own:
            disconnect(self._session, release=answers)

    def _guarded(self) -> AbstractContextManager[None]:
        return guarded(self._endpoint)

    def _table(self, name: str) -> DataFrame:
        """Return a table that is computed."""
        if name not in self._computed:
            self._compute(name, self._session.table(name))
        return self._session.table(name)

    def _compute(self, name: str, table: DataFrame) -> None:
        """Write a table and read it from there; in a new folder each, as rounds read the last."""
        folder = self._folder(name)
        table.write.mode("overwrite").parquet(folder)
        written = self._session.read.schema(table.schema).parquet(folder)
        written.createOrReplaceTempView(name)
        self._computed.add(name)

    def _send(self, name: str, piece: pa.Table) -> str:
        folder = self._folder(name)
        with self._guarded():
            sent = self._session.createDataFrame(piece, TABLES[name])
            sent.write.mode("overwrite").parquet(folder)
        return folder

    def _read(self, schema: str, folders: Sequence[str]) -> DataFrame:
        if not folders:
            return self._session.createDataFrame([], schema)
        return self._session.read.schema(schema).parquet(*folders)

    def _folder(self, name: str) -> str:
        return f"{self._work}/{next(self._numbers):04}-{name}"

    def _buckets(self, table: DataFrame, buckets: int) -> Iterator[pa.RecordBatch]:
        for bucket in range(buckets):
            with self._guarded():
                part = table.where(f"offer_no % {buckets} = {bucket}") if buckets > 1 else table
                found = part.toArrow()
            yield from found.to_batches()


def _slices(rows: pa.RecordBatchReader, names: list[str]) -> Iterator[pa.Table]:
    """Yield rows in pieces that fit into a message, by these columns alone."""
    batches: list[pa.RecordBatch] = []
    for batch in rows:
        batches.append(batch.select(names))
        if sum(each.nbytes for each in batches) >= _SLICE_BYTES:
            yield pa.Table.from_batches(batches)
            batches = []
    if any(batches):
        yield pa.Table.from_batches(batches)


def _bare(select: str) -> str:
    """Return a statement without the semicolon at its end, which Spark does not take."""
    return select.rstrip().removesuffix(";")
