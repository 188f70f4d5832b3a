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


def admit(
    store: Store, *, import_no: int, institution_id: UUID, currency: str, received_at: datetime
) -> Admitted:
    """Write the purchases, rejects and duplicates of one import from the staged tables."""
    store.execute("pipeline/admit:admissible")
    store.execute(
        "pipeline/admit:purchases",
        institution_id=institution_id,
        currency=currency,
        received_at=received_at,
        import_no=import_no,
    )
    for table in ("purchase_details", "rejects", "duplicates"):
        store.execute(f"pipeline/admit:{table}", import_no=import_no, institution_id=institution_id)
    return Admitted(**store.rows("pipeline/admit:amount")[0])
