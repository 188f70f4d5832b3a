"""Admit: staged rows that are no duplicates become purchases; the others leave their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.pipeline.handles import Admissible, Numbered, Repeats, StagedWhole
    from cardoffers_cli.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """What was taken: the number of purchases and their sum."""

    accepted: int
    amount_accepted: Decimal


ALL_LINES = 2**48
"""The stride where everything staged is one import."""


def admit(
    store: Store,
    staged: StagedWhole,
    numbered: Numbered,
    admissible: Admissible,
    repeats: Repeats | None,
    *,
    import_no: int,
    institution_id: UUID,
    currency: str,
    received_at: datetime,
    stride: int = ALL_LINES,
) -> Admitted:
    """Write the purchases, rejects and duplicates of one import.

    With a `stride` several imports are staged together: lines from 0 on belong to `import_no`,
    those from `stride` on to the next number, and so forth.
    """
    place = {"institution_id": institution_id, "import_no": import_no, "stride": stride}
    store.execute(
        "pipeline/admit:purchases",
        *(admissible.rows, numbered.payers, numbered.identifiers),
        **place,
        currency=currency,
        received_at=received_at,
    )
    if staged.details:
        store.execute("pipeline/admit:purchase_details", staged.details, **place)
    store.execute("pipeline/admit:rejects", staged.findings, **place)
    if repeats and repeats.duplicates:
        store.execute("pipeline/admit:duplicates", repeats.rows, **place)
    return Admitted(**store.rows("pipeline/admit:amount", admissible.rows)[0])
