r"""The conditions of rules (`conditions.py`) as functions of one row, in plain Python.

A row is a mapping of columns to values; a column that is left out, or None, is empty. Patterns mean
here what they mean to polars: `$` is the very end and not also what is before a last line end, and
`\s` is white space as Unicode has it, of which Python knows four characters more. Imports the
standard library only.
"""

from __future__ import annotations

import re
from functools import lru_cache, singledispatch
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake import conditions
from cardoffers_cli.intake.conditions import DECIMALS, Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Row = Mapping[str, Any]
    Predicate = Callable[[Row], bool | None]

BLANK = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What is white space, as a class of a pattern, and character by character."""


def python_text(pattern: str) -> str:
    """Write a pattern of Rust's regex for Python, as far as those of the rules go.

    It is for lines of text, where `^` and `$` are the ends of each.
    """
    text = re.sub(r"\\x\{(\w+)\}", lambda match: rf"\U{match[1]:0>8}", pattern)
    text = re.sub(r"(\[[^\]]*)\\s", lambda match: match[1] + BLANK, text)
    return text.replace(r"\s", f"[{BLANK}]")


@lru_cache(maxsize=256)
def searching(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Return the function that searches a text for a pattern."""
    return re.compile(python_text(pattern).replace("$", r"\Z")).search


_CONTRARY = {True: False, False: True, None: None}


@singledispatch
def predicate(condition: Condition) -> Predicate:
    """Return a function that tells of a row whether a condition holds; None is unknown."""
    raise TypeError(f"{type(condition).__name__} is no condition that is known here")


@predicate.register(conditions.Both)
def _(it: conditions.Both) -> Predicate:
    one, other = predicate(it.one), predicate(it.other)

    def both(row: Row) -> bool | None:
        first = one(row)
        if first is False:
            return False
        second = other(row)
        return second if first or second is False else None

    return both


@predicate.register(conditions.Either)
def _(it: conditions.Either) -> Predicate:
    one, other = predicate(it.one), predicate(it.other)

    def either(row: Row) -> bool | None:
        first = one(row)
        if first:
            return True
        second = other(row)
        return second if first is False or second else None

    return either


@predicate.register(conditions.Not)
def _(it: conditions.Not) -> Predicate:
    holds = predicate(it.condition)
    return lambda row: _CONTRARY[holds(row)]


@predicate.register(conditions.KnownTrue)
def _(it: conditions.KnownTrue) -> Predicate:
    holds = predicate(it.condition)
    return lambda row: bool(holds(row))


@predicate.register(conditions.Missing)
def _(it: conditions.Missing) -> Predicate:
    return lambda row: row.get(it.column) is None


def _of_value(column: str, is_so: Callable[[Any], bool]) -> Predicate:
    """Ask something of the value of a column, where it has one."""

    def of_value(row: Row) -> bool | None:
        value = row.get(column)
        return None if value is None else is_so(value)

    return of_value


@predicate.register(conditions.Matches)
def _(it: conditions.Matches) -> Predicate:
    search = searching(it.pattern)
    return _of_value(it.column, lambda text: search(text) is not None)


@predicate.register(conditions.OneOf)
def _(it: conditions.OneOf) -> Predicate:
    return _of_value(it.column, frozenset(it.words).__contains__)


@predicate.register(conditions.Sized)
def _(it: conditions.Sized) -> Predicate:
    least, most = it.least, it.most
    if not it.in_bytes:
        return _of_value(it.column, lambda text: least <= len(text) <= most)
    return _of_value(it.column, lambda text: least <= byte_length(text) <= most)


def byte_length(text: str) -> int:
    """Return how many bytes of UTF-8 a text takes."""
    return len(text) if text.isascii() else len(text.encode())


@predicate.register(conditions.TextTest)
def _(it: conditions.TextTest) -> Predicate:
    may_be, by = searching(it.only_if), it.by
    test = _of_value(it.column, lambda text: may_be(text) is not None and by(text))
    return lambda row: bool(test(row))


@predicate.register(conditions.Flagged)
def _(it: conditions.Flagged) -> Predicate:
    return _of_value(it.column, bool)


@predicate.register(conditions.Mistyped)
def _(it: conditions.Mistyped) -> Predicate:
    named = f"|{it.field}|"
    return lambda row: named in (row.get(it.column) or "")


@predicate.register(conditions.Differs)
def _(it: conditions.Differs) -> Predicate:
    def differs(row: Row) -> bool | None:
        one, other = row.get(it.column), row.get(it.other)
        if one is None or other is None:
            return None
        return bool(one.lower() != other.lower() if it.in_any_case else one != other)

    return differs


@predicate.register(conditions.Exceeds)
def _(it: conditions.Exceeds) -> Predicate:
    def exceeds(row: Row) -> bool | None:
        value = row.get(it.column)
        limit = row.get(it.limit) if isinstance(it.limit, str) else it.limit
        return None if value is None or limit is None else bool(value > limit)

    return exceeds


@predicate.register(conditions.MoreDecimals)
def _(it: conditions.MoreDecimals) -> Predicate:
    decimals = searching(DECIMALS)

    def has_more(row: Row) -> bool | None:
        parts, limit = decimals(row.get(it.column) or ""), row.get(it.limit)
        return None if parts is None or limit is None else len(parts[1]) > limit

    return has_more


_COMPARISONS = (conditions.Differs, conditions.Exceeds, conditions.MoreDecimals)
"""What is unknown where one of several columns is empty."""


def settled(condition: Condition, values: Row) -> Condition | bool | None:
    """Return what is left of a condition where some columns are known: the same in all rows.

    True, False and None (unknown) are what it comes to whatever else a row holds.
    """
    result: Condition | bool | None = condition
    if condition.columns <= values.keys():
        result = predicate(condition)(values)
    elif isinstance(condition, _COMPARISONS):
        is_empty = any(name in values and values[name] is None for name in condition.columns)
        result = None if is_empty else condition
    elif isinstance(condition, conditions.Both | conditions.Either):
        sides = settled(condition.one, values), settled(condition.other, values)
        result = _together(condition, *sides, decides=isinstance(condition, conditions.Either))
    elif isinstance(condition, conditions.Not | conditions.KnownTrue):
        inner = settled(condition.condition, values)
        if isinstance(inner, Condition):
            result = type(condition)(inner)
        else:
            result = _CONTRARY[inner] if isinstance(condition, conditions.Not) else bool(inner)
    return result


def _together(
    condition: conditions.Both | conditions.Either,
    one: Condition | bool | None,
    other: Condition | bool | None,
    *,
    decides: bool,
) -> Condition | bool | None:
    """Put two conditions together, of which either alone may decide."""
    if decides in (one, other):
        return decides
    if isinstance(one, Condition) and isinstance(other, Condition):
        return type(condition)(one, other)
    if (not decides) in (one, other):
        return other if one is (not decides) else one
    return condition
