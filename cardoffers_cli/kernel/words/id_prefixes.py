"""Ids by their beginning: what may be typed in the place of a whole id."""

from __future__ import annotations

import re
from uuid import UUID

LATEST = "latest"
"""The word for the newest of its kind."""

FEWEST = 4
"""Digits that a beginning has at least: fewer are more likely a slip."""

_DIGITS = 32
_HEX = re.compile(r"[0-9a-f]+")


def is_whole(text: str) -> bool:
    """Return whether a text is a whole id."""
    try:
        return len(text) >= _DIGITS and bool(UUID(text))
    except ValueError:
        return False


def ids_beginning(text: str) -> tuple[UUID, UUID] | None:
    """Return the first and the last id that begin with a text; None where none can.

    Dashes are where they are in an id or nowhere; capitals are read as small letters.
    """
    digits = text.strip().lower().replace("-", "")
    if not (FEWEST <= len(digits) <= _DIGITS and _HEX.fullmatch(digits)):
        return None
    first, last = UUID(digits.ljust(_DIGITS, "0")), UUID(digits.ljust(_DIGITS, "f"))
    is_so_written = "-" not in text or str(first).startswith(text.strip().lower())
    return (first, last) if is_so_written else None
