"""How far the webhook of a redemption is, in one word and in a clause for staff.

`delivered`; `to_send`, nothing was tried yet; `to_retry`, it failed and is tried again; `failed`,
for good; `stopped`, it is held back; `no_webhook`, the institution has none to send to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]

_OF_STATE = {"delivered": "delivered", "exhausted": "failed", "stopped": "stopped"}
_WAITING = {"due", "failed"}

HELD_BECAUSE = {
    "no_url": "it has no webhook URL",
    "no_secret": "it has no signing secret",
    "secret_missing": "its signing secret is not beside the store any more",
}
"""Why nobody can send the events of an institution, by reason."""

HELD_NEXT = {
    "no_url": "cardoffers webhook set -i {institution} --url URL",
    "no_secret": "cardoffers webhook set -i {institution} --url URL",
    "secret_missing": "put the file of secrets back, or cardoffers webhook rotate-secret"
    " -i {institution}",
}
"""What to type so that they can be sent, by reason; to be given the `institution`."""


def delivery_of(state: str | None, *, attempts: int, has_webhook: bool) -> str:
    """Return the word for the state of an event; one that waits for nothing has no webhook."""
    if state is None or (state in _WAITING and not has_webhook):
        return "no_webhook"
    return _OF_STATE.get(state) or ("to_retry" if attempts else "to_send")


def delivery_text(redemption: Row) -> str:
    """Say how far the webhook of a redemption is; a failure with its cause."""
    cause = shortened(redemption["webhook_error"] or "the outcome is unknown")
    tried = counted(redemption["webhook_attempts"], "attempt")
    match redemption["delivery"]:
        case "delivered":
            return f"the webhook was delivered at {format_minute(redemption['delivered_at'])}"
        case "to_retry":
            again = f"it is tried again at {format_minute(redemption['webhook_next_attempt_at'])}"
            return f"the webhook failed ({cause}, {tried}); {again}"
        case "failed":
            return f"the webhook failed ({cause}, {tried}) and is not tried again"
        case "stopped":
            return "the webhook is stopped"
        case "to_send":
            return "the webhook is not sent yet"
        case _:
            return "no webhook is configured, so the institution was not told"


# When a failed delivery is tried again (rules.md#retries): a schedule, its jitter, Retry-After.
#
# Each delay is drawn once, by whoever owns chance, and then stored, so the next attempt is a moment
# that everybody can read and not a matter of who asks.


DELAYS_S = (30, 60, 120, 240, 480, 960, 1920, 3840)
"""Seconds before each retry: 1 + 8 attempts, some two hours from the first to the last."""

MOST_JITTER_PERMILLE = 100
"""A delay is spread by up to this much, so that receivers are not hit in waves."""

MOST_STRETCH = 2
"""Retry-After may make a delay this many times as long, and never shorter."""


def delay_ms(
    failures: int, jitter_permille: int, *, retry_after_s: int | None = None
) -> int | None:
    """Return the milliseconds to wait after the failure of this number; None after the last."""
    if failures > len(DELAYS_S):
        return None
    own = DELAYS_S[failures - 1] * (1000 + jitter_permille)
    return max(own, min((retry_after_s or 0) * 1000, MOST_STRETCH * own))
