"""JSON values as the texts a CSV file would hold; numbers keep their text.

A value of the wrong JSON type leaves some text in its column, so that it does not look empty.
Imports the standard library only: numbers that are not whole are whatever a parser makes of them,
of which nothing is asked but their text.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WIDEST = 40  # digits; more decide nothing an amount of 18 digits does not show


def is_mistyped(name: str, value: Any) -> bool:
    """Whether a field has a value that is not null and not of its type: a text, or a number."""
    if name == "amount":
        return isinstance(value, bool | str | list | dict)
    return not (value is None or isinstance(value, str))


def other_text(value: Mapping[str, Any], unknown: set[str]) -> str | None:
    """Return all text of the fields that are not known, their names too."""
    names = unknown.intersection(value)
    return " ".join(_texts({name: value[name] for name in names})) if names else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from chain.from_iterable(map(_texts, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_texts, value))


def mark(names: list[str] | None) -> str | None:
    """Return what the column `mistyped` has of a row with such fields, None of any other."""
    return f"|{'|'.join(names)}|" if names else None


def text_of(value: Any) -> str | None:
    """Write a value as text; lists and objects leave a mark that is only not empty."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return "{}"
    return str(value).lower() if isinstance(value, int) else plain_digits(str(value))


def plain_digits(token: str) -> str:
    """Write a number token without an exponent; huge and tiny ones are cut to a fitting width."""
    if "e" not in token and "E" not in token:
        return token
    number = Decimal(token)
    sign = "-" if number.is_signed() else ""
    if not number:
        return f"{sign}0"
    if number.adjusted() > _WIDEST:
        return f"{sign}1{'0' * _WIDEST}"
    if number.adjusted() < -_WIDEST:
        return f"{sign}0.{'0' * _WIDEST}1"
    return f"{number:f}"
