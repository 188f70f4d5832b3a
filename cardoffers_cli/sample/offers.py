"""Offers: which merchants have some, their terms, their titles, and the programs they stand in."""

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
from cardoffers_cli.sample.words import CATEGORIES, DESCRIPTIONS, SEGMENTS, TITLES, Market

if TYPE_CHECKING:
    from cardoffers_cli.sample.merchants import Merchants
    from cardoffers_cli.sample.plan import Plan

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
