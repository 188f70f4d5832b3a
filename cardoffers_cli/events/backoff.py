"""When a failed delivery is tried again (rules.md#retries): a schedule, its jitter, Retry-After.

Each delay is drawn once, by whoever owns chance, and then stored, so the next attempt is a moment
that everybody can read and not a matter of who asks.
"""

from __future__ import annotations

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
