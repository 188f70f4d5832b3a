"""JSON as the product writes it: exact decimals, UTC moments, nothing a strict reader refuses.

A `Decimal` becomes a number token with its own digits and never passes through a float, which the
standard encoder cannot do. Iterators are written as arrays while they run, so that a report of any
length needs no memory. Characters that act on a terminal, or hide from a reader, are written as
escapes: JSON is looked at too, and means the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any
from uuid import UUID

from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.visible import escaped

_DELETE = "\x7f"


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Write a value as JSON; raise `TypeError` or `ValueError` for what JSON cannot say exactly."""
    return "".join(pieces(value, indent=indent))


def pieces(value: Any, *, indent: int | None = None) -> Iterator[str]:
    """Write a value as JSON piece by piece, taking iterators as they come."""
    return _pieces(value, indent, 0)


def _pieces(value: Any, indent: int | None, depth: int) -> Iterator[str]:
    """Write objects member by member, and arrays item by item; an item is written at once."""
    between, before, after = _marks(indent, depth)
    if isinstance(value, Mapping):
        lead = f"{{{before}"
        for name, member in value.items():
            yield f"{lead}{_name(name)}: "
            yield from _pieces(member, indent, depth + 1)
            lead = between
        yield f"{after}}}" if lead == between else "{}"
    elif isinstance(value, (list, tuple, Iterator)):
        lead = f"[{before}"
        for item in value:
            yield lead + _whole(item, indent, depth + 1)
            lead = between
        yield f"{after}]" if lead == between else "[]"
    else:
        yield _scalar(value)


def _whole(value: Any, indent: int | None, depth: int) -> str:
    """Write a value at once, which costs a fraction of its pieces."""
    if (write := _SCALARS.get(type(value))) is not None:
        return write(value)
    if isinstance(value, Mapping):
        brackets = "{}"
        parts = [
            f"{_name(name)}: {_whole(member, indent, depth + 1)}" for name, member in value.items()
        ]
    elif isinstance(value, (list, tuple, Iterator)):
        brackets = "[]"
        parts = [_whole(item, indent, depth + 1) for item in value]
    else:
        return _scalar(value)
    if not parts:
        return brackets
    between, before, after = _marks(indent, depth)
    return f"{brackets[0]}{before}{between.join(parts)}{after}{brackets[1]}"


@cache
def _marks(indent: int | None, depth: int) -> tuple[str, str, str]:
    """Return what stands between the parts of a value, before the first, and after the last."""
    if indent is None:
        return ", ", "", ""
    before = _line(indent, depth + 1)
    return f",{before}", before, _line(indent, depth)


@lru_cache(maxsize=1024)
def _name(name: object) -> str:
    """Write the name of a member; rows have the same ones again and again."""
    return _text(str(name))


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


def _number(value: Decimal | float) -> str:
    if not math.isfinite(value):
        raise ValueError("a number in JSON is finite")
    return format(value, "f") if isinstance(value, Decimal) else repr(value)


def _moment(value: datetime) -> str:
    if value.tzinfo is not None:
        raise ValueError("a time is a naive datetime in UTC")
    return _text(format_moment(value))


_SCALARS: Mapping[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: int.__repr__,
    str: _text,
    Decimal: _number,
    float: _number,
    datetime: _moment,
    date: lambda value: _text(value.isoformat()),
    UUID: lambda value: _text(str(value)),
}
