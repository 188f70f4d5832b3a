"""Read JSON: whole documents and JSON Lines, with exact numbers and no field given twice.

Numbers keep their text (`LosslessFloat`), NaN and infinities are not JSON, and nesting deeper than
200 is refused. What is made of parsed values stands in `objects.py`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import jiter
from jiter import LosslessFloat

from cardoffers_cli.intake import objects
from cardoffers_cli.intake.objects import (
    JsonFault,
    Objects,
    Parser,
    as_objects,
    has_repeated,
    is_repeated,
)

__all__ = [
    "JsonFault",
    "Objects",
    "as_objects",
    "has_repeated",
    "is_repeated",
    "kind_of",
    "parse",
    "parse_marked",
    "read_document",
    "read_json_lines",
]

_POSITION = re.compile(r"line (\d+) column (\d+)$")


def parse(text: bytes, *, unique_keys: bool = True) -> Any:
    """Parse one JSON text; raise `JsonFault`."""
    try:
        return jiter.from_json(
            text,
            cache_mode="keys",  # tokens seldom come twice
            float_mode="lossless-float",
            catch_duplicate_keys=unique_keys,
            allow_inf_nan=False,
        )
    except ValueError as error:
        message = str(error)
        position = _POSITION.search(message)
        line, column = map(int, position.groups()) if position else (1, 1)
        code = "duplicate_key" if message.startswith("Detected duplicate key") else "json_invalid"
        raise JsonFault(code, text, line, column, is_short=message.startswith("EOF")) from None


_JITER = Parser(parse, lambda token: LosslessFloat(token.encode()))
parse_marked = _JITER.marked
kind_of = partial(objects.kind_of, _JITER)
read_document = partial(objects.read_document, _JITER)
read_json_lines = partial(objects.read_json_lines, _JITER)
