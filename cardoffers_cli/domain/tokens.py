"""What a token may show of itself."""

from __future__ import annotations

ELLIPSIS = "…"


def mask(token: str) -> str:
    """Reduce a token to its first and last 4 characters; 8 or fewer become the ellipsis alone."""
    if len(token) <= 8:
        return ELLIPSIS
    return f"{token[:4]}{ELLIPSIS}{token[-4:]}"
