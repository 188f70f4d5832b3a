"""Pseudo-random columns: each value is a mix of the seed, a name and the row's numbers.

There is no state to carry from row to row, so a table can be made in chunks, in any order and on
any number of threads. The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood,
2014), on unsigned 64-bit integers that wrap. Polars' own `hash` is not used: its values may change
between versions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAMMA = 0x9E3779B97F4A7C15
_FIRST_FACTOR = 0xBF58476D1CE4E5B9
_SECOND_FACTOR = 0x94D049BB133111EB
_FOUR_DIGITS = pl.Series([f"{number:04x}" for number in range(1 << 16)])


def _mixed(number: pl.Series) -> pl.Series:
    number = (number ^ (number // (1 << 30))) * _FIRST_FACTOR
    number = (number ^ (number // (1 << 27))) * _SECOND_FACTOR
    return number ^ (number // (1 << 31))


@dataclass(frozen=True)
class Chance:
    """A seed, narrowed to a part of the sample, and to rows that have these numbers."""

    seed: int
    scope: str = ""
    keys: tuple[str | pl.Expr, ...] = ()

    def within(self, part: str) -> Chance:
        """Return the chance of a part: its draws have nothing to do with another part's."""
        return replace(self, scope=f"{self.scope}/{part}")

    def by(self, *keys: str | pl.Expr) -> Chance:
        """Return the chance of rows: equal numbers draw equal bits, a different one others."""
        return replace(self, keys=keys)

    def draw(self, name: str) -> pl.Expr:
        """Return 64 random bits for each row, named after what they decide."""
        text = f"{self.seed}{self.scope}/{name}"
        start = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])

        def bits(numbers: Sequence[pl.Series]) -> pl.Series:
            mixed = pl.Series([start], dtype=pl.UInt64)
            for number in numbers:
                mixed = _mixed(mixed + number.cast(pl.UInt64) * _GAMMA)
            return mixed

        return pl.map_batches(self.keys, bits, return_dtype=pl.UInt64)

    def below(self, name: str, limit: int | pl.Expr) -> pl.Expr:
        """Draw a whole number from 0 to just under the limit (under 2^32)."""
        top = pl.lit(limit) if isinstance(limit, int) else limit
        return (self.draw(name) // (1 << 32) * top.cast(pl.UInt64) // (1 << 32)).cast(pl.Int64)

    def between(self, name: str, first: int, last: int) -> pl.Expr:
        """Draw a whole number from first to last, both included."""
        return self.below(name, last - first + 1) + first

    def chosen(self, name: str, per_thousand: int) -> pl.Expr:
        """Say yes for so many rows in a thousand."""
        return self.below(name, 1000) < per_thousand

    def one_of(self, name: str, values: pl.Series | Sequence[str]) -> pl.Expr:
        """Draw one of a few values."""
        return looked_up(values, self.below(name, len(values)))

    def weighted(self, name: str, sums: pl.Series) -> pl.Expr:
        """Draw a number from 0 by its weight, of which the running sums are given."""
        return numbered(sums, self.below(name, sums[-1]))


def numbered(sums: pl.Series, position: pl.Expr) -> pl.Expr:
    """Return the number whose share, by the running sums of all, holds this position."""
    return pl.lit(sums).search_sorted(position, side="right").cast(pl.Int64)


def repeated(shares: dict[str, int]) -> list[str]:
    """List each word as often as its share says."""
    return [word for word, share in shares.items() for _ in range(share)]


def looked_up(values: pl.Series | Sequence[str], index: pl.Expr | str) -> pl.Expr:
    """Take from a small table the value with this index."""
    place = pl.col(index) if isinstance(index, str) else index
    return pl.lit(pl.Series(values)).gather(place)


def unit(bits: pl.Expr) -> pl.Expr:
    """Turn 64 random bits into a float from 0 to just under 1."""
    return (bits // (1 << 11)).cast(pl.Float64) * 2.0**-53


def hexadecimal(*numbers: pl.Expr) -> pl.Expr:
    """Write each number as 16 lower-case hexadecimal digits, one after the other."""

    def digits(columns: Sequence[pl.Series]) -> pl.Series:
        parts = (number // (1 << bits) for number in columns for bits in (48, 32, 16, 0))
        pieces = [_FOUR_DIGITS.gather(part % (1 << 16)) for part in parts]
        return pl.select(pl.concat_str(pieces)).to_series()

    return pl.map_batches(numbers, digits, return_dtype=pl.String)


def uuid(name: str, chance: Chance) -> pl.Expr:
    """Write a random UUID (RFC 9562, version 4)."""
    digits = hexadecimal(chance.draw(f"{name} high"), chance.draw(f"{name} low"))
    part, variant = digits.str.slice, chance.one_of(f"{name} variant", list("89ab"))
    pieces = [part(0, 8), part(8, 4), "4" + part(13, 3), variant + part(17, 3), part(20, 12)]
    return pl.concat_str(pieces, separator="-")


def money(cents: pl.Expr) -> pl.Expr:
    """Write hundredths of a currency as an amount with two decimals."""
    return (cents.cast(pl.Decimal(20, 2)) / 100).cast(pl.String)
