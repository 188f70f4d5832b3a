"""Unknown merchants whose truth is known: identifiers that the catalogue leaves out, of four kinds.

`terminal`: a new one of a known merchant, half of them with its leading digits. `renamed`: a known
merchant that is called otherwise. `aggregator`: a payment facilitator's, with the name of another
merchant in each purchase. `new`: of a merchant that the catalogue lacks. With them purchases say
what the merchant is called, as card networks do: in capitals, cut, with a number or a day behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import Chance, Weights, below, chosen, looked_up, padded
from cardoffers_cli.sample.merchants import name_of

if TYPE_CHECKING:
    from cardoffers_cli.sample.merchants import Merchants
    from cardoffers_cli.sample.words import Market

TRUTH = "merchant_identifier_type merchant_identifier kind merchant_id".split()
KINDS = ("terminal", "renamed", "aggregator", "new")
SHARES = Weights((11, 2, 2, 5))
VISITS = (1, 1, 6, 1)
"""How often an identifier of each kind is bought at."""
STRIDE = 7  # shares no factor with their sum, so that kinds are mixed
MOST = 9000
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

    def merchant(self, stranger: pl.Expr, otherwise: pl.Expr) -> pl.Expr:
        """Return whose an unknown identifier is; an aggregator's is `otherwise`, each time."""
        return pl.coalesce(looked_up(self.table["merchant_no"], stranger), otherwise)

    def acceptor(self, stranger: pl.Expr, otherwise: pl.Expr) -> pl.Expr:
        """Return an unknown identifier, `otherwise` where there is none."""
        return pl.coalesce(looked_up(self.table["merchant_identifier"], stranger), otherwise)

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
        known = merchants.catalogue.select("merchant_no", "merchant_id")
        is_known = pl.col("kind").is_in(KINDS[:2])
        return self.table.join(known, on="merchant_no", how="left", maintain_order="left").select(
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
