"""The money trails of redemptions, with what the bank said of the statements that they stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.answers.money_trails import ClosedLine, MoneyTrail, credits_of, documents_of
from cardoffers_cli.payouts.questions import payout_states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


def trails_of(
    store: Store, institution_id: UUID, redemption_ids: Sequence[UUID], now: datetime
) -> dict[UUID, MoneyTrail]:
    """Return the money trails of redemptions, of those that anything is known of."""
    if not redemption_ids:
        return {}
    credited = credits_of(store, institution_id, redemption_ids)
    documents: dict[UUID, list[ClosedLine]] = {}
    lines = documents_of(store, institution_id, redemption_ids)
    paid = {}
    if any(each.kind == "statement" for each in lines):
        states = payout_states(store, now, institution_id=institution_id)
        paid = {each.number: each for each in states}
    for each in lines:
        bank = paid.get(each.number)
        line = ClosedLine.part(
            each,
            bank_state=bank.state if bank else None,
            bank_code=bank.bank_code if bank else None,
            booked_at=bank.booked_at if bank else None,
        )
        documents.setdefault(each.redemption_id, []).append(line)
    return {
        each: MoneyTrail(credit=credited.get(each), documents=documents.get(each))
        for each in dict.fromkeys((*credited, *documents))
    }
