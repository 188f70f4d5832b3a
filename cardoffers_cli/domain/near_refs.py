"""References that are mistaken for one another when they are read out or typed.

A letter O for a zero, an I or an L for a one, leading zeros, case, spaces and dashes: what is left
without them is the skeleton, and refs that share one are near.
"""

from __future__ import annotations

import re

_MISTAKEN = str.maketrans("OIL", "011")
_MISREAD = {"1": "[1IL]"}
_EXPRESSED = 100
"""Letters of an expression: one of thousands takes minutes to build."""
_LEADING = re.compile(r"(?<!\d)0+(?=\d)")
_SEPARATORS = re.compile(r"[\s-]+")


def skeleton(ref: str) -> str:
    """Return a ref without what people get wrong about it."""
    parts = _SEPARATORS.split(ref.upper().translate(_MISTAKEN))
    return "".join(_LEADING.sub("", part) for part in parts)


def pattern(ref: str) -> str:
    """Return an expression that every ref near to this one matches, in any case, and few others.

    In the common syntax of RE2: a quick first look at many refs, to be followed by `are_near`.
    """
    gap = r"[0O\s-]*"
    letters = skeleton(ref).replace("0", "")
    likely = (_MISREAD.get(letter) or re.escape(letter) for letter in letters[:_EXPRESSED])
    rest = ".*" if len(letters) > _EXPRESSED else ""
    return f"(?i){gap}{''.join(each + gap for each in likely)}{rest}"


def are_near(one: str, other: str) -> bool:
    """Whether one of two refs may have been meant for the other."""
    return skeleton(one) == skeleton(other)
