"""Offers: which merchants have some, their terms, titles, programs, and the visits that show them.

A visit is a widget view and an impression of every offer it showed: a stretch of the program, less
what was not running. Most links come out of a visit a few minutes before; some visits lead to none.

A cardholder adds offers of favourite merchants first, then others of the program. The first ones
that differ are kept, so that no link occurs twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import Chance, looked_up, money
from cardoffers_cli.sample.plan import CATEGORIES, WORDS, Market
from cardoffers_cli.sample.purchases import FAVOURITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.sample.merchants import Merchants
    from cardoffers_cli.sample.plan import Plan
    from cardoffers_cli.sample.purchases import Cardholders


DAY_SECONDS = 86_400


def make_offers(
    chance: Chance, plan: Plan, market: Market, merchants: Merchants, first_no: int
) -> pl.DataFrame:
    """Make the offers of a market: the catalogue's columns, `offer_no` and `merchant_no`."""
    draw, by_merchant = chance.by("offer_no"), chance.by("merchant_no")
    visits = pl.col("weight") * plan.rows // merchants.popularity[-1]
    uses = pl.when(draw.chosen("capped", 350)).then(draw.between("uses", 1, 2))
    return (
        merchants.catalogue.filter(by_merchant.chosen("covered", 400))
        .with_columns(copies=pl.int_ranges(0, by_merchant.between("offers", 1, 4)))
        .explode("copies")
        .with_columns(offer_no=first_no + pl.int_range(pl.len()))
        .with_columns(**_window(draw, plan.days), **_terms(draw, market.price_level, visits))
        .with_columns(
            offer_id="of-" + pl.col("offer_no").cast(pl.String).str.zfill(5),
            min_spend=money(pl.col("spend")),
            cashback_amount=money(pl.col("cashback")),
            currency=pl.lit(market.currency),
            commission_rate=draw.one_of("commission", WORDS["commission_rates"]),
            budget_amount=money(pl.col("budget")),
            starts_at=plan.moment(pl.col("first_day") * DAY_SECONDS),
            expires_at=plan.moment(pl.col("last_day") * DAY_SECONDS),
            segments=pl.when(draw.chosen("segmented", 150)).then(
                draw.one_of("segment", WORDS["segments"])
            ),
            max_redemptions_per_cardholder=uses,
            paused=pl.when(draw.chosen("paused", 30)).then(pl.lit("true")),
            **_titles(draw, market),
        )
    )


def _window(draw: Chance, days: int) -> dict[str, pl.Expr]:
    """Start a third of the offers inside the period, and end a third inside it."""
    part = max(1, days * 45 // 100)
    soon, over = draw.between("soon", 0, part), days - draw.between("over", 0, part)
    early, late = -draw.between("early", 1, 60), days + draw.between("late", 1, 60)
    return {
        "first_day": pl.when(draw.chosen("starts", 330)).then(soon).otherwise(early),
        "last_day": pl.when(draw.chosen("ends", 330)).then(over).otherwise(late) + 1,
    }


def _terms(draw: Chance, level: int, visits: pl.Expr) -> dict[str, pl.Expr]:
    """Set the least spend near what is usual, and a twentieth to a fifth of it as cashback.

    A third of the budgets runs out, a third does not, and a third of the offers has none (null).
    """
    usual = looked_up(CATEGORIES["typical_cents"], "category_no")
    steps = usual * draw.between("spend", 30, 110) // 100 // 50 + 1
    back = steps * draw.between("cashback", 5, 20) // 100 + 1
    few = 1 + visits * draw.between("few", 5, 30) // 1000
    uses = pl.when(draw.chosen("enough", 500)).then(visits + 10).otherwise(few)
    spend, cashback = (part * 50 * level // 100 for part in (steps, back))
    budget = pl.when(~draw.chosen("unlimited", 340)).then(cashback * uses * 115 // 100)
    return {"spend": spend, "cashback": cashback, "budget": budget}


def _titles(draw: Chance, market: Market) -> dict[str, pl.Expr]:
    """Write title and description in each language; some translations are missing.

    Amounts are as readers of the language write them: `£5`, `£2.50`, `R$ 2,50`.
    """
    columns: dict[str, pl.Expr] = {}
    for language, title in WORDS["titles"].items():
        point = "," if language == "pt-BR" else "."
        cashback, spend = (
            market.symbol + amount.str.strip_suffix(".00").str.replace(".", point, literal=True)
            for amount in (money(pl.col("cashback")), money(pl.col("spend")))
        )
        missing = 0 if language == market.languages[0] else WORDS["missing_titles"][language]
        is_there = pl.when(~draw.chosen(f"missing {language}", missing))
        columns[f"title_{language}"] = is_there.then(pl.format(title, cashback, "name", spend))
        columns[f"description_{language}"] = is_there.then(pl.lit(WORDS["descriptions"][language]))
    return columns


@dataclass(frozen=True)
class Program:
    """The offers one institution shows, and who sees and adds them.

    `place` is the row of an offer, `position` its place in the program, from 1.
    """

    offers: pl.DataFrame
    people: Cardholders

    def links(self, size: int) -> Iterator[pl.DataFrame]:
        """Make all links, in frames of about `size` rows with the columns of `links`."""
        for cardholders in self._cardholders(size):
            yield self._added(cardholders).select(
                institution=pl.lit(self.people.bank.slug),
                cardholder_token=self.people.token(),
                card_token=self.people.card(pl.lit(0)),
                offer_id=looked_up(self.offers["offer_id"], "place"),
                added_at=self.people.plan.moment(pl.col("second")),
            )

    def engagement(self, size: int) -> Iterator[pl.DataFrame]:
        """Make the engagement of an institution, in frames of some `size` rows."""
        chance, plan = self.people.chance.within("engagement"), self.people.plan
        link, visit = chance.by("cardholder_no", "place"), chance.by("cardholder_no", "visit")
        visits = chance.by("cardholder_no").below("visits", 3)
        count = 1 + chance.by("cardholder_no", "second").below("shown", 3)
        second, day = pl.col("second"), pl.col("second") // DAY_SECONDS
        first, end = (looked_up(self.offers[name], "place") for name in ("first_day", "last_day"))
        event = pl.when(pl.col("place").is_null()).then(pl.lit("widget_view"))
        for cardholders in self._cardholders(size):
            # a visit just before adding an offer shows that one first
            before = second - 1 - link.below("thinks", 600)
            added = self._added(cardholders).filter(link.chosen("seen", 620))
            # at others nothing is added
            others = (
                cardholders.with_columns(visit=pl.int_ranges(0, visits))
                .explode("visit")
                .select(
                    "cardholder_no",
                    place=visit.below("start", self.offers.height),
                    second=visit.below("second", plan.days * DAY_SECONDS),
                )
            )
            shown = pl.concat([added.with_columns(second=before.clip(lower_bound=0)), others])
            impressions = (
                shown.with_columns(
                    rank=pl.int_ranges(0, count.clip(upper_bound=self.offers.height))
                )
                .explode("rank")
                .with_columns(place=(pl.col("place") + pl.col("rank")) % self.offers.height)
                .filter((day >= first) & (day < end))
            )
            views = shown.with_columns(place=pl.lit(None, pl.Int64), rank=pl.lit(-1, pl.Int64))
            yield (
                pl.concat([views, impressions])
                .unique(["cardholder_no", "second", "place"], keep="first", maintain_order=True)
                .sort("cardholder_no", "second", "rank", maintain_order=True)
                .select(
                    institution=pl.lit(self.people.bank.slug),
                    cardholder_token=self.people.token(),
                    event=event.otherwise(pl.lit("offer_impression")),
                    offer_id=looked_up(self.offers["offer_id"], "place"),
                    occurred_at=plan.moment(second),
                )
            )

    def _cardholders(self, size: int) -> Iterator[pl.DataFrame]:
        """Cut the cardholders into frames of `cardholder_no` with about `size` links each."""
        count = self.people.count
        step = max(1, size // (2 * max(1, self.people.bank.links // count) + FAVOURITES))
        for first in range(0, count, step):
            yield pl.select(cardholder_no=pl.int_range(first, min(first + step, count)))

    def _added(self, cardholders: pl.DataFrame) -> pl.DataFrame:
        """Choose the offers that cardholders add: `cardholder_no`, `place` and `second`."""
        chance, size = self.people.chance, self.offers.height
        slot = chance.by("cardholder_no", "slot")
        # more for the busier: cardholder x of n gets 2/n * (1 - x/n) of the links
        left = [1.0 - (pl.col("cardholder_no") + more) / self.people.count for more in (0, 1)]
        begun, ended = (
            ((1.0 - part * part) * self.people.bank.links).floor().cast(pl.Int64) for part in left
        )
        wanted = cardholders.with_columns(wanted=(ended - begun).clip(upper_bound=size)).filter(
            pl.col("wanted") > 0
        )
        # the first offer of each merchant, and how many it has
        groups = (
            self.offers.with_row_index("first")
            .group_by("merchant_no")
            .agg(pl.col("first").min().cast(pl.Int64), size=pl.len())
        )
        favourites = (
            wanted.with_columns(slot=pl.int_ranges(0, pl.lit(FAVOURITES)))
            .explode("slot")
            .filter(slot.chosen("taken", 800))
            .with_columns(merchant_no=self.people.favourite())
            .join(groups, on="merchant_no", maintain_order="left")
            .with_columns(place=pl.col("first") + slot.below("offer", pl.col("size")))
        )
        # a walk through the program from a random start; the stride visits no offer twice
        stride = 7919 if size % 7919 else 6007
        start = chance.by("cardholder_no").below("start", size)
        others = (
            wanted.with_columns(pace=pl.int_ranges(0, "wanted"))
            .explode("pace")
            .with_columns(place=(start + pl.col("pace") * stride) % size)
        )
        return (
            pl.concat(
                frame.select("cardholder_no", "wanted", "place") for frame in (favourites, others)
            )
            .unique(["cardholder_no", "place"], keep="first", maintain_order=True)
            .filter(pl.int_range(pl.len()).over("cardholder_no") < pl.col("wanted"))
            .sort("cardholder_no", maintain_order=True)
            .select("cardholder_no", "place", second=self._second())
        )

    def _second(self) -> pl.Expr:
        """Add early in the offer's window and the period; some before the offer starts."""
        draw, days = self.people.chance.by("cardholder_no", "place"), self.people.plan.days
        starts, ends = (
            looked_up(self.offers[name].clip(0, days), "place") * DAY_SECONDS
            for name in ("first_day", "last_day")
        )
        first = pl.when(draw.chosen("ahead", 100)).then(0).otherwise(starts)
        early = draw.below("early", (ends - first).clip(lower_bound=1)) + 1
        return first + draw.below("second", early)
