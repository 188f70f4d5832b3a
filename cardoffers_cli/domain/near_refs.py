"""References that are mistaken for one another when they are read out or typed.

A letter O for a zero, an I or an L for a one, leading zeros, case, spaces and dashes: what is left
without them is the skeleton, and refs that share one are near.
"""

from __future__ import annotations

import re

_MISTAKEN = str.maketrans("OIL", "011")
_LEADING = re.compile(r"(?<!\d)0+(?=\d)")
_SEPARATORS = re.compile(r"[\s-]+")


def skeleton(ref: str) -> str:
    """Return a ref without what people get wrong about it."""
    parts = _SEPARATORS.split(ref.upper().translate(_MISTAKEN))
    return "".join(_LEADING.sub("", part) for part in parts)


def are_near(one: str, other: str) -> bool:
    """Whether one of two refs may have been meant for the other."""
    return skeleton(one) == skeleton(other)
