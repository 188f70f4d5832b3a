"""Offers: which merchants have some, their terms, titles, programs, and the visits that show them.

A visit is a widget view and an impression of every offer it showed: a stretch of the program, less
what was not running. Most links come out of a visit a few minutes before; some visits lead to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import (
    Chance,
    below,
    between,
    chosen,
    looked_up,
    moment_of,
    money,
    padded,
)
from cardoffers_cli.sample.merchants import Groups
from cardoffers_cli.sample.plan import CATEGORIES, DESCRIPTIONS, SEGMENTS, TITLES, Market
from cardoffers_cli.sample.purchases import FAVOURITES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.sample.merchants import Merchants
    from cardoffers_cli.sample.plan import Bank, Plan
    from cardoffers_cli.sample.purchases import Cardholders


COVERED_MERCHANTS = 400  # in a thousand
MOST_OFFERS = 4
SHARED_OFFERS = 600
COMMISSION_RATES = ("0", "0.025", "0.05", "0.05", "0.1", "0.15")
MISSING_TITLES = {"es": 120, "pt-BR": 350}  # in a thousand
COLUMNS = (
    "offer_id merchant_id title_en title_es title_pt-BR description_en description_es "
    "description_pt-BR min_spend cashback_amount currency commission_rate budget_amount starts_at "
    "expires_at segments max_redemptions_per_cardholder paused"
).split()


def make_offers(
    chance: Chance, plan: Plan, market: Market, merchants: Merchants, first_no: int
) -> pl.DataFrame:
    """Make the offers of a market: the catalogue's columns, `offer_no` and `merchant_no`."""
    number = pl.col("offer_no")
    count = between(chance.draw("offers", "merchant_no"), 1, MOST_OFFERS)
    return (
        merchants.catalogue.filter(chosen(chance.draw("covered", "merchant_no"), COVERED_MERCHANTS))
        .with_columns(copies=pl.int_ranges(0, count))
        .explode("copies")
        .select("merchant_no", "merchant_id", "category_no", "name")
        .with_row_index("offer_no")
        .with_columns(number.cast(pl.UInt64) + first_no)
        .with_columns(**_terms(chance, market))
        .with_columns(**_window(chance, plan), _budget=_budget(chance, plan, merchants))
        .with_columns(
            offer_id="of-" + padded(number, 5),
            min_spend=money(pl.col("_spend")),
            cashback_amount=money(pl.col("_cashback")),
            currency=pl.lit(market.currency),
            commission_rate=looked_up(
                COMMISSION_RATES, below(chance.draw("commission", number), len(COMMISSION_RATES))
            ),
            budget_amount=money(pl.col("_budget")),
            **_audience(chance),
            **_titles(chance, market),
        )
    )


def _terms(chance: Chance, market: Market) -> dict[str, pl.Expr]:
    """Set the least spend near what is usual, and a twentieth to a fifth of it as cashback."""
    usual = looked_up([category.typical_cents for category in CATEGORIES], pl.col("category_no"))
    steps = usual.cast(pl.UInt64) * between(chance.draw("spend", "offer_no"), 30, 110) // 100 // 50
    part = between(chance.draw("cashback", "offer_no"), 5, 20)
    level = market.price_level
    return {
        "_spend": (steps + 1) * 50 * level // 100,
        "_cashback": ((steps + 1) * part // 100 + 1) * 50 * level // 100,
    }


def _window(chance: Chance, plan: Plan) -> dict[str, pl.Expr]:
    """Start a third of the offers inside the period, and end a third inside it."""
    early = -between(chance.draw("early", "offer_no"), 1, 60).cast(pl.Int64)
    soon = between(chance.draw("soon", "offer_no"), 0, max(1, plan.days * 45 // 100))
    beyond = plan.days + between(chance.draw("late", "offer_no"), 1, 60)
    over = plan.days - between(chance.draw("over", "offer_no"), 0, max(1, plan.days * 45 // 100))
    starts = pl.when(chosen(chance.draw("starts", "offer_no"), 330)).then(soon).otherwise(early)
    ends = pl.when(chosen(chance.draw("ends", "offer_no"), 330)).then(over).otherwise(beyond)
    first, last = starts.cast(pl.Int64), ends.cast(pl.Int64) + 1
    return {
        "first_day": first,
        "last_day": last,
        "starts_at": moment_of(plan, first * 86_400),
        "expires_at": moment_of(plan, last * 86_400),
    }


def _budget(chance: Chance, plan: Plan, merchants: Merchants) -> pl.Expr:
    """Let a third run out, a third not, and leave a third without a budget (null)."""
    visits = merchants.expected_visits(pl.col("merchant_no"), plan.rows)
    few = 1 + visits * between(chance.draw("few", "offer_no"), 5, 30) // 1000
    redemptions = (
        pl.when(chosen(chance.draw("enough", "offer_no"), 500)).then(visits + 10).otherwise(few)
    )
    amount = pl.col("_cashback") * redemptions * 115 // 100
    return pl.when(chosen(chance.draw("unlimited", "offer_no"), 340)).then(None).otherwise(amount)


def _audience(chance: Chance) -> dict[str, pl.Expr]:
    limited = chosen(chance.draw("segmented", "offer_no"), 150)
    capped = chosen(chance.draw("capped", "offer_no"), 350)
    paused = chosen(chance.draw("paused", "offer_no"), 30)
    segment = looked_up(SEGMENTS, below(chance.draw("segment", "offer_no"), len(SEGMENTS)))
    uses = between(chance.draw("uses", "offer_no"), 1, 2).cast(pl.String)
    return {
        "segments": pl.when(limited).then(segment),
        "max_redemptions_per_cardholder": pl.when(capped).then(uses),
        "paused": pl.when(paused).then(pl.lit("true")),
    }


def _titles(chance: Chance, market: Market) -> dict[str, pl.Expr]:
    """Write title and description in each language; some translations are missing."""
    columns: dict[str, pl.Expr] = {}
    for language, title in TITLES.items():
        cashback, spend = (
            pl.lit(market.symbol) + _as_read(money(pl.col(name)), language)
            for name in ("_cashback", "_spend")
        )
        missing = chosen(
            chance.draw(f"missing {language}", "offer_no"),
            0 if language == market.languages[0] else MISSING_TITLES.get(language, 0),
        )
        text = pl.format(title, cashback, pl.col("name"), spend)
        columns[f"title_{language}"] = pl.when(~missing).then(text)
        columns[f"description_{language}"] = pl.when(~missing).then(pl.lit(DESCRIPTIONS[language]))
    return columns


@dataclass(frozen=True)
class Program:
    """The offers one institution shows, by merchant, and how to find a merchant's."""

    offers: pl.DataFrame
    by_merchant: Groups


def make_program(
    chance: Chance, merchants: Merchants, offers: pl.DataFrame, place: int, institutions: int
) -> Program:
    """Choose the offers of one of a market's institutions: its own and the shared ones.

    `offers` gains `position`, its place in the program, from 1.
    """
    shared = chosen(chance.draw("shared", "offer_no"), SHARED_OFFERS)
    own = pl.col("offer_no") % institutions == place
    order = chance.within(f"program {place}").draw("order", "offer_no")
    table = offers.filter(shared | own).with_columns(position=order.rank("ordinal"))
    every = merchants.catalogue.select("merchant_no")
    sizes = table.group_by("merchant_no").len("size")
    joined = every.join(sizes, on="merchant_no", how="left", maintain_order="left")
    return Program(table, Groups.of(joined["size"].fill_null(0)))


def _as_read(amount: pl.Expr, language: str) -> pl.Expr:
    """Write an amount as readers of the language do: `£5`, `£2.50`, `R$ 2,50`."""
    amount = amount.str.strip_suffix(".00")
    return amount.str.replace(".", ",", literal=True) if language == "pt-BR" else amount


SEEN_BEFORE = 620  # in a thousand
THINKS_SECONDS = 600
MOST_SHOWN = 3
MOST_IDLE_VISITS = 2
DAY_SECONDS = 86_400


def engagement(links: SampleLinks, size: int) -> Iterator[pl.DataFrame]:
    """Make the engagement of an institution, in frames of some `size` rows."""
    draw, plan = links.chance.within("engagement").draw, links.plan
    offers, keys, visit = (
        links.program.offers,
        ("cardholder_no", "place"),
        ("cardholder_no", "visit"),
    )
    place, second = pl.col("place").cast(pl.UInt64), pl.col("second")
    # a visit just before adding an offer shows that one first
    thinks = below(draw("thinks", *keys), THINKS_SECONDS).cast(pl.Int64)
    before = (links.added_second() - 1 - thinks).clip(lower_bound=0)
    # at others nothing is added
    visits = below(draw("visits", "cardholder_no"), MOST_IDLE_VISITS + 1).cast(pl.Int64)
    idle = below(draw("second", *visit), plan.days * DAY_SECONDS).cast(pl.Int64)
    count = 1 + below(draw("shown", "cardholder_no", "second"), MOST_SHOWN).cast(pl.Int64)
    first, end = (looked_up(offers[name], place) for name in ("first_day", "last_day"))
    for cardholders in links.stretches(size):
        added = links.of(cardholders).filter(chosen(draw("seen", *keys), SEEN_BEFORE))
        others = (
            cardholders.with_columns(visit=pl.int_ranges(0, visits))
            .filter(pl.col("visit").list.len() > 0)
            .explode("visit")
            .select("cardholder_no", "visit", place=below(draw("start", *visit), offers.height))
        )
        shown = pl.concat(
            frame.select("cardholder_no", place, second=at)
            for frame, at in ((added, before), (others, idle))
        )
        views = shown.with_columns(place=pl.lit(None, pl.UInt64), rank=pl.lit(-1, pl.Int64))
        impressions = (
            shown.with_columns(rank=pl.int_ranges(0, count.clip(upper_bound=offers.height)))
            .explode("rank")
            .with_columns(place=(place + pl.col("rank").cast(pl.UInt64)) % offers.height)
            .filter((second // DAY_SECONDS >= first) & (second // DAY_SECONDS < end))
        )
        event = pl.when(pl.col("place").is_null()).then(pl.lit("widget_view"))
        yield (
            pl.concat([views, impressions])
            .unique(["cardholder_no", "second", "place"], keep="first", maintain_order=True)
            .sort("cardholder_no", "second", "rank", maintain_order=True)
            .select(
                institution=pl.lit(links.bank.slug),
                cardholder_token=links.cardholders.token(pl.col("cardholder_no")),
                event=event.otherwise(pl.lit("offer_impression")),
                offer_id=looked_up(offers["offer_id"], place),
                occurred_at=moment_of(plan, second),
            )
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
        draw, size, groups = self.chance.draw, self.program.offers.height, self.program.by_merchant
        # more for the busier: cardholder x of n gets 2/n * (1 - x/n) of the links
        left = [1.0 - (pl.col("cardholder_no") + more) / self.cardholders.count for more in (0, 1)]
        begun, ended = (
            ((1.0 - part * part) * self.bank.links).floor().cast(pl.Int64) for part in left
        )
        wanted = cardholders.with_columns(wanted=(ended - begun).clip(upper_bound=size)).filter(
            pl.col("wanted") > 0
        )
        merchant = self.cardholders.favourite(pl.col("cardholder_no"), pl.col("slot"))
        is_added = chosen(draw("taken", "cardholder_no", "slot"), FAVOURITES_ADDED)
        offer = groups.pick(draw("offer", "cardholder_no", "slot"), pl.col("merchant_no"))
        favourites = (
            wanted.with_columns(slot=pl.int_ranges(0, pl.lit(FAVOURITES)))
            .explode("slot")
            .with_columns(merchant_no=merchant)
            .filter(is_added & (looked_up(groups.size, pl.col("merchant_no")) > 0))
            .select("cardholder_no", "wanted", place=offer)
        )
        # a walk through the program from a random start; the stride visits no offer twice
        stride = next(stride for stride in STRIDES if size % stride)
        start = below(draw("start", "cardholder_no"), size)
        others = (
            wanted.with_columns(pace=pl.int_ranges(0, "wanted", dtype=pl.UInt64))
            .explode("pace")
            .select("cardholder_no", "wanted", place=(start + pl.col("pace") * stride) % size)
        )
        return (
            pl.concat([favourites, others])
            .unique(["cardholder_no", "place"], keep="first", maintain_order=True)
            .filter(pl.int_range(pl.len()).over("cardholder_no") < pl.col("wanted"))
            .sort("cardholder_no", maintain_order=True)
            .select("cardholder_no", "place")
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
