"""What is to be made: the sample's size, period, institutions, and the vocabulary of its names.

A market is a currency with the languages, prices and names that go with it. The words themselves,
of which no company bears one, stand in `words.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


DEFAULT_END = date(2026, 10, 1)
PURCHASES_PER_CARDHOLDER = 18
PURCHASES_PER_REFUND = 50
MAX_ACTIVE_OFFERS = 100


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything the bytes of a sample depend on."""

    rows: int
    seed: int
    institutions: int = 2
    links: int | None = None
    refunds: int | None = None
    kind: str = "csv"
    gzip: bool = False
    dirty: bool = False
    start: date | None = None
    days: int = 90
    files: int = 1
    unknown_merchants: int = 0

    @property
    def first_day(self) -> date:
        """The first day of the period; without `start`, the period ends on 30 September 2026."""
        return self.start or DEFAULT_END - timedelta(days=self.days)

    @property
    def total_links(self) -> int:
        """The links to make: one for every second purchase, if not said otherwise."""
        return self.rows // 2 if self.links is None else self.links

    @property
    def total_refunds(self) -> int:
        """The refunds to make: one for every fiftieth purchase, if not said otherwise."""
        return self.rows // PURCHASES_PER_REFUND if self.refunds is None else self.refunds

    def banks(self) -> list[Bank]:
        """List the institutions, the largest first; what they have adds up to the totals."""
        sizes = range(self.institutions + 1, 1, -1)
        bounds = [*accumulate(sizes, initial=0)]
        totals = (self.rows, self.total_links, self.total_refunds)
        edges = [[total * part // bounds[-1] for total in totals] for part in bounds]
        made = []
        for number, (before, after) in enumerate(pairwise(edges)):
            lap, place = divmod(number, len(BANKS))
            words = BANKS[place]
            rows, links, refunds = (end - start for start, end in zip(before, after, strict=True))
            made.append(
                Bank(
                    number,
                    rows,
                    links,
                    refunds,
                    slug=words["slug"] + (f"-{lap + 1}" if lap else ""),
                    name=words["name"] + (f" {lap + 1}" if lap else ""),
                    plan=words["plan"],
                    market=MARKETS[words["currency"]],
                )
            )
        return made


@dataclass(frozen=True)
class Bank:
    """One institution of the sample; after the last name the first comes again, numbered."""

    number: int
    rows: int
    links: int
    refunds: int
    slug: str
    name: str
    plan: str
    market: Market

    @property
    def cardholders(self) -> int:
        """How many customers have a card."""
        return max(4, self.rows // PURCHASES_PER_CARDHOLDER)


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


_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
CATEGORIES = [Category(**entry) for entry in _WORDS["categories"]]
MARKETS = {entry["currency"]: Market(**entry) for entry in _WORDS["markets"]}
BANKS: Sequence[Mapping[str, str]] = _WORDS["banks"]
TITLES: Mapping[str, str] = _WORDS["titles"]
DESCRIPTIONS: Mapping[str, str] = _WORDS["descriptions"]
SEGMENTS: Sequence[str] = _WORDS["segments"]
