"""Stage: the valid rows and the findings of a transaction file become temporary tables (`Staged`).

Whole rows for an import; for a check alone just the ref and two fingerprints, which is all that
duplicates and unstable tokens are found by. Chunks are taken in batches, because one statement over
many chunks costs a fraction of one statement for each. What goes to other tables waits in memory
until the batch is written, so a batch also ends when that is much.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from cardoffers_cli.pipeline.handles import Staged, StagedWhole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from decimal import Decimal

    import polars as pl

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store

    Chunk = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
    """A chunk: its valid rows with fingerprints, its findings, and its doubtful numbers."""

_CHUNKS_AT_A_TIME = 64
_WAITING_AT_MOST = 250_000
_SLIM = ("line", "transaction_ref", "reference", "content", "cardholder")
_WHOLE = (*_SLIM, "payer", "identifier", "merchant_id", "amount", "transacted_at")


def stage_slim(store: Store, chunks: Iterable[Chunk]) -> Staged:
    """Stage what a check needs."""
    findings, doubts = _Findings(store), _Doubts(store)
    rows = _stage(store, chunks, "slim", _SLIM, [findings, doubts])
    return Staged(rows=rows, findings=findings.made(), doubts=doubts.table)


def stage_whole(store: Store, chunks: Iterable[Chunk]) -> StagedWhole:
    """Stage what an import needs: also the texts behind the fingerprints."""
    findings, doubts, details = _Findings(store), _Doubts(store), _Details(store)
    tokens = _Met(store, "tokens", "payer", ("cardholder_token", "instrument_token"))
    merchants = _Met(store, "merchants", "identifier", _Met.MERCHANT)
    sides = [findings, doubts, details, tokens, merchants]
    rows = _stage(store, chunks, "whole", _WHOLE, sides)
    return StagedWhole(
        rows=rows,
        findings=findings.made(),
        doubts=doubts.table,
        tokens=tokens.made(),
        merchants=merchants.made(),
        details=details.table,
    )


def _stage(
    store: Store,
    chunks: Iterable[Chunk],
    form: str,
    columns: tuple[str, ...],
    sides: Sequence[_Side],
) -> Table:
    rows = store.make(f"pipeline/stage:staged_{form}")
    chunks = iter(chunks)
    for first in chunks:
        batch = _batch(chain((first,), chunks), columns, sides)
        store.stream(f"pipeline/stage:stage_{form}", batch, rows)
        for side in sides:
            side.write()
    return rows


def _batch(
    chunks: Iterator[Chunk], columns: tuple[str, ...], sides: Sequence[_Side]
) -> Iterator[pl.DataFrame]:
    """Yield the rows of the next chunks, and let each side keep its part of them."""
    for _, chunk in zip(range(_CHUNKS_AT_A_TIME), chunks, strict=False):
        for side in sides:
            side.keep(*chunk)
        yield chunk[0].select(columns)
        if sum(side.waiting for side in sides) >= _WAITING_AT_MOST:
            return


class _Side:
    """A table beside `staged`: frames are kept while the rows stream, and written after them.

    Most files have nothing for some of them: `table` is None until there is.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._frames: list[pl.DataFrame] = []
        self.waiting = 0
        self.table: Table | None = None

    def keep(self, rows: pl.DataFrame, findings: pl.DataFrame, doubts: pl.DataFrame) -> None:
        """Keep this table's part of a chunk."""
        raise NotImplementedError

    def write(self) -> None:
        """Write what was kept."""
        if self._frames:
            self._store.stream(f"pipeline/stage:stage_{self._name}", self._frames, self.made())
        self._frames, self.waiting = [], 0

    def made(self) -> Table:
        """Return the table, made now if nothing was written."""
        if self.table is None:
            self.table = self._store.make(f"pipeline/stage:staged_{self._name}")
        return self.table

    def _add(self, frame: pl.DataFrame) -> None:
        if frame.height:
            self._frames.append(frame)
            self.waiting += frame.height


class _Findings(_Side):
    """The findings, errors and warnings."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, "findings")

    def keep(self, rows: pl.DataFrame, findings: pl.DataFrame, doubts: pl.DataFrame) -> None:  # noqa: ARG002
        self._add(findings)


class _Doubts(_Side):
    """The numbers that may be card numbers; hardly a file has any."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, "doubts")

    def keep(self, rows: pl.DataFrame, findings: pl.DataFrame, doubts: pl.DataFrame) -> None:  # noqa: ARG002
        self._add(doubts)


class _Details(_Side):
    """The optional fields; most files have none of them."""

    NAMES = ("instrument_type", "mcc", "merchant_descriptor", "network")

    def __init__(self, store: Store) -> None:
        super().__init__(store, "details")

    def keep(self, rows: pl.DataFrame, findings: pl.DataFrame, doubts: pl.DataFrame) -> None:  # noqa: ARG002
        if any(rows[name].null_count() < rows.height for name in self.NAMES):
            self._add(rows.select("line", *self.NAMES))


class _Met(_Side):
    """The texts behind a fingerprint, each written once, or a few times in a very long file.

    What was met is remembered up to a limit, so memory stays flat; beyond it a text may be written
    again, which does no harm.
    """

    MERCHANT = ("merchant_identifier_type", "merchant_identifier")
    REMEMBERED = 2_000_000

    def __init__(self, store: Store, name: str, fingerprint: str, texts: tuple[str, ...]) -> None:
        super().__init__(store, name)
        self._fingerprint = fingerprint
        self._columns = (fingerprint, *texts)
        self._known: pl.Series | None = None

    def keep(self, rows: pl.DataFrame, findings: pl.DataFrame, doubts: pl.DataFrame) -> None:  # noqa: ARG002
        found = rows.select(self._columns).drop_nulls(self._fingerprint)
        if self._known is not None:
            found = found.filter(~found[self._fingerprint].is_in(self._known.implode()))
        new = found.unique()
        self._add(new)
        self._remember(new[self._fingerprint])

    def _remember(self, fingerprints: pl.Series) -> None:
        if self._known is None:
            self._known = fingerprints
        elif len(self._known) < self.REMEMBERED:
            self._known = self._known.append(fingerprints)


def staged_amount(store: Store, staged: Staged) -> Decimal:
    """Return the sum of the amounts of the staged rows, duplicates included."""
    amount: Decimal = store.value("pipeline/stage:amount", staged.rows)
    return amount
