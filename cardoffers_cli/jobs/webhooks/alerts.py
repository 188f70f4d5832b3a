"""What the team of an institution is told about its webhook: once for each thing that happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.services import inbox
from cardoffers_cli.services.webhooks import REVERSED

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.pipeline.deliver import Claim, Ended
    from cardoffers_cli.store.store import Store


def alert(store: Store, claim: Claim, attempt: Ended, *, now: datetime) -> None:
    """Post what an attempt calls for: that it was the last."""
    if attempt.state == "exhausted" and claim.state != "exhausted":
        _exhausted(store, claim, attempt, now=now)


def _exhausted(store: Store, claim: Claim, attempt: Ended, *, now: datetime) -> None:
    number = claim.attempts + 1
    is_reversal = claim.event == REVERSED
    status = f", HTTP status {attempt.http_status}" if attempt.http_status else ""
    inbox.post(
        store,
        claim.institution_id,
        kind="webhook_exhausted",
        subject=f"{claim.redemption_id} {f'{REVERSED} ' if is_reversal else ''}{number}",
        text=f"The event of {'the reversal of ' if is_reversal else ''}redemption "
        f"{claim.redemption_id} was not delivered: attempt {number} "
        f"was the last ({attempt.error}{status}). Fix the receiver, then have it sent again: "
        f"cardoffers webhook retry {claim.redemption_id}",
        now=now,
    )
