"""The vocabulary: markets, categories and the syllables of names that no company bears.

A market is a currency with the languages, prices and names that go with it. The words themselves
stand in `words.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Category:
    """A kind of merchant: how often it occurs, what is spent there, what it is called.

    `nouns` are the three words that name such a merchant, by language.
    """

    name: str
    share: int
    typical_cents: int
    nouns: Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Market:
    """A currency and what goes with it; `price_level` is prices in hundredths of British ones.

    A name is a beginning, an ending and a place, with words of its category.
    """

    currency: str
    symbol: str
    price_level: int
    languages: Sequence[str]
    acquirers: Sequence[str]
    noun_first: bool
    beginnings: str
    endings: str
    places: Sequence[str]

    @property
    def stems(self) -> list[str]:
        """Every beginning with every ending."""
        starts, ends = self.beginnings.split(), self.endings.split()
        return [start + end for end in ends for start in starts]


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CATEGORIES = [Category(**entry) for entry in _WORDS["categories"]]
MARKETS = {entry["currency"]: Market(**entry) for entry in _WORDS["markets"]}
BANKS: Sequence[Mapping[str, str]] = _WORDS["banks"]
TITLES: Mapping[str, str] = _WORDS["titles"]
DESCRIPTIONS: Mapping[str, str] = _WORDS["descriptions"]
SEGMENTS: Sequence[str] = _WORDS["segments"]
