"""What the rules ask of the text of one column, as far as patterns, lengths and words can say it.

A rule is broken where its condition holds (`intake/conditions.py`). The condition is taken apart:
each part that reads this column alone becomes a limit of its text. What else it reads is known of
any file that is checked by itself (`known`), or the rule asks what no schema can state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake import conditions
from cardoffers_cli.intake.rules import begins_with_day

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.intake.conditions import Condition
    from cardoffers_cli.intake.rules import Rule

_SO = {begins_with_day}
"""Functions that need not be asked: where the answer is no, another rule of the column is broken.
"""


@dataclass(frozen=True, kw_only=True)
class TextLimits:
    """What is asked of the text of a column: all of it holds at once.

    The text `has` each pattern and `lacks` each, wherever in it they match; it has at most
    `longest` characters, and is one of the `words`, where there are any.
    """

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    longest: int | None = None
    words: tuple[str, ...] = ()


def limits_of(
    rules: Sequence[Rule], column: str, values: Mapping[str, Any]
) -> tuple[list[TextLimits], list[str]]:
    """Return what rules ask of a column, and the codes of those that ask what no limit can state.

    `values` is what the columns hold that are derived for a reading; None is nothing.
    """
    asking = _Asking(column, values, frozenset())
    demanded = {pattern for rule in rules for part in asking.of(rule)[0] for pattern in part.has}
    asking = _Asking(column, values, frozenset(demanded))
    limits, beyond = [], []
    for rule in rules:
        own, is_all = asking.of(rule)
        limits += own
        beyond += [] if is_all else [rule.code]
    return limits, beyond


@dataclass(frozen=True)
class _Asking:
    """Takes conditions apart: the column they are about, what is known, patterns it has anyway."""

    column: str
    known: Mapping[str, Any]
    demanded: frozenset[str]

    def of(self, rule: Rule) -> tuple[list[TextLimits], bool]:
        """Return what a rule asks of the text, and whether that is all it asks."""
        parts = [self._asked(condition) for condition in _parts(rule.broken)]
        return [part for part in parts if part], None not in parts

    def _asked(self, condition: Condition) -> TextLimits | None:
        """Return what is asked of text for which the condition must not hold; None: not known."""
        if self._settled(condition) is False:
            return TextLimits()
        if isinstance(condition, conditions.Both):
            sides = (condition.one, condition.other)
            for this, remainder in (sides, sides[::-1]):
                is_demanded = isinstance(this, conditions.Matches) and this.pattern in self.demanded
                if self._settled(this) or is_demanded:
                    return self._asked(remainder)
        if isinstance(condition, conditions.Not):
            return self._asked_for(condition.condition)
        limits = None
        match condition:
            case conditions.Matches(self.column, pattern):
                limits = TextLimits(lacks=(pattern,))
            case conditions.MoreDecimals(self.column, limit):
                decimals = rf"\.[0-9]{{{self.known[limit]}}}[0-9]*[1-9]0*$"
                limits = TextLimits(lacks=(decimals,))
            case conditions.Differs(self.column, other) if self.known.get(other):
                limits = TextLimits(words=(self.known[other],))
            case conditions.Missing(self.column):
                limits = TextLimits()  # that every row has it is told apart
        return limits

    def _asked_for(self, condition: Condition) -> TextLimits | None:
        """Return what is asked of text for which the condition must hold; None: not known."""
        limits = None
        match condition:
            case conditions.OneOf(self.column, words):
                limits = TextLimits(words=words)
            case conditions.Sized(self.column, 0, longest, False):
                limits = TextLimits(longest=longest)
            case _ if patterns := self._patterns(condition):
                limits = TextLimits(has=("|".join(patterns),))
        return limits

    def _settled(self, condition: Condition) -> bool | None:
        """Say whether a condition holds, where that is the same of every row; in JSON of text."""
        settled: bool | None = None
        match condition:
            case conditions.Mistyped():
                settled = False
            case conditions.TextTest(by=by) if by in _SO:
                settled = True
            case conditions.Flagged(column) if column in self.known:
                settled = bool(self.known[column])
            case conditions.Missing(column) if column in self.known:
                settled = self.known[column] is None
            case conditions.Differs(_, other) if other in self.known and self.known[other] is None:
                settled = False
            case conditions.Not(inner):
                verdict = self._settled(inner)
                settled = None if verdict is None else not verdict
            case conditions.Both(one, other):
                both = {self._settled(one), self._settled(other)}
                settled = False if False in both else None if None in both else True
        return settled

    def _patterns(self, condition: Condition) -> list[str]:
        """Return the patterns of which text has one; empty where more is asked."""
        parts = [*_parts(condition)]
        patterns = [part.pattern for part in parts if isinstance(part, conditions.Matches)]
        return patterns if {part.columns for part in parts} == {frozenset({self.column})} else []


def _parts(condition: Condition) -> Iterator[Condition]:
    """Yield the conditions of which one is enough."""
    if isinstance(condition, conditions.Either):
        yield from _parts(condition.one)
        yield from _parts(condition.other)
    else:
        yield condition
