"""Pseudo-random columns: each value is a mix of the seed, a name and the row's numbers.

There is no state to carry from row to row, so a table can be made in chunks, in any order and on
any number of threads. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood,
2014), on unsigned 64-bit integers that wrap. Polars' own `hash` is not used: its values may change
between versions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, time
from itertools import accumulate
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.sample.plan import Plan

_GAMMA = 0x9E3779B97F4A7C15
_FIRST_FACTOR = 0xBF58476D1CE4E5B9
_SECOND_FACTOR = 0x94D049BB133111EB
_FOUR_DIGITS = pl.Series([f"{number:04x}" for number in range(1 << 16)])


def whole(number: int) -> pl.Expr:
    """Write an unsigned 64-bit constant."""
    return pl.lit(number, dtype=pl.UInt64)


def _shifted(number: pl.Expr, bits: int) -> pl.Expr:
    return number // whole(1 << bits)


def _mixed(number: pl.Series) -> pl.Series:
    """Mix 64 bits; on columns at hand, since as an expression each use would triple the tree."""
    number = (number ^ (number // (1 << 30))) * _FIRST_FACTOR
    number = (number ^ (number // (1 << 27))) * _SECOND_FACTOR
    return number ^ (number // (1 << 31))


@dataclass(frozen=True)
class Chance:
    """A seed, narrowed to one part of the sample, such as an institution."""

    seed: int
    scope: str = ""

    def within(self, part: str) -> Chance:
        """Return the chance of a part: its draws have nothing to do with another part's."""
        return Chance(self.seed, f"{self.scope}/{part}")

    def draw(self, name: str, *keys: str | pl.Expr) -> pl.Expr:
        """Return 64 random bits for each row, named after what they decide.

        Equal keys draw equal bits. For a single key, different keys draw different bits.
        """
        text = f"{self.seed}{self.scope}/{name}"
        bits = whole(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
        for key in keys:
            number = pl.col(key) if isinstance(key, str) else key
            bits = bits + number.cast(pl.UInt64) * whole(_GAMMA)
            bits = bits.map_batches(_mixed, return_dtype=pl.UInt64)
        return bits


def below(bits: pl.Expr, limit: int | pl.Expr) -> pl.Expr:
    """Turn 64 random bits into a whole number from 0 to just under the limit (under 2^32)."""
    top = whole(limit) if isinstance(limit, int) else limit.cast(pl.UInt64)
    return _shifted(_shifted(bits, 32) * top, 32)


def between(bits: pl.Expr, first: int, last: int) -> pl.Expr:
    """Turn 64 random bits into a whole number from first to last, both included."""
    return below(bits, last - first + 1) + first


def chosen(bits: pl.Expr, per_thousand: int) -> pl.Expr:
    """Say yes for so many rows in a thousand."""
    return below(bits, 1000) < per_thousand


def unit(bits: pl.Expr) -> pl.Expr:
    """Turn 64 random bits into a float from 0 to just under 1."""
    return _shifted(bits, 11).cast(pl.Float64) * 2.0**-53


def looked_up(values: pl.Series | Sequence[str] | Sequence[int], index: pl.Expr) -> pl.Expr:
    """Take from a small table the value with this index."""
    table = values if isinstance(values, pl.Series) else pl.Series(values)
    return pl.lit(table).gather(index)


class Weights:
    """A weighted choice among numbers 0, 1, 2 …, by integer weights."""

    def __init__(self, weights: Sequence[int]) -> None:
        sums = list(accumulate(weights))
        self.total = sums[-1]
        self._sums = pl.Series(sums, dtype=pl.UInt64)

    def at(self, position: pl.Expr) -> pl.Expr:
        """Return the number that owns this position, from 0 to just under the total."""
        return pl.lit(self._sums).search_sorted(position, side="right")

    def pick(self, bits: pl.Expr) -> pl.Expr:
        """Choose a number by 64 random bits (a total under 2^32)."""
        return self.at(below(bits, self.total))


def hexadecimal(*numbers: pl.Expr) -> pl.Expr:
    """Write each number as 16 lower-case hexadecimal digits, one after the other."""
    return pl.concat_str(
        number.map_batches(_hexadecimal, return_dtype=pl.String) for number in numbers
    )


def _hexadecimal(number: pl.Series) -> pl.Series:
    pieces = [
        _FOUR_DIGITS.gather(number // (1 << bits) % (1 << 16)).alias(str(bits))
        for bits in (48, 32, 16, 0)
    ]
    return pl.select(pl.concat_str(pieces)).to_series()


def uuid(name: str, chance: Chance, *keys: str) -> pl.Expr:
    """Write a random UUID (RFC 9562, version 4)."""
    digits = hexadecimal(chance.draw(f"{name} high", *keys), chance.draw(f"{name} low", *keys))
    part = digits.str.slice
    variant = looked_up(list("89ab"), below(chance.draw(f"{name} variant", *keys), 4))
    pieces = [part(0, 8), part(8, 4), "4" + part(13, 3), variant + part(17, 3), part(20, 12)]
    return pl.concat_str(pieces, separator="-")


def padded(number: pl.Expr, width: int) -> pl.Expr:
    """Write a number with leading zeros."""
    return number.cast(pl.String).str.zfill(width)


def moment_of(plan: Plan, second: pl.Expr) -> pl.Expr:
    """Write a second of the plan's period as a timestamp."""
    opening = datetime.combine(plan.first_day, time())
    return (pl.lit(opening) + pl.duration(seconds=second)).dt.strftime("%Y-%m-%dT%H:%M:%SZ")


def money(cents: pl.Expr) -> pl.Expr:
    """Write hundredths of a currency as an amount with two decimals."""
    cents = cents.cast(pl.UInt64)
    hundredths = looked_up([f".{number:02}" for number in range(100)], cents % 100)
    return (cents // 100).cast(pl.String) + hundredths
