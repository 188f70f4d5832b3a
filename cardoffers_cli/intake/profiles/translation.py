"""From an institution's columns to the fields of a transaction event, as a profile says.

What comes out are the text columns that the rules read in our own layout too, so there is one set
of rules; faults of the reading itself (`Translated.faults`) name what the rules would call merely
invalid.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.intake.fields import REQUIRED
from cardoffers_cli.intake.layout_model import AmountSource, TextSource, TimeSource, TokenSource
from cardoffers_cli.intake.profiles.places import column_name
from cardoffers_cli.intake.profiles.times import plain_amounts, utc_texts
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import LINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cardoffers_cli.intake.layout_model import Column, DropCondition, Profile

_EXACT = pl.Decimal(38, AMOUNT_SCALE)
_FAULTS = {"line": pl.UInt64, "fault": pl.String}


@dataclass(frozen=True, kw_only=True)
class Translated:
    """Rows as text columns of our own, and what only their layout can have wrong.

    `faults` has line and code of times that are no moments; `left_out` rows were dropped by the
    profile, those `refunded` were negative. `read` and `total` are of all rows: how many, and the
    sum of their amounts, signs as they stand in the file.
    """

    rows: pl.DataFrame
    faults: pl.DataFrame
    left_out: int
    refunded: pl.DataFrame
    read: int
    total: Decimal


@dataclass(eq=False, repr=False)
class Translation:
    """A profile with its columns found: `positions` says where in the file each one is."""

    profile: Profile
    positions: Mapping[Column, int]
    decimals: int
    zone: str | None = None
    token_key: bytes | None = None

    def __post_init__(self) -> None:
        self._fields = self.profile.fields.given()

    def translate(self, frame: pl.DataFrame) -> Translated:
        """Translate rows of their columns (`cutting.py`)."""
        part = frame
        if self.profile.drop_where:
            dropped = pl.any_horizontal(self._drops(rule) for rule in self.profile.drop_where)
            part = frame.filter(~dropped)
        rows = part.select("line", *(self._text(name) for name in self._fields))
        rows, faults = self._with_times(rows)
        rows = self._with_tokens(rows)
        amount = self._fields.get("amount")
        if isinstance(amount, AmountSource):
            rows = rows.with_columns(plain_amounts(rows["amount"], amount, self.decimals))
        refunded = rows.clear()
        if self.profile.negatives == "refund" and "amount" in rows.columns:
            is_refund = pl.col("amount").str.starts_with("-").fill_null(False)
            rows, refunded = rows.filter(~is_refund), rows.filter(is_refund)
        absent = [name for name in REQUIRED if name not in rows.columns]
        return Translated(
            rows=rows.with_columns(pl.lit(None, pl.String).alias(name) for name in absent),
            faults=faults,
            left_out=frame.height - part.height,
            refunded=refunded,
            read=frame.height,
            total=self._total_of(frame),
        )

    def _source(self, column: Column) -> pl.Expr:
        """Return a column, blanks taken off its ends; nothing is null."""
        if column == LINE:
            return pl.col("line").cast(pl.String)
        bare = pl.col(column_name(self.positions[column])).str.strip_chars()
        return pl.when(bare != "").then(bare)

    def _text(self, name: str) -> pl.Expr:
        source = self._fields[name]
        if source.constant is not None:
            return pl.lit(source.constant).alias(name)
        parts = [self._source(column) for column in source.sources]
        text = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=source.join)
        if source.empty:
            text = pl.when(~text.is_in(source.empty)).then(text)
        if isinstance(source, TextSource) and source.pad:
            padded = text.str.zfill(source.pad)
            text = pl.when(text.str.contains("^[0-9]+$")).then(padded).otherwise(text)
        return text.alias(name)

    def _with_times(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        source = self._fields.get("transacted_at")
        if not isinstance(source, TimeSource):
            return rows, pl.DataFrame(schema=_FAULTS)
        texts, faults = utc_texts(rows["transacted_at"], source, source.zone or self.zone)
        frame = pl.DataFrame({"line": rows["line"], "fault": faults}, schema=_FAULTS)
        return rows.with_columns(texts), frame.drop_nulls("fault")

    def _with_tokens(self, rows: pl.DataFrame) -> pl.DataFrame:
        keyed = [
            name
            for name, source in self._fields.items()
            if isinstance(source, TokenSource) and source.hmac
        ]
        if self.token_key is None or not keyed:
            return rows
        return rows.with_columns(tokens(rows[name], self.token_key) for name in keyed)

    def _drops(self, condition: DropCondition) -> pl.Expr:
        text = self._source(condition.column).fill_null("")
        if condition.starts_with:
            return pl.any_horizontal(text.str.starts_with(head) for head in condition.starts_with)
        is_one = text.is_in(condition.is_ or condition.is_not)
        return is_one if condition.is_ else ~is_one

    def _total_of(self, frame: pl.DataFrame) -> Decimal:
        """Add up every amount that can be read, signs as they stand, where a trailer says so."""
        source, trailer = self._fields.get("amount"), self.profile.trailer
        if trailer is None or trailer.sum is None or not isinstance(source, AmountSource):
            return Decimal(0)
        texts = frame.select(self._text("amount")).to_series()
        written = source.model_copy(update={"negate": False})
        plain = plain_amounts(texts, written, self.decimals)
        return Decimal(plain.cast(_EXACT, strict=False).sum() or 0)


def tokens(texts: pl.Series, key: bytes) -> pl.Series:
    """Return the HMAC-SHA256 of each text in lower-case hex; every text is computed once."""
    unique = texts.unique().drop_nulls()
    digests = [hmac.digest(key, text.encode(), "sha256").hex() for text in unique]
    return texts.replace_strict(unique, pl.Series(digests, dtype=pl.String), default=None)
