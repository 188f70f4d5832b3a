"""Merchants: a few that everybody visits and a long tail, each with its card-acceptor ids.

A merchant is known here by its rank (`merchant_no`, 0 the most visited). After the known ranks come
those that the catalogue leaves out, so that some purchases resolve to nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from cardoffers_cli.sample.chance import (
    Chance,
    Weights,
    below,
    chosen,
    hexadecimal,
    looked_up,
    padded,
    uuid,
)
from cardoffers_cli.sample.words import CATEGORIES, Market

FEWEST, MOST = 28, 18_000
PURCHASES_PER_MERCHANT = 200
UNKNOWN_PURCHASES = 80  # in a thousand
MOST_OUTLETS = 6
STEM_STRIDE = 211  # a prime, so that neighbours in rank are not neighbours in name
SERIAL_STEP = 397  # keeps the serial of the last merchant within 7 digits
ZIPF_SCALE, ZIPF_OFFSET = 1 << 24, 4


@dataclass(frozen=True)
class Groups:
    """Which rows of a table belong to each number: the first one and how many."""

    first: pl.Series
    size: pl.Series

    @classmethod
    def of(cls, sizes: pl.Series) -> Groups:
        """Lay groups of these sizes one after the other."""
        sizes = sizes.cast(pl.UInt64)
        return cls(sizes.cum_sum() - sizes, sizes)

    def size_of(self, number: pl.Expr) -> pl.Expr:
        """Return how many rows belong to this number."""
        return looked_up(self.size, number)

    def pick(self, bits: pl.Expr, number: pl.Expr) -> pl.Expr:
        """Choose a row of this number's group by 64 random bits."""
        return looked_up(self.first, number) + below(bits, self.size_of(number))


@dataclass(frozen=True)
class Merchants:
    """The merchants of one market.

    `table`: one row per merchant (`merchant_no`, `category_no`, `outlets`, and for the catalogue
    `merchant_id`, `name`, `category`), the unknown ones last. `acceptors`: one row per outlet
    (`merchant_no`, `card_acceptor_id`), in the order of `outlets`. `popularity` is of known ones.
    """

    known: int
    table: pl.DataFrame
    acceptors: pl.DataFrame
    outlets: Groups
    popularity: Weights

    @property
    def catalogue(self) -> pl.DataFrame:
        """The merchants the service knows."""
        return self.table.head(self.known)

    def expected_visits(self, merchant_no: pl.Expr, purchases: int) -> pl.Expr:
        """Return how many of so many purchases are made at this merchant, on average."""
        weights = pl.Series([_weight(rank) for rank in range(self.known)], dtype=pl.UInt64)
        return looked_up(weights, merchant_no) * purchases // self.popularity.total


def _weight(rank: int) -> int:
    """Weigh by 1 / rank (Zipf's law), a little flatter at the top."""
    return ZIPF_SCALE // (rank + ZIPF_OFFSET)


def make_merchants(
    chance: Chance, market: Market, purchases: int, share: float, strangers: int = 0
) -> Merchants:
    """Make the merchants of a market that will see so many purchases.

    `share` is the market's part of the whole sample, which bounds its number of merchants; rows
    for so many `strangers` come last.
    """
    known = int(min(max(FEWEST, purchases // PURCHASES_PER_MERCHANT), MOST * share + FEWEST))
    unknown = known // 4 + 3 + strangers
    table = _table(chance, market, known + unknown)
    return Merchants(
        known=known,
        table=table,
        acceptors=_acceptors(chance, market, table),
        outlets=Groups.of(table["outlets"]),
        popularity=Weights([_weight(rank) for rank in range(known)]),
    )


def _table(chance: Chance, market: Market, count: int) -> pl.DataFrame:
    categories = Weights([category.share for category in CATEGORIES])
    number = pl.col("merchant_no")
    outlets = 1 + below(chance.draw("outlets", number), MOST_OUTLETS)
    return (
        pl.select(merchant_no=pl.int_range(count, dtype=pl.UInt64))
        .with_columns(
            category_no=categories.pick(chance.draw("category", number)).cast(pl.UInt64),
            outlets=pl.when(chosen(chance.draw("single", number), 400)).then(1).otherwise(outlets),
            merchant_id=uuid("merchant", chance, "merchant_no"),
        )
        .with_columns(
            category=looked_up([category.name for category in CATEGORIES], pl.col("category_no")),
            name=name_of(market),
        )
    )


def name_of(market: Market, turn: int = 0) -> pl.Expr:
    """Name a merchant; the rank's digits in a mixed base choose the parts, so names differ.

    With a `turn` of 1 or 2 it is called by another noun of its category.
    """
    nouns = [noun for category in CATEGORIES for noun in category.nouns[market.languages[0]]]
    stems = market.stems
    rank = pl.col("merchant_no")
    lap, place_in_lap = rank // len(stems), rank % len(stems)
    stem = looked_up(stems, (place_in_lap * STEM_STRIDE) % len(stems))
    noun = looked_up(nouns, pl.col("category_no") * 3 + (place_in_lap + lap + turn) % 3)
    place = looked_up(market.places, (lap // 3) % len(market.places))
    words = [noun, stem, place] if market.noun_first else [stem, noun, place]
    return pl.concat_str(words, separator=" ").str.strip_chars_end()


def _acceptors(chance: Chance, market: Market, table: pl.DataFrame) -> pl.DataFrame:
    """Give each outlet its id: 4 digits of the acquirer, 7 of the merchant, 4 of the outlet."""
    number = pl.col("merchant_no")
    acquirer = below(chance.draw("acquirer", number), len(market.acquirers))
    step = below(chance.draw("serial", number), SERIAL_STEP)
    serial = padded(1_000_003 + number * SERIAL_STEP + step, 7)
    acceptor = looked_up(market.acquirers, acquirer) + serial + padded(pl.col("outlet"), 4)
    return (
        table.select("merchant_no", outlet=pl.int_ranges(1, pl.col("outlets") + 1))
        .explode("outlet")
        .select("merchant_no", card_acceptor_id=acceptor)
    )


def identifiers(chance: Chance, market: Market, merchants: Merchants) -> pl.DataFrame:
    """Return the rows of `merchant_identifiers`; Brazilian merchants also have a Pix key."""
    known = merchants.catalogue.select("merchant_no", "merchant_id")
    acceptors = merchants.acceptors.join(known, on="merchant_no", maintain_order="left")
    cards = acceptors.select(
        "merchant_id",
        merchant_identifier_type=pl.lit("card_acceptor"),
        merchant_identifier="card_acceptor_id",
    )
    if market.currency != "BRL":
        return cards
    keys = known.select(
        "merchant_id",
        merchant_identifier_type=pl.lit("pix_key"),
        merchant_identifier=hexadecimal(chance.draw("pix", "merchant_no")),
    )
    return pl.concat([cards, keys])
