"""Purchases: the rows of a transaction file, in the order they arrive, and the cardholders.

A row stands for an event, nearly always its own; a few repeat an earlier event, and of these a few
come with another amount. Everything else is a function of the event's number.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import (
    Chance,
    Weights,
    below,
    chosen,
    hexadecimal,
    looked_up,
    money,
    unit,
    whole,
)
from cardoffers_cli.sample.merchants import UNKNOWN_PURCHASES
from cardoffers_cli.sample.words import CATEGORIES

if TYPE_CHECKING:
    from cardoffers_cli.sample.merchants import Merchants, Strangers
    from cardoffers_cli.sample.plan import Bank, Plan

COLUMNS = (
    "cardholder_token card_token card_acceptor_id amount transaction_ref transacted_at"
).split()

REPEATS, CONFLICTS = 8, 1  # in a thousand
REPEATED_WITHIN = 4000
HOURS = (2, 1, 1, 1, 2, 6, 18, 42, 58, 50, 54, 66, 88, 80, 62, 60, 66, 82, 86, 70, 52, 34, 18, 7)
WEEKDAYS = (88, 90, 94, 100, 124, 138, 96)
USUAL_DELAY_HOURS, LATE_HOURS = 5, 80
LATE = 25  # in a thousand
PRICE_ENDINGS = (99, 50, 0, None)  # None: to the penny
PRICING = Weights((25, 12, 13, 50))


@dataclass(frozen=True)
class Purchases:
    """The purchases of one institution, made a stretch at a time."""

    chance: Chance
    plan: Plan
    bank: Bank
    cardholders: Cardholders
    strangers: Strangers | None = None

    def rows(self, first: int, count: int) -> pl.DataFrame:
        """Make so many rows from this one on: the columns of a transaction file, as text."""
        rows = pl.select(row_no=pl.int_range(first, first + count, dtype=pl.UInt64))
        row = pl.col("row_no")
        nonzero = row.clip(lower_bound=1)
        kind = below(self.chance.draw("kind", row), 1000)
        back = 1 + below(self.chance.draw("back", row), nonzero.clip(upper_bound=REPEATED_WITHIN))
        events = rows.select(
            event_no=pl.when(kind < REPEATS + CONFLICTS).then(nonzero - back).otherwise(row),
            is_conflict=(kind < CONFLICTS) & (row > 0),
        )
        return self.of_events(events)

    def of_events(self, events: pl.DataFrame) -> pl.DataFrame:
        """Make the rows of these events (`event_no`, `is_conflict`: it changes the amount)."""
        frame = (
            events.with_columns(
                cardholder_no=self.cardholders.shopper(self.chance.draw("cardholder", "event_no"))
            )
            .with_columns(stranger_no=self._stranger())
            .with_columns(
                merchant_no=self._merchant(),
                is_second=chosen(self.chance.draw("card", "event_no"), SECOND_CARDS),
                spread=self.chance.draw("amount", "event_no", "is_conflict"),
            )
            .with_columns(
                cardholder_token=self.cardholders.token(pl.col("cardholder_no")),
                card_token=self.cardholders.card(pl.col("cardholder_no"), pl.col("is_second")),
                card_acceptor_id=self._acceptor(),
                amount=self._amount(),
                transaction_ref=self._ref(),
                transacted_at=self._time(),
            )
        )
        if self.strangers is None:
            return frame.select(COLUMNS)
        bits = self.chance.draw("descriptor", "event_no")
        descriptor = self.strangers.descriptor(pl.col("stranger_no"), pl.col("merchant_no"), bits)
        return frame.select(*COLUMNS, merchant_descriptor=descriptor)

    def _stranger(self) -> pl.Expr:
        """Choose the unknown identifier, or merchant, of a purchase that has one."""
        merchants = self.cardholders.merchants
        is_unknown = chosen(self.chance.draw("unknown", "event_no"), UNKNOWN_PURCHASES)
        bits = self.chance.draw("stranger", "event_no")
        count = merchants.table.height - merchants.known
        stranger = self.strangers.popularity.pick(bits) if self.strangers else below(bits, count)
        return pl.when(is_unknown).then(stranger)

    def _merchant(self) -> pl.Expr:
        merchants = self.cardholders.merchants
        stranger = pl.col("stranger_no")
        merchant = self.cardholders.goes_to(pl.col("cardholder_no"), pl.col("event_no"))
        if self.strangers:
            return self.strangers.merchant(stranger, merchant)
        return pl.coalesce(merchants.known + stranger, merchant)

    def _acceptor(self) -> pl.Expr:
        merchants = self.cardholders.merchants
        bits = self.chance.draw("outlet", "event_no")
        outlet = merchants.outlets.pick(bits, pl.col("merchant_no"))
        code = looked_up(merchants.acceptors["card_acceptor_id"], outlet)
        return self.strangers.acceptor(pl.col("stranger_no"), code) if self.strangers else code

    def _amount(self) -> pl.Expr:
        """Spread the category's usual amount: a product of four even factors is near log-normal.

        It is rounded as shops price: many prices end in 99, some in 50 or 00.
        """
        category = looked_up(self.cardholders.merchants.table["category_no"], pl.col("merchant_no"))
        level = self.bank.market.price_level
        usual = [kind.typical_cents * level // 100 for kind in CATEGORIES]
        cents = looked_up(usual, category).cast(pl.UInt64)
        for shift in (0, 16, 32, 48):
            factor = (pl.col("spread") // whole(1 << shift)) % whole(1 << 16)
            cents = cents * (18_000 + factor * 5 // 3) // (1 << 16)
        cents = cents + 1
        ending = looked_up(
            pl.Series(PRICE_ENDINGS), PRICING.pick(self.chance.draw("price", "event_no"))
        )
        rounded = cents // 100 * 100 + ending
        return money(pl.when(rounded > 0).then(rounded).otherwise(cents))

    def _ref(self) -> pl.Expr:
        """Write the reference: a keyed permutation of the event's number, so all differ."""
        prefix = self.bank.slug[:3].upper() + f"{self.bank.number + 1}-"
        return prefix + hexadecimal(self.chance.draw("ref", "event_no"))

    def _time(self) -> pl.Expr:
        """Place the event in the period: in order but for the hours or days it took to arrive.

        Each hour of the period weighs by the day of the week and the time of day.
        """
        days = [self.plan.first_day + timedelta(days=day) for day in range(self.plan.days)]
        calendar = Weights([WEEKDAYS[day.weekday()] * weight for day in days for weight in HOURS])
        begun = [f"{day}T{hour:02}:" for day in days for hour in range(24)]
        is_late = chosen(self.chance.draw("late", "event_no"), LATE)
        hours = pl.when(is_late).then(LATE_HOURS).otherwise(USUAL_DELAY_HOURS)
        longest = hours * self.bank.rows // (24 * self.plan.days) + 1
        delay = below(self.chance.draw("delay", "event_no"), longest)
        event = pl.col("event_no") % self.bank.rows
        place = pl.when(delay > event).then(delay - event).otherwise(event - delay)
        slot = calendar.at((place % self.bank.rows) * calendar.total // self.bank.rows)
        second = below(self.chance.draw("second", "event_no"), 3600)
        return looked_up(begun, slot) + looked_up(_SECONDS, second)


_SECONDS = pl.Series([f"{second // 60:02}:{second % 60:02}Z" for second in range(3600)])


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
        return self.merchants.popularity.pick(self.chance.draw("favourite", cardholder_no, slot))

    def goes_to(self, cardholder_no: pl.Expr, event_no: pl.Expr) -> pl.Expr:
        """Choose the known merchant of a purchase: mostly a favourite, the first ones the most."""
        draw = self.chance.draw
        slot = below(draw("slot", event_no), below(draw("narrow", event_no), FAVOURITES) + 1)
        return (
            pl.when(chosen(draw("loyal", event_no), LOYAL_PURCHASES))
            .then(self.favourite(cardholder_no, slot))
            .otherwise(self.merchants.popularity.pick(draw("elsewhere", event_no)))
        )

    def token(self, cardholder_no: pl.Expr) -> pl.Expr:
        """Write the cardholder token, 64 hexadecimal digits as of an HMAC-SHA256."""
        draw = self.chance.draw
        return hexadecimal(*(draw(f"cardholder {part}", cardholder_no) for part in range(4)))

    def card(self, cardholder_no: pl.Expr, second: pl.Expr) -> pl.Expr:
        """Write the token of a cardholder's first card, or of the second (a true `second`)."""
        parts = (self.chance.draw(f"card {part}", cardholder_no, second) for part in range(2))
        return "ct_" + hexadecimal(*parts)
