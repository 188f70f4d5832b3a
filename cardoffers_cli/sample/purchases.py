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
from datetime import datetime, time, timedelta
from pathlib import Path
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
from cardoffers_cli.sample.plan import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        draw, strangers, merchants = self.chance.draw, self.strangers, self.cardholders.merchants
        stranger = pl.col("stranger_no")
        outlet = merchants.outlets.pick(draw("outlet", "event_no"), pl.col("merchant_no"))
        acceptor = looked_up(merchants.acceptors["card_acceptor_id"], outlet)
        if strangers:
            own = looked_up(strangers.table["merchant_identifier"], stranger)
            acceptor = pl.coalesce(own, acceptor)
        prefix = self.bank.slug[:3].upper() + f"{self.bank.number + 1}-"
        frame = (
            events.with_columns(
                cardholder_no=self.cardholders.shopper(self.chance.draw("cardholder", "event_no"))
            )
            .with_columns(
                stranger_no=pl.when(chosen(draw("unknown", "event_no"), UNKNOWN_PURCHASES)).then(
                    strangers.popularity.pick(draw("stranger", "event_no"))
                    if strangers
                    else below(
                        draw("stranger", "event_no"), merchants.table.height - merchants.known
                    )
                )
            )
            .with_columns(
                merchant_no=pl.coalesce(
                    looked_up(strangers.table["merchant_no"], stranger)
                    if strangers
                    else merchants.known + stranger,
                    self.cardholders.goes_to(pl.col("cardholder_no"), pl.col("event_no")),
                ),
                is_second=chosen(self.chance.draw("card", "event_no"), SECOND_CARDS),
                spread=self.chance.draw("amount", "event_no", "is_conflict"),
            )
            .with_columns(
                cardholder_token=self.cardholders.token(pl.col("cardholder_no")),
                card_token=self.cardholders.card(pl.col("cardholder_no"), pl.col("is_second")),
                card_acceptor_id=acceptor,
                amount=self._amount(),
                transaction_ref=prefix + hexadecimal(draw("ref", "event_no")),  # keyed: all differ
                transacted_at=self._time(),
            )
        )
        if strangers is None:
            return frame.select(COLUMNS)
        bits = draw("descriptor", "event_no")
        descriptor = strangers.descriptor(stranger, pl.col("merchant_no"), bits)
        return frame.select(*COLUMNS, merchant_descriptor=descriptor)

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


KINDS = ("refund", "void", "adjustment")
KIND_WEIGHTS = Weights((88, 6, 6))
REFERENCED, WHOLE = 850, 600  # in a thousand
LONGEST = timedelta(days=40)
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Refunds:
    """The refunds of one institution, made a stretch at a time."""

    purchases: Purchases

    def rows(self, first: int, count: int) -> pl.DataFrame:
        """Make so many refunds from this one on: the columns of a file of refunds, as text."""
        draw, bank = self.purchases.chance.draw, self.purchases.bank
        refund = pl.int_range(first, first + count, dtype=pl.UInt64)
        stretch = max(1, bank.rows // max(1, bank.refunds))
        events = pl.select(refund_no=refund).with_columns(
            event_no=pl.col("refund_no") * stretch + below(draw("returned", "refund_no"), stretch),
            is_conflict=pl.lit(False),
        )
        bought = self.purchases.of_events(events.select("event_no", "is_conflict"))
        cents = pl.col("amount").str.replace(".", "", literal=True).cast(pl.UInt64)
        part = cents * (below(draw("part", "refund_no"), 8) + 1) // 10 + 1
        in_whole = chosen(draw("whole", "refund_no"), WHOLE)
        prefix = f"RF-{bank.slug[:3].upper()}{bank.number + 1}-"
        return (
            pl.concat([events, bought], how="horizontal")
            .with_columns(kind_no=KIND_WEIGHTS.pick(draw("kind of refund", "refund_no")))
            .with_columns(is_whole=(pl.col("kind_no") == KINDS.index("void")) | in_whole)
            .select(
                (prefix + pl.col("refund_no").cast(pl.String).str.zfill(6)).alias("refund_ref"),
                pl.when(chosen(draw("referenced", "refund_no"), REFERENCED))
                .then("transaction_ref")
                .otherwise(pl.lit(""))
                .alias("original_transaction_ref"),
                *("cardholder_token", "card_token", "card_acceptor_id"),
                money(pl.when("is_whole").then(cents).otherwise(part)).alias("amount"),
                self._time().alias("refunded_at"),
                looked_up(KINDS, pl.col("kind_no")).alias("kind"),
            )
        )

    def _time(self) -> pl.Expr:
        """Place the refund behind its purchase, within the days of the sample."""
        plan = self.purchases.plan
        end = datetime.combine(plan.first_day, time()) + timedelta(days=plan.days)
        bought_at = pl.col("transacted_at").str.to_datetime(_FORMAT)
        longest = (pl.lit(end) - bought_at).dt.total_seconds().clip(1, int(LONGEST.total_seconds()))
        lag = below(self.purchases.chance.draw("lag", "refund_no"), longest)
        return (bought_at + pl.duration(seconds=lag)).dt.strftime(_FORMAT)


if TYPE_CHECKING:
    Row = dict[str, str]

HEADER = [
    *COLUMNS,
    "instrument_token",
    "instrument_type",
    "merchant_identifier_type",
    "merchant_identifier",
    "merchant_id",
]
FIRST_EVENT = 1 << 40  # no other file of a sample comes that far
GOOD_ROWS_BETWEEN = 2
LONGEST_LINE = 1 << 16
_NUMBER = re.compile(r"\d+(\.\d+)?", re.ASCII)

_TABLE = Path(__file__).with_name("dirty.toml").read_text("utf-8")
FIELD_FAULTS: Sequence[tuple[str, str, str]] = [*map(tuple, tomllib.loads(_TABLE)["faults"])]
"""A code, and the column and value that bring it about in an otherwise good row."""


def _csv(row: Row) -> bytes:
    return ",".join(row[column] for column in HEADER).encode()


def _json(row: Row) -> bytes:
    amount = row["amount"] if _NUMBER.fullmatch(row["amount"]) else json.dumps(row["amount"])
    fields = {name: text for name, text in row.items() if text and name != "amount"}
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f'{{"amount":{amount},{text[1:]}'.encode()


CSV_FAULTS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("field_count", lambda line: line + b","),
    ("field_count", lambda line: line.rsplit(b",", 7)[0]),
    ("unclosed_quote", lambda line: line.replace(b",ct_", b',"ct_')),
    ("stray_quote", lambda line: line.replace(b",ct_", b',ct"_')),
    ("encoding", lambda line: line.rsplit(b",", 1)[0] + b",caf\xe9"),
    ("line_too_long", lambda line: line + b"9" * LONGEST_LINE),
)
JSON_FAULTS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("json_invalid", lambda line: line[:-1]),
    ("not_an_object", lambda line: b"[" + line + b"]"),
    ("duplicate_key", lambda line: line[:-1] + b',"amount":1.00}'),
    ("encoding", lambda line: line[:-1] + b',"merchant_descriptor":"caf\xe9"}'),
    ("line_too_long", lambda line: line[:-1] + b" " * LONGEST_LINE + b"}"),
    (
        "institution_mismatch",
        lambda line: line[:-1] + b',"institution_id":"00000000-0000-4000-8000-000000000000"}',
    ),
)


def make_dirty(purchases: Purchases, kind: str) -> tuple[bytes, int]:
    """Return the bytes of a dirty file, `csv` or `jsonl`, and how many rows it has."""
    write, line_faults = (_csv, CSV_FAULTS) if kind == "csv" else (_json, JSON_FAULTS)
    count = len(FIELD_FAULTS) + len(line_faults)
    end = FIRST_EVENT + (count + 1) * (GOOD_ROWS_BETWEEN + 1)
    events = pl.select(
        event_no=pl.int_range(FIRST_EVENT, end, dtype=pl.UInt64), is_conflict=pl.lit(False)
    )
    rows = [dict.fromkeys(HEADER, "") | row for row in purchases.of_events(events).to_dicts()]
    lines = [write(row) for row in rows]
    places = range(GOOD_ROWS_BETWEEN, len(lines), GOOD_ROWS_BETWEEN + 1)
    for place, (_, column, value) in zip(places, FIELD_FAULTS, strict=False):
        lines[place] = write(rows[place] | {column: value})
    for place, (_, spoil) in zip(places[len(FIELD_FAULTS) :], line_faults, strict=False):
        lines[place] = spoil(lines[place])
    repeated = [lines[0], b"", write(rows[1] | {"amount": "1" + rows[1]["amount"]})]
    header = [",".join(HEADER).encode()] if kind == "csv" else []
    return b"\n".join([*header, *lines, *repeated, b""]), len(lines) + 2
