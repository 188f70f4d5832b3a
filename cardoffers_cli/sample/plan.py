"""What is to be made: the sample's size, period, institutions, and the vocabulary of its names.

A market is a currency with the languages, prices and names that go with it. The words themselves,
of which no company bears one, stand in `words.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


DEFAULT_END = date(2026, 10, 1)


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
    def totals(self) -> tuple[int, int, int]:
        """The rows, links and refunds: if not said otherwise, one of 2 and of 50 purchases."""
        links = self.rows // 2 if self.links is None else self.links
        return self.rows, links, self.rows // 50 if self.refunds is None else self.refunds

    def moment(self, second: pl.Expr) -> pl.Expr:
        """Write a second of the period as a timestamp."""
        opening = pl.lit(datetime.combine(self.first_day, time()))
        return (opening + pl.duration(seconds=second)).dt.strftime("%Y-%m-%dT%H:%M:%SZ")

    def banks(self) -> list[Bank]:
        """List the institutions, the largest first; what they have adds up to the totals."""
        bounds = [*accumulate(range(self.institutions + 1, 1, -1), initial=0)]
        edges = [[total * part // bounds[-1] for total in self.totals] for part in bounds]
        made = []
        for number, (before, after) in enumerate(pairwise(edges)):
            lap, place = divmod(number, len(WORDS["banks"]))
            rows, links, refunds = (end - start for start, end in zip(before, after, strict=True))
            words = dict(WORDS["banks"][place])
            market = MARKETS[words.pop("currency")]
            for key, between in (("slug", "-"), ("name", " ")):
                words[key] += f"{between}{lap + 1}" if lap else ""
            made.append(Bank(number, rows, links, refunds, market, **words))
        return made


@dataclass(frozen=True)
class Bank:
    """One institution of the sample; after the last name the first comes again, numbered."""

    number: int
    rows: int
    links: int
    refunds: int
    market: Market
    slug: str
    name: str
    plan: str


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


WORDS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
COLUMNS: Mapping[str, list[str]] = WORDS["columns"]
CATEGORIES = pl.DataFrame(WORDS["categories"])
MARKETS = {entry["currency"]: Market(**entry) for entry in WORDS["markets"]}
