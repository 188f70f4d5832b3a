"""The refunds among the rows of an institution's own file, as refunds of our own layout.

A profile whose `negatives` are refunds says so of rows with negative amounts. What comes back is
the amount without its sign; the reference of the row is that of the refund, as such a file does not
name the purchase. Each is held against the rules of refunds, and those that break one are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.domain.row_kinds import PURCHASES, REFUNDS
from cardoffers_cli.files.chunks import Judge
from cardoffers_cli.files.number_forms import refused

if TYPE_CHECKING:
    from cardoffers_cli.domain.card_forms import NumberEvidence
    from cardoffers_cli.files.chunks import FileReading

NAMES = {
    PURCHASES.reference: REFUNDS.reference,
    PURCHASES.moment: REFUNDS.moment,
}
"""What the fields of a purchase are called in a refund, where otherwise."""

FIRST = (
    *("refund_ref", "cardholder_token", "card_token", "card_acceptor_id"),
    *("amount", "refunded_at"),
)
"""The columns that a file of refunds begins with, as a file of purchases does."""


def as_refunds(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows that are refunds with the columns of refunds, their amounts without a sign."""
    refunds = rows.rename(NAMES, strict=False).with_columns(pl.col("amount").str.strip_prefix("-"))
    return refunds.select(name for name in refunds.columns if name in ("line", *REFUNDS.columns))


def in_purchases(masked: pl.DataFrame | None) -> pl.DataFrame | None:
    """Return fields (line and field) by what a profile calls them, those of refunds too."""
    back = {name: own for own, name in NAMES.items()}
    return masked if masked is None else masked.with_columns(pl.col("field").replace(back))


def lines_together(one: pl.Series, other: pl.Series) -> pl.Series:
    """Return the lines of both, sorted."""
    return pl.concat([one, other]).sort()


def masked_together(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Return the fields of purchases and of refunds of one file, by line and field."""
    return pl.concat([one, other]).sort("line", "field")


class RefundsApart:
    """The refunds of one file: how many are `good`, and which lines were left, by their code.

    `numbers` are what the file says of its numbers.
    """

    def __init__(self, reading: FileReading, numbers: NumberEvidence) -> None:
        self._judge = Judge(replace(reading, profile=None), REFUNDS)
        self._judge.numbers = numbers
        self.good = 0
        self.left: dict[str, list[int]] = {}

    def take(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return those of a stretch that are good, with the columns of refunds."""
        refunds = as_refunds(rows)
        if refunds.is_empty():
            return refunds
        chunk = self._judge.chunk(refunds)
        doubts = refused(chunk.doubts, self._judge.numbers).select("line")
        wrong = chunk.findings.filter(pl.col("level") == "error").select("line", "code")
        left = pl.concat([wrong, doubts.with_columns(code=pl.lit("card_number"))])
        for line, code in left.unique(maintain_order=True).rows():
            self.left.setdefault(code, []).append(line)
        good = refunds.filter(~pl.col("line").is_in(left["line"].implode()))
        self.good += good.height
        return good
