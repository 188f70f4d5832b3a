"""Judge: which staged rows are duplicates, and what there is to say about the file.

The first row of a ref wins, be it in this file or in the institution's history. A duplicate with
other content is a conflict: not taken either, but said apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.findings import CODES
from cardoffers_cli.engine.duck import DuckEngine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    import polars as pl
    import pyarrow as pa

    from cardoffers_cli.store.store import Store

_LINES_AT_A_TIME = 100_000
_ROWS_TO_JUDGE_TOKENS = 1_000
_REPEATS = {False: CODES["duplicate"], True: CODES["duplicate_conflict"]}


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """How many of the staged rows repeat a known ref; conflicts are among the duplicates."""

    duplicates: int
    conflicts: int


def judge(store: Store, institution_id: UUID | None) -> Verdicts:
    """Find duplicates among `staged` and in the history of the institution, if one is given."""
    if institution_id is None:
        store.execute("pipeline/judge:no_history")
    else:
        stage_refs(store, institution_id)
        with store.guarded():
            DuckEngine(store.connection).run("dedupe")
    return verdicts(store)


def stage_refs(store: Store, institution_id: UUID) -> None:
    """Make `staged_refs`, of which the plan `dedupe` finds `known_refs`."""
    store.execute("pipeline/judge:importer", institution_id=institution_id)
    store.execute("pipeline/judge:staged_refs")


def take_known_refs(store: Store, rows: pa.Table) -> None:
    """Make `known_refs` of what an engine found elsewhere."""
    store.load("pipeline/judge:fetched_refs", rows)


def verdicts(store: Store) -> Verdicts:
    """Find duplicates among `staged` and `known_refs`."""
    store.execute("pipeline/judge:staged_duplicates")
    for is_conflict, code in _REPEATS.items():
        store.execute(
            "pipeline/judge:duplicate_findings",
            is_conflict=is_conflict,
            code=code.code,
            level=code.level,
            message=code.summary,
        )
    return Verdicts(**store.rows("pipeline/judge:counts")[0])


def tokens_look_rotated(store: Store, received: int) -> bool:
    """Whether over 99 % of the cardholder tokens occur once (decisions, `tokens_unstable`)."""
    if received <= _ROWS_TO_JUDGE_TOKENS:
        return False
    counted = store.rows("pipeline/judge:tokens_once")[0]
    return bool(counted["once"] * 100 > counted["tokens"] * 99)


def summary(store: Store) -> list[dict[str, Any]]:
    """Return the findings by code, errors first: code, level, row_count, lines (the first 20)."""
    return store.rows("pipeline/judge:summary")


def first_findings(store: Store, limit: int) -> list[dict[str, Any]]:
    """Return the first findings in the order of the file, but for harmless duplicates."""
    return store.rows("pipeline/judge:first_findings", limit=limit)


def findings(store: Store) -> Iterator[dict[str, Any]]:
    """Yield every finding in the order of the file, duplicates included."""
    last_line = store.value("pipeline/judge:last_line")
    if last_line is None:
        return
    for first in range(0, last_line + 1, _LINES_AT_A_TIME):
        end = first + _LINES_AT_A_TIME
        yield from store.rows("pipeline/judge:findings", first_line=first, end_line=end)


def rejected_lines(store: Store) -> pl.Series:
    """Return the sorted lines that are not taken: rows with an error, and duplicates."""
    return store.frame("pipeline/judge:rejected_lines")["line"]
