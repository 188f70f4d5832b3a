"""Purchases: the rows of a transaction file, in the order they arrive, refunds of them, and faults.

A row stands for an event, nearly always its own; a few repeat an earlier event, and of these a few
come with another amount. Everything else is a function of the event's number.

Most refunds name the purchase that they are of; the others have to be looked for. A part of what
was bought comes back nearly as often as all of it. Each is of a purchase of its own, and lies
within the period of the sample.

The file of faults has one faulty row of every kind among good ones: a field is changed, or the line
that it is written as. The card number is the well-known test number and the e-mail address stands
at a domain reserved for examples.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import hexadecimal, looked_up, money, numbered, repeated, unit
from cardoffers_cli.sample.plan import CATEGORIES, COLUMNS, WORDS

if TYPE_CHECKING:
    from cardoffers_cli.sample.chance import Chance
    from cardoffers_cli.sample.merchants import Merchants
    from cardoffers_cli.sample.plan import Bank, Plan


REPEATED, CONFLICTING = 9, 1  # in a thousand, these among those
FAVOURITES = 12
PRICE_ENDINGS = pl.Series([99] * 25 + [50] * 12 + [0] * 13 + [None] * 50)  # None: to the penny


@dataclass(frozen=True)
class Cardholders:
    """The customers of one institution (`cardholder_no`, the busiest first), and what they buy."""

    chance: Chance
    plan: Plan
    bank: Bank
    merchants: Merchants

    @property
    def count(self) -> int:
        """How many customers have a card."""
        return max(4, self.bank.rows // 18)

    def purchases(self, first: int, count: int) -> pl.DataFrame:
        """Make so many rows from this one on: the columns of a transaction file, as text."""
        row, draw = pl.col("row_no"), self.chance.by("row_no")
        kind = draw.below("kind", 1000)
        back = 1 + draw.below("back", row.clip(1, 4000))
        is_again = (kind < REPEATED) & (row > 0)
        events = pl.select(row_no=pl.int_range(first, first + count)).select(
            event_no=pl.when(is_again).then(row - back).otherwise(row),
            is_conflict=is_again & (kind < CONFLICTING),
        )
        return self.rows_of(events)

    def rows_of(self, events: pl.DataFrame) -> pl.DataFrame:
        """Make the columns of a transaction file for these events.

        With unknown identifiers they say what a merchant is called, half of them with more behind.
        """
        rows, strangers = self.of_events(events), self.merchants.strangers
        if not self.merchants.has_truth:
            return rows.select(COLUMNS["transactions"])
        prefix, called = (
            looked_up(strangers[name], "stranger_no") for name in ("prefix", "called")
        )
        usual = looked_up(self.merchants.table["called"], "merchant_no")
        form = self.chance.by("event_no").below("descriptor", 4)
        day = pl.format(" {}/{}", *(pl.col("transacted_at").str.slice(at, 2) for at in (8, 5)))
        terminal = " #" + pl.col("card_acceptor_id").str.slice(-4)
        behind = pl.when(form == 0).then(terminal).when(form == 1).then(day).otherwise(pl.lit(""))
        descriptor = pl.coalesce(called, prefix.fill_null("") + usual) + behind
        return rows.select(*COLUMNS["transactions"], merchant_descriptor=descriptor)

    def of_events(self, events: pl.DataFrame) -> pl.DataFrame:
        """Make the rows of these events (`event_no`, `is_conflict`: it changes the amount)."""
        draw, merchants = self.chance.by("event_no"), self.merchants
        strangers, table = merchants.strangers, merchants.table
        known = (
            pl.when(draw.chosen("loyal", 750))
            .then(self.favourite())
            .otherwise(draw.weighted("elsewhere", merchants.popularity))
        )
        stranger = draw.weighted("stranger", strangers["visits"].cum_sum())
        outlet = 1 + draw.below("outlet", looked_up(table["outlets"], "merchant_no"))
        acceptor = looked_up(table["digits"], "merchant_no") + outlet.cast(pl.String).str.zfill(4)
        prefix = f"{self.bank.slug[:3].upper()}{self.bank.number + 1}-"
        return (
            events.with_columns(
                second=self._second(),
                cardholder_no=self._shopper(),
                slot=draw.below("slot", draw.below("narrow", FAVOURITES) + 1),
                stranger_no=pl.when(draw.chosen("unknown", 80)).then(stranger),
                is_second=draw.chosen("card", 200),
                spread=self.chance.by("event_no", "is_conflict").draw("amount"),
            )
            .with_columns(
                merchant_no=pl.coalesce(looked_up(strangers["merchant_no"], "stranger_no"), known)
            )
            .with_columns(
                cardholder_token=self.token(),
                card_token=self.card(pl.col("is_second")),
                card_acceptor_id=pl.coalesce(
                    looked_up(strangers["merchant_identifier"], "stranger_no"), acceptor
                ),
                amount=self._amount(),
                transaction_ref=prefix + hexadecimal(draw.draw("ref")),  # keyed: all differ
                transacted_at=self.plan.moment(pl.col("second")),
            )
        )

    def _amount(self) -> pl.Expr:
        """Spread the category's usual amount: a product of four even factors is near log-normal.

        It is rounded as shops price: many prices end in 99, some in 50 or 00.
        """
        category = looked_up(self.merchants.table["category_no"], "merchant_no")
        usual = CATEGORIES["typical_cents"] * self.bank.market.price_level // 100
        cents = looked_up(usual, category)
        for shift in (0, 16, 32, 48):
            factor = (pl.col("spread") // (1 << shift) % (1 << 16)).cast(pl.Int64)
            cents = cents * (18_000 + factor * 5 // 3) // (1 << 16)
        cents = cents + 1
        rounded = cents // 100 * 100 + self.chance.by("event_no").one_of("price", PRICE_ENDINGS)
        return money(pl.when(rounded > 0).then(rounded).otherwise(cents))

    def _second(self) -> pl.Expr:
        """Place the event in the period: in order but for the hours or days it took to arrive.

        Each hour of the period weighs by the day of the week and the time of day.
        """
        draw, rows, days = self.chance.by("event_no"), self.bank.rows, self.plan.days
        weekdays = [(self.plan.first_day + timedelta(days=day)).weekday() for day in range(days)]
        calendar = pl.Series(
            [WORDS["weekdays"][day] * hour for day in weekdays for hour in WORDS["hours"]]
        ).cum_sum()
        hours = pl.when(draw.chosen("late", 25)).then(80).otherwise(5)
        delay = draw.below("delay", hours * rows // (24 * days) + 1)
        place = (pl.col("event_no") % rows - delay).abs() % rows
        hour = numbered(calendar, place * calendar[-1] // rows)
        return hour * 3600 + draw.below("second", 3600)

    def _shopper(self) -> pl.Expr:
        """Choose who makes a purchase.

        Of all purchases, cardholder x of n makes 8/n * (1 - x/n)^7: the busiest eight times the
        mean, most a handful. The inverse of its sum takes three square roots, which, unlike other
        roots, are exact everywhere.
        """
        part = 1.0 - unit(self.chance.by("event_no").draw("cardholder"))
        number = ((1.0 - part.sqrt().sqrt().sqrt()) * self.count).floor().cast(pl.Int64)
        return number.clip(upper_bound=self.count - 1)

    def favourite(self) -> pl.Expr:
        """Draw the merchant in one of a cardholder's favourite slots (`slot`)."""
        draw = self.chance.by("cardholder_no", "slot")
        return draw.weighted("favourite", self.merchants.popularity)

    def token(self) -> pl.Expr:
        """Write the cardholder token, 64 hexadecimal digits as of an HMAC-SHA256."""
        draw = self.chance.by("cardholder_no").draw
        return hexadecimal(*(draw(f"cardholder {part}") for part in range(4)))

    def card(self, second: pl.Expr) -> pl.Expr:
        """Write the token of a cardholder's first card, or of the second (a true `second`)."""
        draw = self.chance.by("cardholder_no", second).draw
        return "ct_" + hexadecimal(draw("card 0"), draw("card 1"))

    def refunds(self, first: int, count: int) -> pl.DataFrame:
        """Make so many refunds from this one on: the columns of a file of refunds, as text."""
        draw, bank, number = self.chance.by("refund_no"), self.bank, pl.col("refund_no")
        apart = max(1, bank.rows // max(1, bank.refunds))
        events = pl.select(refund_no=pl.int_range(first, first + count)).with_columns(
            event_no=number * apart + draw.below("returned", apart), is_conflict=False
        )
        left = (self.plan.days * 86_400 - pl.col("second")).clip(1, 40 * 86_400)
        cents = pl.col("amount").str.replace(".", "", literal=True).cast(pl.Int64)
        part = cents * (draw.below("part", 8) + 1) // 10 + 1
        is_whole = (pl.col("kind") == "void") | draw.chosen("whole", 600)
        is_named = draw.chosen("referenced", 850)
        prefix = f"RF-{bank.slug[:3].upper()}{bank.number + 1}-"
        return (
            self.of_events(events)
            .with_columns(kind=draw.one_of("kind of refund", repeated(WORDS["refund_kinds"])))
            .select(
                *("cardholder_token", "card_token", "card_acceptor_id", "kind"),
                refund_ref=prefix + number.cast(pl.String).str.zfill(6),
                original_transaction_ref=pl.when(is_named).then("transaction_ref"),
                amount=money(pl.when(is_whole).then(cents).otherwise(part)),
                refunded_at=self.plan.moment(pl.col("second") + draw.below("lag", left)),
            )
            .select(COLUMNS["refunds"])
        )


HEADER = [*COLUMNS["transactions"], *COLUMNS["faulty"]]
FIRST_EVENT = 1 << 40  # no other file of a sample comes that far
LONGEST_LINE = 1 << 16

_FAULTS = tomllib.loads(Path(__file__).with_name("dirty.toml").read_text("utf-8"))
FIELD_FAULTS, CSV_FAULTS, JSON_FAULTS = (_FAULTS[kind] for kind in ("fields", "csv", "json"))


def _line(row: dict[str, str], kind: str) -> str:
    if kind == "csv":
        return ",".join(row[column] for column in HEADER)
    amount = row["amount"]
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", amount):
        amount = json.dumps(amount)
    fields = {name: text for name, text in row.items() if text and name != "amount"}
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f'{{"amount":{amount},{text[1:]}'


def make_dirty(cardholders: Cardholders, kind: str) -> tuple[bytes, int]:
    """Return the bytes of a dirty file, `csv` or `jsonl`, and how many rows it has.

    Of every three rows the last is faulty: one for each fault, and then some good ones.
    """
    line_faults = CSV_FAULTS if kind == "csv" else JSON_FAULTS
    count = 3 * (len(FIELD_FAULTS) + len(line_faults) + 1)
    numbers = pl.int_range(FIRST_EVENT, FIRST_EVENT + count)
    made = cardholders.rows_of(pl.select(event_no=numbers, is_conflict=False)).to_dicts()
    rows = [dict.fromkeys(HEADER, "") | row for row in made]
    lines = [_line(row, kind).encode() for row in rows]
    for place, (_, column, value) in zip(range(2, count, 3), FIELD_FAULTS, strict=False):
        lines[place] = _line(rows[place] | {column: value}, kind).encode()
    places = range(2 + 3 * len(FIELD_FAULTS), count, 3)
    for place, (code, pattern, text) in zip(places, line_faults, strict=False):
        more = text * LONGEST_LINE if code == "line_too_long" else text
        lines[place] = re.sub(pattern, more, _line(rows[place], kind)).encode("latin-1")
    conflicting = _line(rows[1] | {"amount": "1" + rows[1]["amount"]}, kind).encode()
    header = [",".join(HEADER).encode()] if kind == "csv" else []
    return b"\n".join([*header, *lines, lines[0], b"", conflicting, b""]), count + 2
