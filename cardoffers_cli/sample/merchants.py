"""Merchants: a few that everybody visits and a long tail, each with its card-acceptor ids.

A merchant is known here by its rank (`merchant_no`, 0 the most visited). After the known ranks come
those that the catalogue leaves out, so that some purchases resolve to nobody.

Unknown merchants whose truth is known have identifiers of four kinds. `terminal`: a new one of a
known merchant, half of them with its leading digits. `renamed`: a known merchant that is called
otherwise. `aggregator`: a payment facilitator's, with the name of another merchant in each
purchase. `new`: of a merchant that the catalogue lacks. With them purchases say what the merchant
is called, as card networks do: in capitals, cut, with a number or a day behind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from cardoffers_cli.sample.chance import Chance, hexadecimal, looked_up, repeated, uuid
from cardoffers_cli.sample.plan import CATEGORIES, COLUMNS, WORDS, Market

TRUTH = COLUMNS["truth"]
KINDS = tuple(WORDS["unknown_kinds"])
STRANGERS_MOST = 9000
"""Identifiers of a sample: a merchant has so many numbers left for its terminals."""


@dataclass(frozen=True)
class Merchants:
    """The merchants of one market.

    `table`: one row per merchant, the unknown ones last (`merchant_no`, `category_no`, `weight`,
    `outlets`, `digits`: how its acceptor ids begin, `called`: by card networks, `pix_key`, and for
    the catalogue `merchant_id`, `name`, `category`). `strangers`: one row per unknown merchant, or
    per identifier of those asked for (`merchant_no`, whose name and prices it has, `visits`,
    `merchant_identifier`, if it is not one of the merchant's, `kind`, `called`); an aggregator has
    a `prefix` in place of merchant and name.
    """

    known: int
    table: pl.DataFrame
    strangers: pl.DataFrame

    @property
    def catalogue(self) -> pl.DataFrame:
        """The merchants the service knows."""
        return self.table.head(self.known)

    @property
    def popularity(self) -> pl.Series:
        """The running sums of the weights of the merchants the service knows."""
        return self.catalogue["weight"].cum_sum()

    @property
    def has_truth(self) -> bool:
        """Whether it is known whose the unknown identifiers are."""
        return "kind" in self.strangers.columns

    def truth(self) -> pl.DataFrame:
        """Return whose each identifier is: of aggregators and new merchants, nobody's."""
        known = pl.when(pl.col("kind").is_in(KINDS[:2]))
        merchant_id = known.then(looked_up(self.table["merchant_id"], "merchant_no"))
        return self.strangers.with_columns(
            merchant_identifier_type=pl.lit("card_acceptor"), merchant_id=merchant_id
        ).select(TRUTH)


def make_merchants(
    chance: Chance, market: Market, purchases: int, share: float, strangers: int = 0
) -> Merchants:
    """Make the merchants of a market that will see so many purchases.

    `share` is the market's part of the whole sample, which bounds its number of merchants; rows
    for so many `strangers` come last.
    """
    count = int(min(max(28, purchases // 200), 18_000 * share + 28))
    draw, number = chance.by("merchant_no"), pl.col("merchant_no")
    by_share = CATEGORIES.select(pl.int_range(pl.len()).repeat_by("share")).to_series().explode()
    outlets = draw.between("outlets", 1, 6)
    # an id is 4 digits of the acquirer, 7 of the merchant (the step keeps the last one within
    # these), 4 of the outlet
    serial = 1_000_003 + number * 397 + draw.below("serial", 397)
    pix_key = hexadecimal(draw.draw("pix")) if market.currency == "BRL" else pl.lit(None, pl.String)
    table = (
        pl.select(merchant_no=pl.int_range(count + count // 4 + 3 + strangers))
        .with_columns(
            category_no=draw.one_of("category", by_share),
            # by 1 / rank (Zipf's law), a little flatter at the top
            weight=(1 << 24) // (number + 4),
            outlets=pl.when(draw.chosen("single", 400)).then(1).otherwise(outlets),
            digits=draw.one_of("acquirer", market.acquirers) + serial.cast(pl.String).str.zfill(7),
            merchant_id=uuid("merchant", draw),
            pix_key=pix_key,
        )
        .with_columns(category=looked_up(CATEGORIES["name"], "category_no"), name=name_of(market))
        .with_columns(called=_called(pl.col("name")))
    )
    unknown = table[count:].select(
        "merchant_no", visits=1, merchant_identifier=pl.lit(None, pl.String)
    )
    made = Merchants(count, table, unknown)
    return (
        replace(made, strangers=_strangers(chance, market, made, strangers)) if strangers else made
    )


def name_of(market: Market, turn: int = 0) -> pl.Expr:
    """Name a merchant; the rank's digits in a mixed base choose the parts, so names differ.

    With a `turn` of 1 or 2 it is called by another noun of its category.
    """
    nouns = CATEGORIES["nouns"].struct.field(market.languages[0]).explode()
    starts = market.beginnings.split()
    stems = [start + end for end in market.endings.split() for start in starts]
    lap, place_in_lap = pl.col("merchant_no") // len(stems), pl.col("merchant_no") % len(stems)
    # by a prime, so that neighbours in rank are not neighbours in name
    stem = looked_up(stems, (place_in_lap * 211) % len(stems))
    noun = looked_up(nouns, pl.col("category_no") * 3 + (place_in_lap + lap + turn) % 3)
    place = looked_up(market.places, (lap // 3) % len(market.places))
    words = [noun, stem, place] if market.noun_first else [stem, noun, place]
    return pl.concat_str(words, separator=" ").str.strip_chars_end()


def _called(name: pl.Expr) -> pl.Expr:
    # cut as field 43 of ISO 8583 is
    return name.str.to_uppercase().str.slice(0, 25).str.strip_chars_end()


def identifiers(merchants: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `merchant_identifiers`; Brazilian merchants also have a Pix key."""
    outlet = pl.col("outlet").cast(pl.String).str.zfill(4)
    cards = merchants.with_columns(outlet=pl.int_ranges(1, pl.col("outlets") + 1)).explode("outlet")
    return pl.concat(
        frame.select("merchant_id", merchant_identifier_type=pl.lit(kind), merchant_identifier=text)
        for frame, kind, text in (
            (cards, "card_acceptor", pl.col("digits") + outlet),
            (merchants.drop_nulls("pix_key"), "pix_key", pl.col("pix_key")),
        )
    )


def _strangers(chance: Chance, market: Market, merchants: Merchants, count: int) -> pl.DataFrame:
    """Make so many unknown identifiers; the last rows of the merchants' table are the new ones."""
    draw, table = chance.within("strangers").by("stranger_no"), merchants.table
    number, known = pl.col("stranger_no"), pl.col("known_no")
    kinds, new = repeated(WORDS["unknown_kinds"]), table.height - count + number
    was = looked_up(table["name"], known)
    spellings = [  # another noun, no blanks, no vowels, a letter less, another name
        looked_up(table.select(name_of(market, turn=1)).to_series(), known),
        was.str.replace_all(" ", ""),
        was.str.replace_all(r"\B[aeiouáéíóúãõâêô]", ""),
        was.str.slice(0, 2) + was.str.slice(3),
        looked_up(table["name"], new),
    ]
    renamed = pl.concat_list(spellings).list.get(draw.below("spelling", len(spellings)))
    # the number of a terminal is its merchant's, or one that no merchant's begins like
    is_near = (pl.col("kind") == "terminal") & draw.chosen("near", 500)
    near = looked_up(table["digits"], known) + (number + 1000).cast(pl.String)
    far = draw.one_of("acquirer", market.acquirers) + number.cast(pl.String).str.zfill(7) + "0001"
    is_aggregator = pl.col("kind") == "aggregator"
    return (
        pl.select(stranger_no=pl.int_range(count))
        .with_columns(
            kind=looked_up(kinds, number * 7 % len(kinds)),
            known_no=draw.weighted("merchant", merchants.popularity),
        )
        .with_columns(
            merchant_no=pl.when(kind="new").then(new).when(~is_aggregator).then(known),
            visits=pl.when(is_aggregator).then(6).otherwise(1),
            merchant_identifier=pl.when(is_near).then(near).otherwise(far),
            prefix=pl.when(is_aggregator).then(draw.one_of("prefix", WORDS["prefixes"])),
        )
        .with_columns(
            called=pl.when(kind="renamed")
            .then(_called(renamed))
            .otherwise(looked_up(table["called"], "merchant_no"))
        )
    )
