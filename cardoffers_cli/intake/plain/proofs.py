"""Prove a column of texts good with one pattern, where its suspicions can be said by one.

Most texts of a file are good, and to ask each of them takes longer than to read them. What must not
be so of a text becomes a lookahead, and all lookaheads together one pattern that runs over a column
as long as its texts are good: `exceptions` returns the others. A proof may doubt too much and never
too little, so what it doubts is asked as ever.
"""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

from cardoffers_cli.intake import conditions
from cardoffers_cli.intake.predicates import python_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cardoffers_cli.intake.conditions import Condition


def proof(suspicions: Iterable[Condition]) -> re.Pattern[str] | None:
    """Return the pattern of lines of which none is suspicious; None if there is no such pattern.

    It holds of ASCII texts that hold no line end.
    """
    lookaheads = [good(condition) for condition in suspicions]
    if None in lookaheads:
        return None
    text = "".join(lookahead for lookahead in lookaheads if lookahead is not None)
    return re.compile(rf"(?:{text}.*+\n)*+", re.MULTILINE)


def exceptions(values: Sequence[str], run: re.Pattern[str]) -> set[str] | None:
    """Return the texts that a pattern does not prove; None where it can prove nothing of them."""
    text = "\n".join([*values, ""])
    if not text.isascii() or text.count("\n") != len(values):
        return None
    texts, at = set[str](), 0
    while True:
        proven = run.match(text, at)
        at = proven.end() if proven else at
        if at == len(text):
            return texts
        end = text.index("\n", at)
        texts.add(text[at:end])
        at = end + 1


@singledispatch
def good(_condition: Condition) -> str | None:
    """Return a lookahead that no text has of which a condition is so; None if there is none."""
    return None


@good.register(conditions.Missing)
def _(_it: conditions.Missing) -> str:
    return "(?=.)"


@good.register(conditions.Matches)
def _(it: conditions.Matches) -> str:
    return _lacks(it.pattern)


@good.register(conditions.TextTest)
def _(it: conditions.TextTest) -> str:
    return _lacks(it.only_if)


def _lacks(pattern: str) -> str:
    is_anchored = pattern.startswith("^") and "|" not in pattern
    anywhere = "" if is_anchored else r".*(?!\n)"
    return f"(?!{anywhere}(?:{python_text(pattern)}))"


@good.register(conditions.Either)
def _(it: conditions.Either) -> str | None:
    one, other = good(it.one), good(it.other)
    return None if one is None or other is None else one + other


@good.register(conditions.Not)
def _(it: conditions.Not) -> str | None:
    """Say what a text has; an empty one has it too, unless that must be sure."""
    inner, or_empty = it.condition, "?"
    if isinstance(inner, conditions.KnownTrue):
        inner, or_empty = inner.condition, ""
    if isinstance(inner, conditions.Sized):
        return f"(?=(?:.{{{inner.least},{inner.most}}}){or_empty}$)"
    if isinstance(inner, conditions.OneOf):
        return f"(?=(?:{'|'.join(map(re.escape, inner.words))}){or_empty}$)"
    return None
