r"""What a rule asks of a row, said once for both readings of a file; and asked of one row.

A condition is a tree of a few kinds of nodes over the columns of a row. Here is made of it a
function that tells it of one row, in `rulebook.py` an expression that tells it of columns at once.
As in SQL the answer is true, false or unknown: what is asked of an empty column is unknown, unless
the node says otherwise, and `&`, `|` and `~` go by that. What else conditions read of a row
(limits, its moment) is a column too. A column that is left out, or None, is empty.

Patterns are those of Rust's regex crate, as polars has it: `$` is the very end and not also what is
before a last line end, and `\s` is white space as Unicode has it, of which Python knows four
characters more. Imports the standard library only. To add a kind of node, add it here and to both;
a test holds them to the same answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache, singledispatch
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


MISTYPED = "mistyped"
"""The column that names the fields whose JSON value had the wrong type, as `|a|b|`."""

DECIMALS = r"\.([0-9]*[1-9])0*$"
"""The decimals of a number, without the zeros that stand at its end."""

_NAMES_OF_COLUMNS = frozenset({"column", "other", "limit"})


@dataclass(frozen=True)
class Condition:
    """Something that is so of a row, is not, or is unknown."""

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that are read."""
        read = set[str]()
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Condition):
                read |= value.columns
            elif field.name in _NAMES_OF_COLUMNS and isinstance(value, str):
                read.add(value)
        return frozenset(read)

    def __and__(self, other: Condition) -> Condition:
        return Both(self, other)

    def __or__(self, other: Condition) -> Condition:
        return Either(self, other)

    def __invert__(self) -> Condition:
        return Not(self)


@dataclass(frozen=True)
class Both(Condition):
    """Two conditions at once."""

    one: Condition
    other: Condition


@dataclass(frozen=True)
class Either(Condition):
    """One of two conditions, or both."""

    one: Condition
    other: Condition


@dataclass(frozen=True)
class Not(Condition):
    """The contrary of a condition; of what is unknown that is unknown too."""

    condition: Condition


@dataclass(frozen=True)
class KnownTrue(Condition):
    """A condition that is so; where that is unknown, it is not."""

    condition: Condition


@dataclass(frozen=True)
class Missing(Condition):
    """The column is empty; this is never unknown."""

    column: str


@dataclass(frozen=True)
class Matches(Condition):
    """A pattern is found in the text."""

    column: str
    pattern: str


@dataclass(frozen=True)
class OneOf(Condition):
    """The text is one of some words."""

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Sized(Condition):
    """The text has so many characters, or bytes of UTF-8, the least and the most included."""

    column: str
    least: int
    most: int
    in_bytes: bool = False


@dataclass(frozen=True)
class TextTest(Condition):
    """A function of the text tells it; `rulebook.py` knows the one that tells it of columns.

    This is never unknown: of an empty column it is not so. Where the pattern `only_if` is not found
    in a text, the function need not be asked.
    """

    column: str
    by: Callable[[str], bool]
    only_if: str = ""


@dataclass(frozen=True)
class Flagged(Condition):
    """The column, which holds true and false, is true."""

    column: str


@dataclass(frozen=True)
class Mistyped(Condition):
    """A field had a JSON value of the wrong type; this is never unknown."""

    field: str
    column: str = MISTYPED


@dataclass(frozen=True)
class Differs(Condition):
    """Two columns are not the same text; small and capital letters may be taken as one."""

    column: str
    other: str
    in_any_case: bool = False


@dataclass(frozen=True)
class Exceeds(Condition):
    """The column is greater than a limit, which is a number or another column."""

    column: str
    limit: str | int


@dataclass(frozen=True)
class MoreDecimals(Condition):
    """The number has more decimals (`DECIMALS`) than a column says; unknown where it has none."""

    column: str
    limit: str


if TYPE_CHECKING:
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


@predicate.register(Both)
def _(it: Both) -> Predicate:
    one, other = predicate(it.one), predicate(it.other)

    def both(row: Row) -> bool | None:
        first = one(row)
        if first is False:
            return False
        second = other(row)
        return second if first or second is False else None

    return both


@predicate.register(Either)
def _(it: Either) -> Predicate:
    one, other = predicate(it.one), predicate(it.other)

    def either(row: Row) -> bool | None:
        first = one(row)
        if first:
            return True
        second = other(row)
        return second if first is False or second else None

    return either


@predicate.register(Not)
def _(it: Not) -> Predicate:
    holds = predicate(it.condition)
    return lambda row: _CONTRARY[holds(row)]


@predicate.register(KnownTrue)
def _(it: KnownTrue) -> Predicate:
    holds = predicate(it.condition)
    return lambda row: bool(holds(row))


@predicate.register(Missing)
def _(it: Missing) -> Predicate:
    return lambda row: row.get(it.column) is None


def _of_value(column: str, is_so: Callable[[Any], bool]) -> Predicate:
    """Ask something of the value of a column, where it has one."""

    def of_value(row: Row) -> bool | None:
        value = row.get(column)
        return None if value is None else is_so(value)

    return of_value


@predicate.register(Matches)
def _(it: Matches) -> Predicate:
    search = searching(it.pattern)
    return _of_value(it.column, lambda text: search(text) is not None)


@predicate.register(OneOf)
def _(it: OneOf) -> Predicate:
    return _of_value(it.column, frozenset(it.words).__contains__)


@predicate.register(Sized)
def _(it: Sized) -> Predicate:
    least, most = it.least, it.most
    if not it.in_bytes:
        return _of_value(it.column, lambda text: least <= len(text) <= most)
    return _of_value(it.column, lambda text: least <= byte_length(text) <= most)


def byte_length(text: str) -> int:
    """Return how many bytes of UTF-8 a text takes."""
    return len(text) if text.isascii() else len(text.encode())


@predicate.register(TextTest)
def _(it: TextTest) -> Predicate:
    may_be, by = searching(it.only_if), it.by
    test = _of_value(it.column, lambda text: may_be(text) is not None and by(text))
    return lambda row: bool(test(row))


@predicate.register(Flagged)
def _(it: Flagged) -> Predicate:
    return _of_value(it.column, bool)


@predicate.register(Mistyped)
def _(it: Mistyped) -> Predicate:
    named = f"|{it.field}|"
    return lambda row: named in (row.get(it.column) or "")


@predicate.register(Differs)
def _(it: Differs) -> Predicate:
    def differs(row: Row) -> bool | None:
        one, other = row.get(it.column), row.get(it.other)
        if one is None or other is None:
            return None
        return bool(one.lower() != other.lower() if it.in_any_case else one != other)

    return differs


@predicate.register(Exceeds)
def _(it: Exceeds) -> Predicate:
    def exceeds(row: Row) -> bool | None:
        value = row.get(it.column)
        limit = row.get(it.limit) if isinstance(it.limit, str) else it.limit
        return None if value is None or limit is None else bool(value > limit)

    return exceeds


@predicate.register(MoreDecimals)
def _(it: MoreDecimals) -> Predicate:
    decimals = searching(DECIMALS)

    def has_more(row: Row) -> bool | None:
        parts, limit = decimals(row.get(it.column) or ""), row.get(it.limit)
        return None if parts is None or limit is None else len(parts[1]) > limit

    return has_more


_COMPARISONS = (Differs, Exceeds, MoreDecimals)
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
    elif isinstance(condition, Both | Either):
        sides = settled(condition.one, values), settled(condition.other, values)
        result = _together(condition, *sides, decides=isinstance(condition, Either))
    elif isinstance(condition, Not | KnownTrue):
        inner = settled(condition.condition, values)
        if isinstance(inner, Condition):
            result = type(condition)(inner)
        else:
            result = _CONTRARY[inner] if isinstance(condition, Not) else bool(inner)
    return result


def _together(
    condition: Both | Either,
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
