"""What a mistyped word may have been meant for: among commands, codes, slugs and ids.

For a person who reads an error, not for a program: it is a guess, and may be empty.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.nearest import are_near

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST = 3


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return at most three of the known words, the likeliest first.

    Words that are only misread come before those that are only similar.
    """
    words = list(known)
    misread = [each for each in words if are_near(word, each)]
    lower = {each.lower(): each for each in words}
    similar = [lower[each] for each in get_close_matches(word.lower(), lower)]
    return list(dict.fromkeys([*misread, *similar]))[:_MOST]


def did_you_mean(near: Sequence[str]) -> str | None:
    """Return the question for the hint of an error; None where nothing is near."""
    return f"Did you mean {' or '.join(near)}?" if near else None
