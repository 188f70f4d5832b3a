"""What is to be made: the size of the sample, its period and the institutions that take part."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, pairwise

from cardoffers_cli.sample.words import BANKS, MARKETS, Market

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
        return [
            Bank(number, *(end - start for start, end in zip(before, after, strict=True)))
            for number, (before, after) in enumerate(pairwise(edges))
        ]


@dataclass(frozen=True)
class Bank:
    """One institution of the sample."""

    number: int
    rows: int
    links: int
    refunds: int

    @property
    def slug(self) -> str:
        """The institution's slug; after the last name the first comes again, numbered."""
        return self._told("slug") + (f"-{self._lap + 1}" if self._lap else "")

    @property
    def name(self) -> str:
        """The institution's name."""
        return self._told("name") + (f" {self._lap + 1}" if self._lap else "")

    @property
    def plan(self) -> str:
        """The institution's plan; every one may upload files."""
        return self._told("plan")

    @property
    def market(self) -> Market:
        """The institution's currency and what goes with it."""
        return MARKETS[self._told("currency")]

    @property
    def cardholders(self) -> int:
        """How many customers have a card."""
        return max(4, self.rows // PURCHASES_PER_CARDHOLDER)

    @property
    def _lap(self) -> int:
        return self.number // len(BANKS)

    def _told(self, what: str) -> str:
        return BANKS[self.number % len(BANKS)][what]
