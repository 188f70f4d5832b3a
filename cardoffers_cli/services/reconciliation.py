"""What reconciliation found: the findings that are open, in sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.domain.records import Amount
    from cardoffers_cli.store.store import Store


class OpenFindings(Record):
    """Findings that nobody accepted and no run resolved; `amount` is what each is about, summed.

    That is the cashback of the redemption or, of a credited row alone, what it says was credited.
    """

    code: str
    currency: str
    findings: int
    amount: Amount
    oldest_at: datetime


def open_findings(
    store: Store, institution_id: UUID, *, before: datetime | None = None
) -> list[OpenFindings]:
    """Return the open findings of an institution, by code and currency.

    With `before` only of what was redeemed, or credited, before then (rules.md#reconciliation).
    """
    return store.records(
        OpenFindings,
        "services/reconciliation:open_findings",
        institution_id=institution_id,
        before=before,
    )
