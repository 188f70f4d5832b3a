"""Admit: staged rows that are no duplicates become rows of the store, in the table of their kind.

The others leave their reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.numbering import next_number, numbered_up_to
from cardoffers_cli.kernel.words.derived import ref_hash
from cardoffers_cli.kernel.words.row_kinds import PURCHASES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

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
    said = {"currency": currency, "received_at": received_at}
    if staged.kind is PURCHASES:
        numbers = {"import_no": import_no, "stride": stride}
        accepted = _admit_purchases(
            store,
            *(staged, numbered, repeats, {**numbers, **said}),
            institution_id=institution_id,
            is_kept=is_kept,
        )
    else:
        tables = (numbered.refs, repeats.rows)
        accepted = store.execute(f"river/admit:{staged.kind.name}", *tables, **place, **said)
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
    said: Mapping[str, Any],
    *,
    institution_id: UUID,
    is_kept: bool,
) -> int:
    """Write the purchases, and what they are found by; return how many.

    `said` is what holds of all of them: import_no, stride, currency and received_at.
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
    accepted = store.execute("river/admit:purchases", refs, first_no=first_no, **said)
    if rows:
        numbered_up_to(store, _NEXT, first_no + max(row["line"] for row in rows))
    return accepted


def amount_of(store: Store, staged: Staged, repeats: Repeats) -> Decimal:
    """Return the sum of the amounts of the staged rows that are no duplicates."""
    amount: Decimal = store.value("river/admit:amount", staged.rows, repeats.rows)
    return amount
