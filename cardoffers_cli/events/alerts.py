"""What the team of an institution is told about its webhook: once for each thing that happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.events import inbox_inbox as inbox
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT, EVENTS

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.events.deliver import Claim, FinishedAttempt
    from cardoffers_cli.kernel.store.store import Store


def alert(store: Store, claim: Claim, attempt: FinishedAttempt, *, now: datetime) -> None:
    """Post what an attempt calls for: that it was the last."""
    if attempt.state != "exhausted" or claim.state == "exhausted":
        return
    number = claim.attempts + 1
    kind, name = EVENTS[claim.kind], claim.subject or claim.subject_id
    which = "" if kind is ANNOUNCEMENT else f"{kind.name} "
    status = f", HTTP status {attempt.http_status}" if attempt.http_status else ""
    inbox.post(
        store,
        claim.institution_id,
        kind="webhook_exhausted",
        subject=f"{claim.subject_id} {which}{number}",
        text=f"The event of {kind.noun} {name} was not delivered: attempt {number} "
        f"was the last ({attempt.error}{status}). Fix the receiver, then have it sent again: "
        f"cardoffers webhook retry {name}",
        now=now,
    )
