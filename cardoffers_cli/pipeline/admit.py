"""Admit: staged rows that are no duplicates become purchases; the others leave their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

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
    *,
    import_no: int,
    institution_id: UUID,
    currency: str,
    received_at: datetime,
    stride: int = ALL_LINES,
) -> Admitted:
    """Write the purchases, rejects and duplicates of one import from the staged tables.

    With a `stride` several imports are staged together: lines from 0 on belong to `import_no`,
    those from `stride` on to the next number, and so forth.
    """
    store.execute("pipeline/admit:admissible")
    place = {"institution_id": institution_id, "import_no": import_no, "stride": stride}
    store.execute("pipeline/admit:purchases", **place, currency=currency, received_at=received_at)
    for table in ("purchase_details", "rejects", "duplicates"):
        store.execute(f"pipeline/admit:{table}", **place)
    return Admitted(**store.rows("pipeline/admit:amount")[0])
