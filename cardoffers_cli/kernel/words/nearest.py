"""References that are mistaken for one another when they are read out or typed.

A letter O for a zero, an I or an L for a one, leading zeros, case, spaces and dashes: what is left
without them is the skeleton, and refs that share one are near.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


_MISTAKEN = str.maketrans("OIL", "011")
_MISREAD = {"1": "[1IL]"}
_EXPRESSED = 100
"""Letters of an expression: one of thousands takes minutes to build."""
_LEADING = re.compile(r"(?<!\d)0+(?=\d)")
_TAKEN_FOR = {"0": "O", "O": "0", "o": "0", "1": "IL", "I": "1L", "L": "1I", "i": "1l", "l": "1i"}
_CASES: tuple[Callable[[str], str], ...] = (str, str.upper, str.lower)
_NUMBER = re.compile(r"\d+")
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
    ending = ".*" if len(letters) > _EXPRESSED else ""
    return f"(?i){gap}{''.join(part + gap for part in likely)}{ending}"


def spellings(ref: str) -> list[str]:
    """Return the likeliest refs near to this one, which can be looked up: some hundred at most.

    In either case, with and without what separates, one or all letters mistaken, and up to three
    leading zeros more, or none.
    """
    together = _SEPARATORS.sub("", ref)
    texts = dict.fromkeys(case(text) for text in (ref, together) for case in _CASES)
    refs = dict.fromkeys(item for text in texts for item in (text, *_mistaken(text)))
    for text in texts:
        if first := _NUMBER.search(text):  # with other zeros before its first number
            before, behind = text[: first.start()], text[first.end() :]
            digits = first[0].lstrip("0") or "0"
            numbers = [f"{'0' * zeros}{digits}" for zeros in range(4)]
            numbers += [f"{'0' * zeros}{first[0]}" for zeros in range(1, 4)]
            refs |= dict.fromkeys(f"{before}{number}{behind}" for number in numbers)
    return [item for item in refs if item != ref and are_near(ref, item)]


def _mistaken(text: str) -> Iterator[str]:
    """Yield a text with one letter taken for another, at each place, and with all of them."""
    for place, letter in enumerate(text[:_EXPRESSED]):
        for other in _TAKEN_FOR.get(letter, ""):
            yield f"{text[:place]}{other}{text[place + 1 :]}"
    yield text.translate(_MISTAKEN)
    yield text.translate(str.maketrans("01", "OI"))


def are_near(one: str, other: str) -> bool:
    """Whether one of two refs may have been meant for the other."""
    return skeleton(one) == skeleton(other)


# What a mistyped word may have been meant for: among commands, codes, slugs and ids.
#
# For a person who reads an error, not for a program: it is a guess, and may be empty.


_MOST = 3


def nearest(word: str, candidates: Iterable[str]) -> list[str]:
    """Return at most three of the known words, the likeliest first.

    Words that are only misread come before those that are only similar.
    """
    words = list(candidates)
    misread = [candidate for candidate in words if are_near(word, candidate)]
    lower = {candidate.lower(): candidate for candidate in words}
    similar = [lower[match] for match in get_close_matches(word.lower(), lower)]
    return list(dict.fromkeys([*misread, *similar]))[:_MOST]


def did_you_mean(near: Sequence[str]) -> str | None:
    """Return the question for the hint of an error; None where nothing is near."""
    return f"Did you mean {' or '.join(near)}?" if near else None
