"""Refunds: what comes back of an institution's purchases, in the order of the purchases.

Most name the purchase that they are of; the others have to be looked for. A part of what was bought
comes back nearly as often as all of it. Each is of a purchase of its own, and lies within the
period of the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.sample.chance import Weights, below, chosen, looked_up, money

if TYPE_CHECKING:
    from cardoffers_cli.sample.purchases import Purchases

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
