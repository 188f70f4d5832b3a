"""Engagement: the visits in which cardholders saw offers in the app of their bank.

A visit is a widget view and an impression of every offer it showed: a stretch of the program, less
what was not running. Most links come out of a visit a few minutes before; some visits lead to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import Chance, below, chosen, looked_up, moment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.sample.links import SampleLinks

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
            looked_up(offers[each], pl.col("place")) for each in ("first_day", "last_day")
        )
        shown = 1 + below(self._chance.draw("shown", "cardholder_no", "second"), MOST_SHOWN)
        ranks = pl.int_ranges(0, shown.cast(pl.Int64).clip(upper_bound=offers.height))
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
