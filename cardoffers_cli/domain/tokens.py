"""What a token may show of itself."""

from __future__ import annotations

ELLIPSIS = "…"
SHOWN_AT_EACH_END = 4


def mask(token: str) -> str:
    """Reduce a token to its first and last 4 characters; 8 or fewer become the ellipsis alone."""
    if len(token) <= 2 * SHOWN_AT_EACH_END:
        return ELLIPSIS
    return f"{token[:SHOWN_AT_EACH_END]}{ELLIPSIS}{token[-SHOWN_AT_EACH_END:]}"
