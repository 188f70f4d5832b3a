"""Judge: which staged rows are duplicates, and what there is to say about the file.

The first row of a ref wins, be it in this file or in the institution's history. A duplicate with
other content is a conflict: not taken either, but said apart. Rows that are alike in all but their
refs are taken, and said; where it is an engine that reads the history, those of the file alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.kernel.store.interning import any_known
from cardoffers_cli.kernel.words.card_forms import NumberForm
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.ids import ROWS_TO_JUDGE, look_rotated
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.river.handles import KnownReferences, Repeats, StagedImport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    import polars as pl

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.card_forms import NumberEvidence
    from cardoffers_cli.river.handles import Numbered, Staged

_LINES_AT_A_TIME = 100_000
_FEW = 3
"""Rows that are told one by one, be they most of the file."""

_EACH = 3
"""Findings of a kind that come before more of another kind."""

_DUPLICATE = CODES["duplicate"]
_CONFLICT = CODES["duplicate_conflict"]
_LOOK_ALIKE = CODES["look_alike"]
_LEFT_OUT = CODES["refund_left_out"]
_CARD_NUMBER = CODES["card_number"]


def refuse_card_numbers(store: Store, staged: Staged, numbers: NumberEvidence) -> int:
    """Make errors of the doubtful numbers that are card numbers; return how many rows that costs.

    `numbers` is what is known of those of the institution, all those of the file among them. To be
    done before anything is numbered.
    """
    if staged.doubts is None:
        return 0
    forms = [NumberForm(**row) for row in store.rows("river/judge:doubt_forms", staged.doubts)]
    if numbers.institution_id is None:
        known_rows = store.define("river/judge:no_known_numbers")
    else:
        of = {"institution_id": numbers.institution_id}
        known_rows = store.make("river/judge:known_numbers", staged.doubts, **of)
    forms = [form for form in forms if numbers.is_refused(form)]
    refused = store.make(
        "river/judge:refused_numbers",
        *(staged.doubts, known_rows),
        forms=[form.named for form in forms],
    )
    reference = staged.kind.reference
    tables = (staged.findings, staged.doubts, refused)
    store.execute("river/judge:show_references", *tables, reference=reference)
    if not forms:
        return 0
    rows = int(store.value("river/judge:refused_rows", staged.rows, refused))
    store.execute(
        "river/judge:refused_findings",
        *(staged.findings, staged.rows, refused),
        reference=reference,
        code=_CARD_NUMBER.code,
        level=_CARD_NUMBER.level,
        message=" is a real card number",
    )
    store.execute("river/judge:refuse", staged.rows, refused)
    if rows and isinstance(staged, StagedImport):
        if staged.details:
            store.execute("river/judge:refuse_details", staged.details, refused)
        if staged.kind.has_tokens:
            store.execute("river/judge:refuse_tokens", staged.tokens, staged.rows)
            store.execute("river/judge:refuse_merchants", staged.merchants, staged.rows)
    return rows


def doubtful_references(store: Store, staged: Staged) -> list[str]:
    """Return the references of purchases in staged rows that look like card numbers.

    They are those of the rows themselves, or of the purchases that rows of other kinds name.
    """
    if staged.doubts is None:
        return []
    rows = store.rows(f"river/judge:doubtful_{staged.kind.name}", staged.doubts, staged.rows)
    return [row["transaction_ref"] for row in rows]


def take_masked(
    store: Store, staged: Staged, masked: Mapping[str, str], institution_id: UUID
) -> None:
    """Let staged rows have the references of purchases that were masked since.

    Purchases are duplicates of those then, and rows of other kinds are of them. `masked` has what
    each reference would be masked as. To be done before `find_known`.
    """
    if not masked:
        return
    masks = [{"transaction_ref": ref, "masked": text} for ref, text in masked.items()]
    store.execute(
        f"river/judge:take_masked_{staged.kind.name}",
        staged.rows,
        masks=masks,
        institution_id=institution_id,
    )


def find_known(
    store: Store, staged: StagedImport, numbered: Numbered, institution_id: UUID
) -> KnownReferences:
    """Find the staged rows whose refs their institution has rows of the same kind of."""
    if staged.kind is not PURCHASES:
        address = f"river/judge:known_{staged.kind.name}"
        return KnownReferences(
            refs=store.make(address, numbered.refs, institution_id=institution_id)
        )
    rows = store.at_hand(staged.rows)
    if rows is not None and not any_known(
        store, institution_id, [row["transaction_ref"] for row in rows]
    ):
        return none_known(store)
    # Two narrow columns of the store are read for it, and nothing of the history.
    same = store.make("river/judge:same_refs", staged.rows, institution_id=institution_id)
    store.compute(same)
    with store.guarded():
        engine = DuckEngine(store.connection, store.tables)
        return KnownReferences(refs=engine.run("dedupe", numbered.refs, same)["known_refs"])


def none_known(store: Store) -> KnownReferences:
    """Take every ref as one that was never seen before: for a check without a history."""
    return KnownReferences(refs=store.define("river/judge:no_history"), is_none=True)


def find_repeats(store: Store, staged: Staged, references: KnownReferences) -> Repeats:
    """Find the staged rows whose refs are known, or stand in an earlier line."""
    if staged.differ and references.is_none:
        return no_repeats(store)
    rows = store.make("river/judge:staged_duplicates", staged.rows, references.refs)
    store.compute(rows)
    return Repeats(rows=rows, **store.rows("river/judge:counts", rows)[0])


def no_repeats(store: Store) -> Repeats:
    """Take every staged row, whatever is known."""
    rows = store.define("river/judge:no_duplicates")
    return Repeats(rows=rows, duplicates=0, conflicts=0)


def note_repeats(
    store: Store, staged: Staged, repeats: Repeats, look_alikes: Table, position: str
) -> None:
    """Append the findings of duplicates, conflicts and look-alikes of a file.

    `position` is what its records are counted by.
    """
    store.execute(
        "river/judge:duplicate_findings",
        *(staged.findings, repeats.rows),
        reference=staged.kind.reference,
        code=_DUPLICATE.code,
        level=_DUPLICATE.level,
        message=_DUPLICATE.summary,
    )
    store.execute(
        "river/judge:repeat_findings",
        *(staged.findings, repeats.rows, look_alikes),
        reference=staged.kind.reference,
        level=_CONFLICT.level,
        position=position,
        conflict=_CONFLICT.code,
        conflict_message=_CONFLICT.summary,
        look_alike=_LOOK_ALIKE.code,
        look_alike_message=_LOOK_ALIKE.summary,
    )


def note_left_out(store: Store, staged: Staged, repeats: Repeats) -> None:
    """Append a finding for each refund that could be taken, where nobody asks for refunds."""
    store.execute(
        "river/judge:left_out_findings",
        *(staged.findings, staged.rows, repeats.rows),
        reference=staged.kind.reference,
        code=_LEFT_OUT.code,
        level=_LEFT_OUT.level,
        message=_LEFT_OUT.summary,
    )


def tokens_look_rotated(store: Store, staged: Staged, received: int) -> bool:
    """Whether over 99 % of the cardholder tokens of purchases occur once (rules.md#tokens)."""
    if received <= ROWS_TO_JUDGE or staged.kind is not PURCHASES:
        return False
    counted = store.rows("river/judge:tokens_once", staged.rows)[0]
    return look_rotated(received, counted["tokens"], counted["once"])


def all_findings(store: Store, staged: Sequence[Staged]) -> Table:
    """Return the findings of all kinds of rows of a file, of which there are one or two."""
    first, *others = (part.findings for part in staged)
    if not others:
        return first
    both = store.make("river/judge:all_findings", first)
    for other in others:
        store.execute("river/judge:add_findings", both, other)
    return both.called("staged_findings")


def find_common(store: Store, table: Table, received: int) -> Table:
    """Find what is found in most rows, and so is said once."""
    return store.make("river/judge:common_findings", table, received=received, few=_FEW)


def first_findings(store: Store, table: Table, common: Table, limit: int) -> list[dict[str, Any]]:
    """Return the first findings that are not common, errors first, but for harmless duplicates.

    Each kind has its first ones among them. Each says with `findings` of how many it is.
    """
    return store.rows("river/judge:first_findings", table, common, limit=limit, each=_EACH)


def findings(store: Store, table: Table) -> Iterator[dict[str, Any]]:
    """Yield every finding in the order of the file, duplicates included."""
    last_line = store.value("river/judge:last_line", table)
    if last_line is None:
        return
    for first in range(0, last_line + 1, _LINES_AT_A_TIME):
        end = first + _LINES_AT_A_TIME
        yield from store.rows("river/judge:findings", table, first_line=first, end_line=end)


def rejected_lines(store: Store, table: Table, repeats: Sequence[Repeats]) -> pl.Series:
    """Return the sorted lines that are not taken: rows with an error, and duplicates."""
    first, *others = (
        store.frame("river/judge:rejected_lines", table, part.rows)["line"] for part in repeats
    )
    for other in others:
        first = first.append(other).unique().sort()
    return first
