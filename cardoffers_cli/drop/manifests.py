"""Manifests: what the sender says of a file, in JSON beside it.

A manifest is as hostile as its file. It is small, its numbers are short, finite and within what a
file can hold, and nothing of it is printed before that is known.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from cardoffers_cli.kernel.words.errors import FileUnusable

MANIFEST_BYTES = 1 << 20
"""The most that is read of one."""

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")
_NUMBER_LENGTH = 40
_NUMBER_DIGITS = 24
"""Before or behind the point: a sum of 10^12 amounts below 10^12 has no more."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the sender says of a file; None says nothing. `amount_sum` is the sum of all rows."""

    sha256: str | None = None
    rows: int | None = None
    amount_sum: Decimal | None = None


def parse_manifest(text: bytes, name: str) -> Manifest:
    """Read a manifest of that name; raise `FileUnusable` (`manifest_invalid`)."""
    try:
        return _manifest(text)
    except (ValueError, TypeError, RecursionError):
        raise FileUnusable.from_table("drop", "manifest_invalid", name=name) from None


def _manifest(text: bytes) -> Manifest:
    if len(text) > MANIFEST_BYTES:
        raise ValueError
    document = json.loads(text, parse_float=_number, parse_int=_number, parse_constant=_refuse)
    if not isinstance(document, dict):
        raise TypeError
    sha256, rows, amount = (document.get(name) for name in ("sha256", "rows", "amount_sum"))
    if isinstance(amount, str):
        amount = _number(amount)
    wrong = (
        not isinstance(sha256, str | None)
        or not isinstance(rows, Decimal | None)
        or not isinstance(amount, Decimal | None)
        or (rows is not None and (rows < 0 or rows != int(rows)))
    )
    if wrong:
        raise ValueError
    return Manifest(
        sha256=sha256.lower() if sha256 else None,
        rows=None if rows is None else int(rows),
        amount_sum=amount,
    )


def _number(text: str) -> Decimal:
    """Read a number; one that would take a computer's time to write out is refused."""
    if len(text) > _NUMBER_LENGTH or not _NUMBER.fullmatch(text):
        raise ValueError
    number = Decimal(text)
    if max(number.adjusted(), -int(number.as_tuple().exponent)) >= _NUMBER_DIGITS:
        raise ValueError
    return number


def _refuse(_word: str) -> NoReturn:
    raise ValueError
