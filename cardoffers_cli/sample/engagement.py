"""Engagement: the visits in which cardholders saw offers in the app of their bank.

A visit is a widget view and an impression of every offer it showed: a stretch of the program, less
what was not running. Most links come out of a visit a few minutes before; some visits lead to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import Chance, below, chosen, looked_up, moment_of
from cardoffers_cli.sample.purchases import FAVOURITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.sample.offers import Program
    from cardoffers_cli.sample.plan import Bank, Plan
    from cardoffers_cli.sample.purchases import Cardholders


COLUMNS = "institution cardholder_token event offer_id occurred_at".split()
SEEN_BEFORE = 620  # in a thousand
THINKS_SECONDS = 600
MOST_SHOWN = 3
MOST_IDLE_VISITS = 2
DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Engagement:
    """The engagement of one institution, made from its links a stretch of cardholders at a time."""

    links: SampleLinks

    def chunks(self, size: int) -> Iterator[pl.DataFrame]:
        """Make all events, in frames of some `size` rows with the columns of `engagement`."""
        for cardholders in self.links.stretches(size):
            visits = pl.concat([self._before_links(cardholders), self._idle(cardholders)])
            is_view = pl.col("place").is_null()
            event = pl.when(is_view).then(pl.lit("widget_view"))
            yield self._events(visits).select(
                institution=pl.lit(self.links.bank.slug),
                cardholder_token=self.links.cardholders.token(pl.col("cardholder_no")),
                event=event.otherwise(pl.lit("offer_impression")),
                offer_id=looked_up(self.links.program.offers["offer_id"], pl.col("place")),
                occurred_at=moment_of(self.links.plan, pl.col("second")),
            )

    @property
    def _chance(self) -> Chance:
        return self.links.chance.within("engagement")

    def _before_links(self, cardholders: pl.DataFrame) -> pl.DataFrame:
        """Visit just before adding an offer; that one is the first shown."""
        seen = chosen(self._chance.draw("seen", "cardholder_no", "place"), SEEN_BEFORE)
        thinks = below(self._chance.draw("thinks", "cardholder_no", "place"), THINKS_SECONDS)
        second = self.links.added_second() - 1 - thinks.cast(pl.Int64)
        return self.links.of(cardholders).filter(seen).select(*_visit(second))

    def _idle(self, cardholders: pl.DataFrame) -> pl.DataFrame:
        """Visit at some time in the period, and add nothing."""
        draw = self._chance.draw
        visits = below(draw("visits", "cardholder_no"), MOST_IDLE_VISITS + 1)
        start = below(draw("start", "cardholder_no", "visit"), self.links.program.offers.height)
        period = self.links.plan.days * DAY_SECONDS
        second = below(draw("second", "cardholder_no", "visit"), period).cast(pl.Int64)
        return (
            cardholders.with_columns(visit=pl.int_ranges(0, visits.cast(pl.Int64)))
            .filter(pl.col("visit").list.len() > 0)
            .explode("visit")
            .with_columns(place=start)
            .select(*_visit(second))
        )

    def _events(self, visits: pl.DataFrame) -> pl.DataFrame:
        views = visits.with_columns(place=pl.lit(None, pl.UInt64), rank=pl.lit(-1, pl.Int64))
        return (
            pl.concat([views, self._impressions(visits)])
            .unique(["cardholder_no", "second", "place"], keep="first", maintain_order=True)
            .sort("cardholder_no", "second", "rank", maintain_order=True)
        )

    def _impressions(self, visits: pl.DataFrame) -> pl.DataFrame:
        offers, day = self.links.program.offers, pl.col("second") // DAY_SECONDS
        first, end = (
            looked_up(offers[column], pl.col("place")) for column in ("first_day", "last_day")
        )
        count = 1 + below(self._chance.draw("shown", "cardholder_no", "second"), MOST_SHOWN)
        ranks = pl.int_ranges(0, count.cast(pl.Int64).clip(upper_bound=offers.height))
        return (
            visits.with_columns(rank=ranks)
            .explode("rank")
            .with_columns(place=(pl.col("place") + pl.col("rank").cast(pl.UInt64)) % offers.height)
            .filter((day >= first) & (day < end))
        )


def _visit(second: pl.Expr) -> tuple[pl.Expr, ...]:
    return (
        pl.col("cardholder_no"),
        pl.col("place").cast(pl.UInt64),
        second.clip(lower_bound=0).alias("second"),
    )


# Links: which cardholders have added which offers, and when.
#
# A cardholder adds offers of favourite merchants first, then others of the program. The first ones
# that differ are kept, so that no link occurs twice.


FAVOURITES_ADDED = 800  # in a thousand
ADDED_AHEAD = 100
STRIDES = (7919, 6007)


@dataclass(frozen=True)
class SampleLinks:
    """The links of one institution, made a stretch of cardholders at a time."""

    chance: Chance
    plan: Plan
    bank: Bank
    cardholders: Cardholders
    program: Program

    def chunks(self, size: int) -> Iterator[pl.DataFrame]:
        """Make all links, in frames of about `size` rows with the columns of `links`."""
        cardholder = pl.col("cardholder_no")
        for cardholders in self.stretches(size):
            yield self.of(cardholders).select(
                institution=pl.lit(self.bank.slug),
                cardholder_token=self.cardholders.token(cardholder),
                card_token=self.cardholders.card(cardholder, pl.lit(0)),
                offer_id=looked_up(self.program.offers["offer_id"], pl.col("place")),
                added_at=moment_of(self.plan, self.added_second()),
            )

    def stretches(self, size: int) -> Iterator[pl.DataFrame]:
        """Cut the cardholders into frames of `cardholder_no` with about `size` links each."""
        mean = max(1, self.bank.links // self.cardholders.count)
        step = max(1, size // (2 * mean + FAVOURITES))
        for first in range(0, self.cardholders.count, step):
            last = min(first + step, self.cardholders.count)
            yield pl.select(cardholder_no=pl.int_range(first, last, dtype=pl.UInt64))

    def of(self, cardholders: pl.DataFrame) -> pl.DataFrame:
        """Choose the offers that cardholders add: `cardholder_no`, and `place` in the program."""
        wanted = cardholders.with_columns(wanted=self._wanted()).filter(pl.col("wanted") > 0)
        candidates = pl.concat([self._of_favourites(wanted), self._of_program(wanted)])
        return (
            candidates.unique(["cardholder_no", "place"], keep="first", maintain_order=True)
            .filter(pl.int_range(pl.len()).over("cardholder_no") < pl.col("wanted"))
            .sort("cardholder_no", maintain_order=True)
            .select("cardholder_no", "place")
        )

    def _wanted(self) -> pl.Expr:
        """Share the links out, more to the busier: cardholder x of n gets 2/n * (1 - x/n)."""
        return (self._before(1) - self._before(0)).clip(upper_bound=self.program.offers.height)

    def _before(self, more: int) -> pl.Expr:
        remainder = 1.0 - (pl.col("cardholder_no") + more) / self.cardholders.count
        return ((1.0 - remainder * remainder) * self.bank.links).floor().cast(pl.Int64)

    def _of_favourites(self, wanted: pl.DataFrame) -> pl.DataFrame:
        """Offer an offer of each favourite merchant that has one, if the cardholder takes to it."""
        bits = self.chance.draw("offer", "cardholder_no", "slot")
        is_added = chosen(self.chance.draw("taken", "cardholder_no", "slot"), FAVOURITES_ADDED)
        merchant = self.cardholders.favourite(pl.col("cardholder_no"), pl.col("slot"))
        groups = self.program.by_merchant
        return (
            wanted.with_columns(slot=pl.int_ranges(0, pl.lit(FAVOURITES)))
            .explode("slot")
            .with_columns(merchant_no=merchant)
            .filter(is_added & (groups.size_of(pl.col("merchant_no")) > 0))
            .select("cardholder_no", "wanted", place=groups.pick(bits, pl.col("merchant_no")))
        )

    def _of_program(self, wanted: pl.DataFrame) -> pl.DataFrame:
        """Walk through the program from a random start; the stride visits no offer twice."""
        size = self.program.offers.height
        stride = next(stride for stride in STRIDES if size % stride)
        start = below(self.chance.draw("start", "cardholder_no"), size)
        return (
            wanted.with_columns(pace=pl.int_ranges(0, "wanted", dtype=pl.UInt64))
            .explode("pace")
            .select("cardholder_no", "wanted", place=(start + pl.col("pace") * stride) % size)
        )

    def added_second(self) -> pl.Expr:
        """Add early in the offer's window and the period; some before the offer starts."""
        draw = self.chance.draw
        offers = self.program.offers
        starts = looked_up(offers["first_day"].clip(0, self.plan.days), pl.col("place"))
        ends = looked_up(offers["last_day"].clip(0, self.plan.days), pl.col("place"))
        ahead = chosen(draw("ahead", "cardholder_no", "place"), ADDED_AHEAD)
        first = pl.when(ahead).then(0).otherwise(starts) * 86_400
        length = (ends * 86_400 - first).clip(lower_bound=1)
        early = below(draw("early", "cardholder_no", "place"), length) + 1
        return first + below(draw("second", "cardholder_no", "place"), early).cast(pl.Int64)
