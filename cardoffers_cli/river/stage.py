"""Stage: the valid rows and the findings of a file or of calls become tables (`Staged`).

Whole rows for an import; for a check alone just the ref and two fingerprints, which is all that
duplicates and unstable tokens are found by. There are two sizes of it, and every step after it goes
by what it is handed. Up to `FEW_ROWS` rows stay at hand: no table is made of them, nor of what
steps find in them (`kernel/store/binding.py`), for there a statement costs more than its rows. Of
more rows temporary tables are made: chunks are taken in batches, because one statement over many
chunks costs a fraction of one statement for each, and what goes to other tables waits in memory
until the batch is written, so a batch also ends when that is much.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

from cardoffers_cli.river.handles import Staged, StagedImport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.row_kinds import RowKind

    Chunk = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
    """A chunk: its valid rows with fingerprints, its findings, and its doubtful numbers."""

    Chunks = tuple[Chunk, ...]
    """The chunks of one stretch of rows, one for each kind that is among them."""

    PartOf = Callable[[pl.DataFrame, pl.DataFrame, pl.DataFrame], pl.DataFrame]
    """Returns what a table has of a chunk."""

FEW_ROWS = 2_000
"""How many rows and findings stay at hand: of more, tables are quicker."""

_CHUNKS_AT_A_TIME = 64
_WAITING_AT_MOST = 250_000
_PLACES = (1 << 18, 1 << 22)
"""How many fingerprints a memory has places for, twice: at first, and at most. Powers of two."""

_HALF = 1 << 32


def stage_slim(store: Store, chunks: Iterable[Chunks], kinds: Sequence[RowKind]) -> list[Staged]:
    """Stage what a check needs of a file, each kind of its rows apart; one chunk at least."""
    tables = [_Tables(store, kind, "slim") for kind in kinds]
    _stage(chunks, tables)
    return [Staged(**table.made()) for table in tables]


def stage_whole(
    store: Store, chunks: Iterable[Chunks], kinds: Sequence[RowKind], *, is_file: bool = True
) -> list[StagedImport]:
    """Stage what an import needs: also the texts behind the fingerprints; one chunk at least.

    Findings are added to those of a file, so of these a table is made in both sizes.
    """
    tables = [_WholeTables(store, kind, kind.name, is_file=is_file) for kind in kinds]
    _stage(chunks, tables)
    return [StagedImport(**table.made()) for table in tables]


class _Tables:
    """The tables of the rows of one kind: what a check needs.

    `differ` is set where rows are few and no two of them have one ref.
    """

    def __init__(self, store: Store, kind: RowKind, form: str, *, is_file: bool = True) -> None:
        self.rows = _Part(store, form, _rows(store, form))
        self._findings = _Part(store, "findings", lambda _rows, findings, _doubts: findings)
        self._doubts = _Part(store, "doubts", lambda _rows, _findings, doubts: doubts)
        self.sides = [self._findings, self._doubts]
        self._kind = kind
        self._is_file = is_file
        self._differ = False

    def write_few(self, chunk: Chunk) -> None:
        """Let the tables stand for a chunk, but for that of findings that more are added to."""
        for part in (self.rows, *self.sides):
            part.is_few = part is not self._findings or not self._is_file
            part.keep(*chunk)
            part.write()
        self._differ = chunk[0]["reference"].n_unique() == chunk[0].height

    def made(self) -> Mapping[str, Any]:
        """Return what is handed on, by its names."""
        return {
            "kind": self._kind,
            "rows": self.rows.made(),
            "findings": self._findings.made(),
            "doubts": self._doubts.table,
            "differ": self._differ,
        }


class _WholeTables(_Tables):
    """What an import needs: the texts behind the fingerprints too, and the optional fields."""

    def __init__(self, store: Store, kind: RowKind, form: str, *, is_file: bool) -> None:
        super().__init__(store, kind, form, is_file=is_file)
        self._met = [_Met(store, name) for name in ("tokens", "merchants")]
        self._texts = [_Part(store, new_texts.name, new_texts) for new_texts in self._met]
        self._details = _details(store)
        self.sides += [self._details, *self._texts]

    def made(self) -> Mapping[str, Any]:
        """Return what is handed on, by its names."""
        tokens, merchants = (part.made() for part in self._texts)
        return {
            **super().made(),
            "tokens": tokens,
            "merchants": merchants,
            "collides": any(new_texts.collides for new_texts in self._met),
            "details": self._details.table,
        }


def _stage(chunks: Iterable[Chunks], tables: Sequence[_Tables]) -> None:
    """Let each table have its part of the chunks; rows of the first kind are written at once."""
    chunks = iter(chunks)
    first, is_few = _first(chunks)
    if is_few:
        for table, of_kind in zip(tables, zip(*first, strict=True), strict=True):
            rows, findings, doubts = (_one(frames) for frames in zip(*of_kind, strict=True))
            table.write_few((rows, findings, doubts))
        return
    for others in tables[1:]:
        others.sides.append(others.rows)
    chunks = chain(first, chunks)
    for chunk in chunks:
        tables[0].rows.stream(_batch(chain((chunk,), chunks), tables))
        for side in _sides(tables):
            side.write()


def _sides(tables: Sequence[_Tables]) -> list[_Part]:
    return [side for table in tables for side in table.sides]


def _first(chunks: Iterator[Chunks]) -> tuple[list[Chunks], bool]:
    """Return the first chunks, and whether they are all that there is, and few.

    Rows with numbers that may be card numbers are taken out again, so they are in a table.
    """
    first, rows = [], 0
    for chunk in chunks:
        first.append(chunk)
        rows += sum(valid.height + findings.height for valid, findings, _ in chunk)
        if rows > FEW_ROWS or any(doubts.height for _, _, doubts in chunk):
            return first, False
    return first, True


def _batch(chunks: Iterator[Chunks], tables: Sequence[_Tables]) -> Iterator[pl.DataFrame]:
    """Yield the rows of the next chunks, and let each side keep its part of them."""
    sides = _sides(tables)
    for _, chunk in zip(range(_CHUNKS_AT_A_TIME), chunks, strict=False):
        for table, of_kind in zip(tables, chunk, strict=True):
            for side in table.sides:
                side.keep(*of_kind)
        yield tables[0].rows.part_of(*chunk[0])
        if sum(side.waiting for side in sides) >= _WAITING_AT_MOST:
            return


class _Part:
    """One table of what is staged, by the name of the statement that makes it of frames.

    What is kept of the chunks waits until it is written. Most files have nothing for some of the
    tables: `table` is None until there is.
    """

    def __init__(self, store: Store, name: str, part_of: PartOf) -> None:
        self._store = store
        self._address = f"river/stage:{name}"
        self.part_of = part_of
        self._frames: list[pl.DataFrame] = []
        self._nothing: pl.DataFrame | None = None
        self.waiting = 0
        self.is_few = False
        self.table: Table | None = None

    def keep(self, rows: pl.DataFrame, findings: pl.DataFrame, doubts: pl.DataFrame) -> None:
        """Keep this table's part of a chunk."""
        frame = self.part_of(rows, findings, doubts)
        self._nothing = frame.clear()
        if frame.height:
            self._frames.append(frame if self.is_few else self._store.apart(frame))
            self.waiting += frame.height

    def write(self) -> None:
        """Write what was kept; where rows are few, the table stands for it."""
        if self._frames:
            self._put(self._frames)
        self._frames, self.waiting = [], 0

    def stream(self, frames: Iterable[pl.DataFrame]) -> Table:
        """Write frames as they come."""
        self.table = self._store.gather(self._address, frames, into=self.table)
        return self.table

    def made(self) -> Table:
        """Return the table, an empty one if there was nothing for it."""
        if self.table is not None:
            return self.table
        if self._nothing is None:
            raise LookupError(f"{self._address} was shown no chunk.")
        return self._put([self._nothing])

    def _put(self, frames: Sequence[pl.DataFrame]) -> Table:
        if not self.is_few:
            return self.stream(frames)
        self.table = self._store.define(self._address, frame=_one(frames))
        return self.table


def _one(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return reduce(lambda first, second: first.vstack(second), frames)


def _rows(store: Store, form: str) -> PartOf:
    columns = store.columns(f"river/stage:{form}")  # one of them is computed there
    return lambda rows, _findings, _doubts: rows[[name for name in columns if name in rows.columns]]


def _details(store: Store) -> _Part:
    """Return the table of the optional fields; most files have none of them."""
    _, *names = columns = [*store.columns("river/stage:details")]

    def part_of(rows: pl.DataFrame, _findings: pl.DataFrame, _doubts: pl.DataFrame) -> pl.DataFrame:
        has_any = any(rows[name].null_count() < rows.height for name in names)
        return rows[columns] if has_any else rows[columns].clear()

    return _Part(store, "details", part_of)


class _Met:
    """The texts behind a fingerprint, each written once, or a few times in a very long file.

    What was met is remembered up to a limit, so memory stays flat; beyond it a text may be written
    again, which does no harm. Of few rows nothing is remembered. `collides` says that two texts of
    one chunk share a fingerprint.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.name = name
        self.collides = False
        self._columns = [*store.columns(f"river/stage:{name}")]
        self._memory: _Memory | None = None

    def __call__(
        self, rows: pl.DataFrame, _findings: pl.DataFrame, _doubts: pl.DataFrame
    ) -> pl.DataFrame:
        """Return the texts of a chunk that were not met before."""
        fingerprint = self._columns[0]
        texts = rows[self._columns]
        if rows[fingerprint].null_count():
            texts = texts.drop_nulls(fingerprint)
        if self._memory is None and texts.height < 2:  # noqa: PLR2004 - none is there twice
            return texts
        if self._memory is not None:
            texts = texts.filter(~self._memory.holds(texts[fingerprint]))
        new = texts.unique()
        new_fingerprints = new[fingerprint].unique()
        self.collides |= len(new_fingerprints) < new.height
        if self._memory is not None:
            self._memory = self._memory.with_others(new_fingerprints)
        elif len(new_fingerprints) > FEW_ROWS:
            self._memory = _Memory(new_fingerprints, _PLACES[0])
        return new


class _Memory:
    """Fingerprints that were met: each in one of two places, by its lower or by its upper half.

    To look for one costs the same however many there are. Who finds both places taken takes the
    second, and what was there is forgotten.
    """

    def __init__(self, fingerprints: pl.Series, places: int) -> None:
        self.count = len(fingerprints)
        self._lower, self._upper = (fingerprints.new_from_index(0, places) * 0 for _ in range(2))
        self._put(fingerprints)

    def holds(self, fingerprints: pl.Series) -> pl.Series:
        lower, upper = self._lower, self._upper
        is_lower = lower.gather(self._places(fingerprints)) == fingerprints
        is_upper = upper.gather(self._places(fingerprints // _HALF)) == fingerprints
        return (is_lower | is_upper) & (fingerprints != 0)  # which stands for a free place

    def with_others(self, fingerprints: pl.Series) -> _Memory:
        """Return a memory that holds these too, of more places if these become scarce."""
        self.count += len(fingerprints)
        places = len(self._lower)
        if self.count * 2 > places and places < _PLACES[1]:
            values = self._lower.append(self._upper)
            return _Memory(values.filter(values != 0).append(fingerprints), 4 * places)
        self._put(fingerprints)
        return self

    def _put(self, fingerprints: pl.Series) -> None:
        places = self._places(fingerprints)
        is_free = self._lower.gather(places) == 0
        self._lower.scatter(places.filter(is_free), fingerprints.filter(is_free))
        others = fingerprints.filter(~is_free)
        self._upper.scatter(self._places(others // _HALF), others)

    def _places(self, numbers: pl.Series) -> pl.Series:
        return numbers & (len(self._lower) - 1)
