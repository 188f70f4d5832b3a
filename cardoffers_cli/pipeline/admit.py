"""Admit: staged rows that are no duplicates become purchases, or refunds, of the store.

The others leave their reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.row_kinds import PURCHASES

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.pipeline.handles import Numbered, Repeats, Staged, StagedWhole
    from cardoffers_cli.store.store import Store


ALL_LINES = 2**48
"""The stride where everything staged is one import."""


def admit(
    store: Store,
    staged: StagedWhole,
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
    if is_kept and staged.kind is PURCHASES:
        tables = (staged.rows, repeats.rows)
        store.execute("pipeline/admit:purchase_refs", *tables, institution_id=institution_id)
    accepted = store.execute(
        f"pipeline/admit:{staged.kind.name}",
        *(numbered.refs, repeats.rows),
        **place,
        currency=currency,
        received_at=received_at,
    )
    if staged.details:
        store.execute("pipeline/admit:purchase_details", staged.details, **place)
    if store.height(staged.findings) != 0:
        store.execute("pipeline/admit:rejects", staged.findings, **place)
    if repeats.duplicates:
        store.execute("pipeline/admit:duplicates", repeats.rows, **place)
    return accepted


def amount_of(store: Store, staged: Staged, repeats: Repeats) -> Decimal:
    """Return the sum of the amounts of the staged rows that are no duplicates."""
    amount: Decimal = store.value("pipeline/admit:amount", staged.rows, repeats.rows)
    return amount
