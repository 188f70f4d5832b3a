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
from cardoffers_cli.sample.plan import CATEGORIES, Market

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

    def pick(self, bits: pl.Expr, number: pl.Expr) -> pl.Expr:
        """Choose a row of this number's group by 64 random bits."""
        return looked_up(self.first, number) + below(bits, looked_up(self.size, number))


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
    count = int(min(max(FEWEST, purchases // PURCHASES_PER_MERCHANT), MOST * share + FEWEST))
    unknown = count // 4 + 3 + strangers
    table = _table(chance, market, count + unknown)
    # An id is 4 digits of the acquirer, 7 of the merchant, 4 of the outlet.
    number = pl.col("merchant_no")
    acquirer = below(chance.draw("acquirer", number), len(market.acquirers))
    step = below(chance.draw("serial", number), SERIAL_STEP)
    serial = padded(1_000_003 + number * SERIAL_STEP + step, 7)
    acceptor = looked_up(market.acquirers, acquirer) + serial + padded(pl.col("outlet"), 4)
    return Merchants(
        known=count,
        table=table,
        acceptors=table.select("merchant_no", outlet=pl.int_ranges(1, pl.col("outlets") + 1))
        .explode("outlet")
        .select("merchant_no", card_acceptor_id=acceptor),
        outlets=Groups.of(table["outlets"]),
        popularity=Weights([_weight(rank) for rank in range(count)]),
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


def identifiers(chance: Chance, market: Market, merchants: Merchants) -> pl.DataFrame:
    """Return the rows of `merchant_identifiers`; Brazilian merchants also have a Pix key."""
    merchant_ids = merchants.catalogue.select("merchant_no", "merchant_id")
    acceptors = merchants.acceptors.join(merchant_ids, on="merchant_no", maintain_order="left")
    cards = acceptors.select(
        "merchant_id",
        merchant_identifier_type=pl.lit("card_acceptor"),
        merchant_identifier="card_acceptor_id",
    )
    if market.currency != "BRL":
        return cards
    keys = merchant_ids.select(
        "merchant_id",
        merchant_identifier_type=pl.lit("pix_key"),
        merchant_identifier=hexadecimal(chance.draw("pix", "merchant_no")),
    )
    return pl.concat([cards, keys])


# Unknown merchants whose truth is known: identifiers that the catalogue leaves out, of four kinds.
#
# `terminal`: a new one of a known merchant, half of them with its leading digits. `renamed`: a
# known merchant that is called otherwise. `aggregator`: a payment facilitator's, with the name of
# another merchant in each purchase. `new`: of a merchant that the catalogue lacks. With them
# purchases say what the merchant is called, as card networks do: in capitals, cut, with a number or
# a day behind.


TRUTH = "merchant_identifier_type merchant_identifier kind merchant_id".split()
KINDS = ("terminal", "renamed", "aggregator", "new")
SHARES = Weights((11, 2, 2, 5))
VISITS = (1, 1, 6, 1)
"""How often an identifier of each kind is bought at."""
STRIDE = 7  # shares no factor with their sum, so that kinds are mixed
STRANGERS_MOST = 9000
"""Identifiers of a sample: a merchant has so many numbers left for its terminals."""
NAME_LENGTH = 25  # ISO 8583, field 43
PREFIXES = ("SQ *", "PAYPAL *", "SUMUP *", "DLO*")
SPELLINGS = 5
"""The ways of being renamed: another noun, no blanks, no vowels, a letter less, another name."""


@dataclass(frozen=True)
class Strangers:
    """The unknown merchants of one market.

    `table`: one row per identifier (`stranger_no`, `merchant_identifier`, `kind`, `merchant_no`,
    whose name and prices it has, `called`); an aggregator has a `prefix` in place of the last two.
    """

    table: pl.DataFrame
    names: pl.Series
    popularity: Weights

    def descriptor(self, stranger: pl.Expr, merchant: pl.Expr, bits: pl.Expr) -> pl.Expr:
        """Return what a purchase calls its merchant; in half of them something stands behind."""
        prefix = looked_up(self.table["prefix"], stranger).fill_null("")
        called = pl.coalesce(
            looked_up(self.table["called"], stranger), prefix + looked_up(self.names, merchant)
        )
        moment = pl.col("transacted_at").str
        form = below(bits, 4)
        behind = (
            pl.when(form == 0)
            .then(" #" + pl.col("card_acceptor_id").str.slice(-4))
            .when(form == 1)
            .then(" " + moment.slice(8, 2) + "/" + moment.slice(5, 2))
            .otherwise(pl.lit(""))
        )
        return called + behind

    def truth(self, merchants: Merchants) -> pl.DataFrame:
        """Return whose each identifier is: of aggregators and new merchants, nobody's."""
        pairs = merchants.catalogue.select("merchant_no", "merchant_id")
        is_known = pl.col("kind").is_in(KINDS[:2])
        return self.table.join(pairs, on="merchant_no", how="left", maintain_order="left").select(
            pl.lit("card_acceptor").alias(TRUTH[0]),
            "merchant_identifier",
            "kind",
            pl.when(is_known).then("merchant_id").alias("merchant_id"),
        )


def make_strangers(chance: Chance, market: Market, merchants: Merchants, count: int) -> Strangers:
    """Make so many unknown identifiers; the last rows of the merchants' table are the new ones."""
    own = chance.within("strangers")
    number = pl.col("stranger_no")
    kind_no = SHARES.at(number * STRIDE % SHARES.total)
    first_new = merchants.table.height - count
    table = (
        pl.select(stranger_no=pl.int_range(count, dtype=pl.UInt64))
        .with_columns(
            kind=looked_up(KINDS, kind_no),
            known_no=merchants.popularity.pick(own.draw("merchant", number)).cast(pl.UInt64),
            new_no=first_new + number,
        )
        .with_columns(
            merchant_no=pl.when(kind="new")
            .then("new_no")
            .when(pl.col("kind") != "aggregator")
            .then("known_no")
        )
    )
    called = pl.when(kind="renamed").then(_told(_renamed(own, market, merchants)))
    names = merchants.table.select(_told(pl.col("name"))).to_series()
    prefix = looked_up(PREFIXES, below(own.draw("prefix", "stranger_no"), len(PREFIXES)))
    return Strangers(
        table=table.select(
            "stranger_no",
            "kind",
            "merchant_no",
            merchant_identifier=_identifier(own, market, merchants),
            called=pl.coalesce(called, looked_up(names, pl.col("merchant_no"))),
            prefix=pl.when(kind="aggregator").then(prefix),
        ),
        names=names,
        popularity=Weights([VISITS[KINDS.index(kind)] for kind in table["kind"]]),
    )


def _renamed(own: Chance, market: Market, merchants: Merchants) -> pl.Expr:
    """Say what a known merchant is called now."""
    names = merchants.table["name"]
    others = merchants.table.select(name_of(market, turn=1)).to_series()
    was = looked_up(names, pl.col("known_no"))
    spellings = (
        looked_up(others, pl.col("known_no")),
        was.str.replace_all(" ", ""),
        was.str.replace_all(r"\B[aeiouáéíóúãõâêô]", ""),
        was.str.slice(0, 2) + was.str.slice(3),
        looked_up(names, pl.col("new_no")),
    )
    form = below(own.draw("spelling", "stranger_no"), SPELLINGS)
    return pl.coalesce(
        pl.when(form == number).then(spelled) for number, spelled in enumerate(spellings)
    )


def _told(name: pl.Expr) -> pl.Expr:
    return name.str.to_uppercase().str.slice(0, NAME_LENGTH).str.strip_chars_end()


def _identifier(own: Chance, market: Market, merchants: Merchants) -> pl.Expr:
    """Write the number of a terminal as its merchant's, or one that no merchant's begins like."""
    number = pl.col("stranger_no")
    of_merchant = looked_up(
        merchants.acceptors["card_acceptor_id"],
        looked_up(merchants.outlets.first, pl.col("known_no")),
    ).str.slice(0, 11)
    place = below(own.draw("acquirer", number), len(market.acquirers))
    acquirer = looked_up(market.acquirers, place)
    is_near = (pl.col("kind") == "terminal") & chosen(own.draw("near", number), 500)
    return (
        pl.when(is_near)
        .then(of_merchant + padded(number + 1000, 4))
        .otherwise(acquirer + padded(number, 7) + "0001")
    )
