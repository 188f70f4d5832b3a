"""Judge: which staged rows are duplicates, and what there is to say about the file.

The first row of a ref wins, be it in this file or in the institution's history. A duplicate with
other content is a conflict: not taken either, but said apart. Rows that are alike in all but their
refs are taken, and said; where it is an engine that reads the history, those of the file alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.findings import CODES
from cardoffers_cli.engine.duck import DuckEngine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    import polars as pl
    import pyarrow as pa

    from cardoffers_cli.store.store import Store

_LINES_AT_A_TIME = 100_000
_FEW = 3
"""Rows that are told one by one, be they most of the file."""

_ROWS_TO_JUDGE_TOKENS = 1_000
_DUPLICATE = CODES["duplicate"]
_CONFLICT = CODES["duplicate_conflict"]
_LOOK_ALIKE = CODES["look_alike"]


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """How many of the staged rows repeat a known ref; conflicts are among the duplicates."""

    duplicates: int
    conflicts: int


_CARD_NUMBER = CODES["card_number"]


def refuse_card_numbers(
    store: Store, references: Sequence[Mapping[str, Any]], *, whole: bool
) -> int:
    """Make errors of the doubtful numbers that are no references; return how many rows that costs.

    `references` are forms (field, length, prefix) in which numbers are references. `whole` says
    that the tables of texts are staged too. To be done before anything is numbered.
    """
    if not store.value("pipeline/judge:doubts"):
        return 0
    store.execute("pipeline/judge:refused_numbers", forms=list(references))
    store.execute("pipeline/judge:show_references")
    refused = int(store.value("pipeline/judge:refused_rows"))
    store.execute(
        "pipeline/judge:refused_findings",
        code=_CARD_NUMBER.code,
        level=_CARD_NUMBER.level,
        message=" is a real card number",
    )
    store.execute("pipeline/judge:refuse")
    if whole and refused:
        for statement in ("refuse_details", "refuse_tokens", "refuse_merchants"):
            store.execute(f"pipeline/judge:{statement}")
    return refused


def doubtful_references(store: Store) -> list[str]:
    """Return the references of staged rows that look like card numbers."""
    return [row["transaction_ref"] for row in store.rows("pipeline/judge:doubtful_references")]


def take_masked(store: Store, masked: Mapping[str, str], institution_id: UUID) -> None:
    """Let staged rows be duplicates of purchases whose references were masked since.

    `masked` has what each reference would be masked as. To be done before `judge`.
    """
    masks = [{"transaction_ref": ref, "masked": text} for ref, text in masked.items()]
    store.execute("pipeline/judge:take_masked", masks=masks, institution_id=institution_id)


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
    return Verdicts(**store.rows("pipeline/judge:counts")[0])


def find_look_alikes(store: Store, institution_id: UUID | None, *, with_history: bool) -> None:
    """Make `look_alikes` of the file and, `with_history`, of the purchases before it.

    Without an institution there are none. To be done after `verdicts`. They are admitted all the
    same: references decide.
    """
    if institution_id is None:
        store.execute("pipeline/judge:no_look_alikes")
    else:
        stage_refs(store, institution_id)
        store.execute("pipeline/judge:look_alikes", with_history=with_history)


def note_repeats(store: Store, position: str) -> None:
    """Append the findings of duplicates, conflicts and look-alikes of a file.

    `position` is what its records are counted by.
    """
    store.execute(
        "pipeline/judge:duplicate_findings",
        code=_DUPLICATE.code,
        level=_DUPLICATE.level,
        message=_DUPLICATE.summary,
    )
    store.execute(
        "pipeline/judge:repeat_findings",
        level=_CONFLICT.level,
        position=position,
        conflict=_CONFLICT.code,
        conflict_message=_CONFLICT.summary,
        look_alike=_LOOK_ALIKE.code,
        look_alike_message=_LOOK_ALIKE.summary,
    )


def tokens_look_rotated(store: Store, received: int) -> bool:
    """Whether over 99 % of the cardholder tokens occur once (rules.md#tokens)."""
    if received <= _ROWS_TO_JUDGE_TOKENS:
        return False
    counted = store.rows("pipeline/judge:tokens_once")[0]
    return bool(counted["once"] * 100 > counted["tokens"] * 99)


def summary(store: Store) -> list[dict[str, Any]]:
    """Return the findings by code, errors first: code, level, row_count, lines (the first 20)."""
    return store.rows("pipeline/judge:summary")


def common_findings(store: Store, received: int) -> list[dict[str, Any]]:
    """Return what is found in most rows, errors first: code, level, field, message, row_count.

    The message is None where it is not the same in each row.
    """
    store.execute("pipeline/judge:common_findings", received=received, few=_FEW)
    return store.rows("pipeline/judge:common")


def first_findings(store: Store, limit: int) -> list[dict[str, Any]]:
    """Return the first findings that are not common, errors first, but for harmless duplicates.

    To be asked after `common_findings`. Each says with `findings` of how many it is.
    """
    return store.rows("pipeline/judge:first_findings", limit=limit)


def findings(store: Store) -> Iterator[dict[str, Any]]:
    """Yield every finding in the order of the file, duplicates included."""
    last_line = store.value("pipeline/judge:last_line")
    if last_line is None:
        return
    for first in range(0, last_line + 1, _LINES_AT_A_TIME):
        end = first + _LINES_AT_A_TIME
        yield from store.rows("pipeline/judge:findings", first_line=first, end_line=end)


def fields_to_mask(store: Store) -> pl.DataFrame:
    """Return the fields of rejected rows that are not for others: line and field, in order."""
    return store.frame("pipeline/judge:fields_to_mask")


def rejected_lines(store: Store) -> pl.Series:
    """Return the sorted lines that are not taken: rows with an error, and duplicates."""
    return store.frame("pipeline/judge:rejected_lines")["line"]
