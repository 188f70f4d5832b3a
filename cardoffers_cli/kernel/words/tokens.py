"""What a token may show of itself, and what all those of a file show."""

from __future__ import annotations

ELLIPSIS = "…"
SHOWN_AT_EACH_END = 4


def mask(token: str) -> str:
    """Reduce a token to its first and last 4 characters; 8 or fewer become the ellipsis alone."""
    if len(token) <= 2 * SHOWN_AT_EACH_END:
        return ELLIPSIS
    return f"{token[:SHOWN_AT_EACH_END]}{ELLIPSIS}{token[-SHOWN_AT_EACH_END:]}"


ROWS_TO_JUDGE = 1_000
"""Fewer rows do not tell whether tokens are stable."""


def look_rotated(rows: int, tokens: int, once: int) -> bool:
    """Say whether over 99 % of the tokens of a file occur once (rules.md#tokens)."""
    return rows > ROWS_TO_JUDGE and once * 100 > tokens * 99
