"""What rows of several currencies come to: amounts of different ones are never added up."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]


def firsts(rows: Sequence[Row]) -> list[Row]:
    """Return the first row of each currency, which may have the figures of all of it."""
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(row["currency"], row)
    return list(found.values())


def summed(rows: Sequence[Row], name: str) -> dict[str, Decimal]:
    """Return the sum of an amount by currency."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        sums[row["currency"]] = sums.get(row["currency"], Decimal(0)) + row[name]
    return sums
