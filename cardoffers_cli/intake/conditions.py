"""What a rule asks of a row, said once for both readings of a file.

A condition is a tree of a few kinds of nodes over the columns of a row. `predicates.py` makes of it
a function that tells it of one row, `expressions.py` an expression that tells it of columns at
once. As in SQL the answer is true, false or unknown: what is asked of an empty column is unknown,
unless the node says otherwise, and `&`, `|` and `~` go by that. What else conditions read of a row
(limits, its moment) is a column too.

Patterns are those of Rust's regex crate, as polars has it. Imports the standard library only. To
add a kind of node, add it here and to both; a test holds them to the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """A function of the text tells it; `expressions.py` knows the one that tells it of columns.

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
