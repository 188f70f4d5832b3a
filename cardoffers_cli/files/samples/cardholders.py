"""Cardholders of one institution: their tokens, how often they shop, and where they like to go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.files.samples.chance import Chance, below, chosen, hexadecimal, unit

if TYPE_CHECKING:
    from cardoffers_cli.files.samples.merchants import Merchants

FAVOURITES = 12
LOYAL_PURCHASES = 750  # in a thousand
SECOND_CARDS = 200


@dataclass(frozen=True)
class Cardholders:
    """So many customers, numbered from 0 (`cardholder_no`), the busiest first."""

    chance: Chance
    count: int
    merchants: Merchants

    def shopper(self, bits: pl.Expr) -> pl.Expr:
        """Choose who makes a purchase.

        Of all purchases, cardholder x of n makes 8/n * (1 - x/n)^7: the busiest eight times the
        mean, most a handful. The inverse of its sum takes three square roots, which, unlike other
        roots, are exact everywhere.
        """
        eighth_root = (1.0 - unit(bits)).sqrt().sqrt().sqrt()
        number = ((1.0 - eighth_root) * self.count).floor().cast(pl.UInt64)
        return number.clip(upper_bound=self.count - 1)

    def favourite(self, cardholder_no: pl.Expr, slot: pl.Expr) -> pl.Expr:
        """Return the merchant in one of a cardholder's favourite slots."""
        return self.merchants.visited(self.chance.draw("favourite", cardholder_no, slot))

    def goes_to(self, cardholder_no: pl.Expr, event_no: pl.Expr) -> pl.Expr:
        """Choose the known merchant of a purchase: mostly a favourite, the first ones the most."""
        draw = self.chance.draw
        slot = below(draw("slot", event_no), below(draw("narrow", event_no), FAVOURITES) + 1)
        return (
            pl.when(chosen(draw("loyal", event_no), LOYAL_PURCHASES))
            .then(self.favourite(cardholder_no, slot))
            .otherwise(self.merchants.visited(draw("elsewhere", event_no)))
        )

    def token(self, cardholder_no: pl.Expr) -> pl.Expr:
        """Write the cardholder token, 64 hexadecimal digits as of an HMAC-SHA256."""
        parts = (self.chance.draw(f"cardholder {part}", cardholder_no) for part in range(4))
        return hexadecimal(*parts)

    def card(self, cardholder_no: pl.Expr, second: pl.Expr) -> pl.Expr:
        """Write the token of a cardholder's first card, or of the second (a true `second`)."""
        parts = (self.chance.draw(f"card {part}", cardholder_no, second) for part in range(2))
        return "ct_" + hexadecimal(*parts)

    def second_card(self, bits: pl.Expr) -> pl.Expr:
        """Choose which card pays."""
        return chosen(bits, SECOND_CARDS)
