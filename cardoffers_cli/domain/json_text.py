"""JSON as the product writes it: exact decimals, UTC moments, nothing a strict reader refuses.

A `Decimal` becomes a number token with its own digits and never passes through a float, which the
standard encoder cannot do. Iterators are written as arrays while they run, so that a report of any
length needs no memory. Characters that act on a terminal, or hide from a reader, are written as
escapes: JSON is looked at too, and means the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any
from uuid import UUID

from cardoffers_cli.domain.moments import format_moment
from cardoffers_cli.domain.visible import escaped

_DELETE = "\x7f"


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Write a value as JSON; raise `TypeError` or `ValueError` for what JSON cannot say exactly."""
    return "".join(pieces(value, indent=indent))


def pieces(value: Any, *, indent: int | None = None) -> Iterator[str]:
    """Write a value as JSON piece by piece, taking iterators as they come."""
    return _pieces(value, indent, 0)


def _pieces(value: Any, indent: int | None, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        members = ((f"{_text(str(name))}: ", member) for name, member in value.items())
        yield from _enclosed("{", members, "}", indent, depth)
    elif isinstance(value, (list, tuple, Iterator)):
        yield from _enclosed("[", (("", item) for item in value), "]", indent, depth)
    else:
        yield _scalar(value)


def _enclosed(
    opening: str,
    members: Iterable[tuple[str, Any]],
    closing: str,
    indent: int | None,
    depth: int,
) -> Iterator[str]:
    comma = ", " if indent is None else ","
    inner, outer = ("", "") if indent is None else (_line(indent, depth + 1), _line(indent, depth))
    lead = opening
    for name, value in members:
        yield lead + inner + name
        if type(value) in _SCALARS:
            yield _scalar(value)
        else:
            yield from _pieces(value, indent, depth + 1)
        lead = comma
    yield opening + closing if lead == opening else outer + closing


def _line(indent: int, depth: int) -> str:
    return "\n" + " " * (indent * depth)


def _scalar(value: Any) -> str:
    for kind in type(value).__mro__:
        if (write := _SCALARS.get(kind)) is not None:
            return write(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _text(value: str) -> str:
    quoted = encode_basestring(value)
    if quoted.isascii() and _DELETE not in quoted:
        return quoted
    return escaped(quoted, lambda hidden: encode_basestring_ascii(hidden)[1:-1])


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError("a number in JSON is finite")
    return format(value, "f")


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("a number in JSON is finite")
    return repr(value)


def _moment(value: datetime) -> str:
    if value.tzinfo is not None:
        raise ValueError("a time is a naive datetime in UTC")
    return _text(format_moment(value))


_SCALARS: Mapping[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: int.__repr__,
    str: _text,
    Decimal: _decimal,
    float: _float,
    datetime: _moment,
    date: lambda value: _text(value.isoformat()),
    UUID: lambda value: _text(str(value)),
}
