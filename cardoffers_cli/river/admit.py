"""Admit: staged rows that are no duplicates become rows of the store, in the table of their kind.

The others leave their reasons.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.interning import next_number, numbered_up_to
from cardoffers_cli.kernel.words.ids import ref_hash, transaction_id
from cardoffers_cli.kernel.words.row_kinds import PURCHASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import Numbered, Repeats, Staged, StagedImport


_NEXT = "river/admit:next_no"
ALL_LINES = 2**48
"""The stride where everything staged is one import."""


def admit(
    store: Store,
    staged: StagedImport,
    numbered: Numbered,
    repeats: Repeats,
    *,
    import_no: int,
    institution_id: UUID,
    currency: str,
    received_at: datetime,
    stride: int = ALL_LINES,
    is_kept: bool = True,
) -> int:
    """Write the rows, rejects and duplicates of one import; return how many rows.

    What is not to be kept (`is_kept`) need not be found by its references. With a `stride` several
    imports are staged together: lines from 0 on belong to `import_no`, those from `stride` on to
    the next number, and so forth.
    """
    place = {"institution_id": institution_id, "import_no": import_no, "stride": stride}
    common = {"currency": currency, "received_at": received_at}
    if staged.kind is PURCHASES:
        numbers = {"import_no": import_no, "stride": stride}
        accepted = _admit_purchases(
            store,
            *(staged, numbered, repeats, {**numbers, **common}),
            institution_id=institution_id,
            is_kept=is_kept,
        )
    else:
        tables = (numbered.refs, repeats.rows)
        accepted = store.execute(f"river/admit:{staged.kind.name}", *tables, **place, **common)
    if staged.details:
        store.execute("river/admit:purchase_details", staged.details, **place)
    if store.height(staged.findings) != 0:
        store.execute("river/admit:rejects", staged.findings, **place)
    if repeats.duplicates:
        store.execute("river/admit:duplicates", repeats.rows, **place)
    return accepted


def _admit_purchases(
    store: Store,
    staged: StagedImport,
    numbered: Numbered,
    repeats: Repeats,
    common: Mapping[str, Any],
    *,
    institution_id: UUID,
    is_kept: bool,
) -> int:
    """Write the purchases, and what they are found by; return how many.

    `common` is what holds of all of them: import_no, stride, currency and received_at.
    """
    first_no = next_number(store, _NEXT)
    rows = None if repeats.duplicates else store.at_hand(staged.rows)
    if is_kept and rows is not None:
        store.execute(
            "river/admit:few_purchase_refs",
            hashes=[ref_hash(institution_id, row["transaction_ref"]) for row in rows],
            purchase_nos=[first_no + row["line"] for row in rows],
        )
    elif is_kept:
        tables = (staged.rows, repeats.rows)
        of = {"institution_id": institution_id, "first_no": first_no}
        store.execute("river/admit:purchase_refs", *tables, **of)
    refs = numbered.refs.called("admitted_refs")
    if repeats.duplicates:
        refs = store.make("river/admit:without_duplicates", numbered.refs, repeats.rows)
    accepted = store.execute("river/admit:purchases", refs, first_no=first_no, **common)
    if rows:
        numbered_up_to(store, _NEXT, first_no + max(row["line"] for row in rows))
    return accepted


def amount_of(store: Store, staged: Staged, repeats: Repeats) -> Decimal:
    """Return the sum of the amounts of the staged rows that are no duplicates."""
    amount: Decimal = store.value("river/admit:amount", staged.rows, repeats.rows)
    return amount


# Receipts: what came of each item of the calls that were staged together.
#
# A call's items have the lines from `call_no * stride` on, so one statement answers for all calls.
# Where rows are few and every item was accepted, which is what most calls come to, there is nothing
# to count but rows that are at hand.


if TYPE_CHECKING:
    Row = dict[str, Any]


@dataclass(kw_only=True)
class Receipt:
    """What came of one call.

    `errors` and `repeated` have a row per finding and per known ref, with the `item` they are
    about; `first` is the purchase of the first item, where that is valid.
    """

    errors: list[Row] = field(default_factory=list)
    repeated: list[Row] = field(default_factory=list)
    first: Row | None = None


def stage_calls(
    store: Store,
    calls: Sequence[Row],
    staged: Staged,
    repeats: Repeats,
    *,
    stride: int,
) -> Table:
    """Make the table of the calls: what was sent with each, and what was judged and admitted.

    A call has call_no, call_id, body_sha256, size_bytes, received and options (JSON text).
    """
    if (rows := _accepted(store, staged, repeats)) is not None:
        amounts: defaultdict[int, Decimal] = defaultdict(Decimal)
        for row in rows:
            amounts[row["line"] // stride] += row["amount"]
        accepted = [
            {**call, "call_id": str(call["call_id"]), "amount_accepted": amounts[call["call_no"]]}
            for call in calls
        ]
        return store.define("river/receipts:accepted_calls", rows=accepted)
    return store.make(
        "river/receipts:calls",
        *(staged.rows, staged.findings, repeats.rows),
        calls=list(calls),
        stride=stride,
    )


def receipts(
    store: Store,
    staged: Staged,
    repeats: Repeats,
    institution_id: UUID,
    received_at: datetime,
    *,
    stride: int,
) -> dict[int, Receipt]:
    """Return the receipt of each call by its number."""
    by_call: defaultdict[int, Receipt] = defaultdict(Receipt)
    if (rows := _accepted(store, staged, repeats)) is not None:
        for row in rows:
            if row["line"] % stride == 0:
                by_call[row["line"] // stride].first = _new(row, institution_id, received_at)
        return by_call
    if store.height(staged.findings) != 0:
        for row in store.rows("river/receipts:invalid", staged.findings, stride=stride):
            by_call[row["call_no"]].errors.append(row)
    if repeats.duplicates:
        for row in store.rows("river/receipts:repeated", repeats.rows, stride=stride):
            by_call[row["call_no"]].repeated.append(row)
    for row in store.rows(
        "river/receipts:receipts",
        *(staged.rows, repeats.rows),
        institution_id=institution_id,
        received_at=received_at,
        stride=stride,
    ):
        by_call[row.pop("call_no")].first = row
    return by_call


def _new(row: Mapping[str, Any], institution_id: UUID, received_at: datetime) -> Row:
    """Return the purchase that a row has become, as the statement `receipts` does."""
    return {
        "transaction_id": transaction_id(institution_id, row["transaction_ref"]),
        "transaction_ref": row["transaction_ref"],
        "is_duplicate": False,
        "is_conflict": False,
        "received_at": received_at,
    }


def _accepted(store: Store, staged: Staged, repeats: Repeats) -> Sequence[Mapping[str, Any]] | None:
    """Return the rows that were staged, if they are at hand and nothing was refused or repeated."""
    if repeats.duplicates or store.height(staged.findings) != 0:
        return None
    return store.at_hand(staged.rows)
