"""From an institution's columns to the fields of a transaction event, in plain Python.

What `profiles/translation.py` does by columns of polars: rows come as slices of the columns that a
profile reads (`cN` for the column N), and leave as slices of our own fields.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from itertools import compress
from typing import TYPE_CHECKING

from cardoffers_cli.intake.plain.clocks import ProfiledTimes
from cardoffers_cli.intake.predicates import WHITE_SPACE
from cardoffers_cli.intake.profiles.places import column_name
from cardoffers_cli.intake.profiles.refunds import NAMES
from cardoffers_cli.intake.profiles.written import UNREADABLE, PlainAmounts
from cardoffers_cli.kernel.words.money import AMOUNT_SCALE
from cardoffers_cli.kernel.words.row_kinds import LINE, REFUNDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.layout_model import Column, DropCondition, FieldSource, Profile
    from cardoffers_cli.intake.plain.slices import RowSlice

_NUMBER = re.compile("[0-9]+")
_SMALLEST = Decimal(1).scaleb(-AMOUNT_SCALE)
_MOST_DIGITS = 38 - AMOUNT_SCALE


class PlainTranslation:
    """A profile with its columns found: `positions` says where in the file each one is.

    Where a trailer says what the amounts come to, `total` is that of all rows so far, also of those
    that are left out, signs as they stand.
    """

    def __init__(
        self,
        profile: Profile,
        positions: Mapping[Column, int],
        *,
        decimals: int,
        zone: str | None,
    ) -> None:
        self.total = Decimal(0)
        self._profile = profile
        self._fields = profile.fields.given()
        self._positions = positions
        amount, time = profile.fields.amount, profile.fields.transacted_at
        self._amounts = PlainAmounts(amount, decimals) if amount else None
        self._times = ProfiledTimes(time, zone) if time else None
        self._summed: PlainAmounts | None = None
        if amount and profile.trailer and profile.trailer.sum is not None:
            self._summed = PlainAmounts(amount, decimals, as_written=True)

    def translate(self, rows: RowSlice) -> RowSlice:
        """Translate rows of their columns."""
        self._add_up(rows)
        for condition in self._profile.drop_where:
            rows = _where(rows, [not dropped for dropped in self._dropped(condition, rows)])
        columns = {name: self._texts(source, rows) for name, source in self._fields.items()}
        faults: Mapping[int, str] = {}
        if self._times is not None:
            read = [self._times[text] for text in columns["transacted_at"]]
            columns["transacted_at"] = [time.text for time in read]
            numbered = zip(rows.numbers, read, strict=True)
            faults = {number: time.fault for number, time in numbered if time.fault}
        if self._amounts is not None:
            columns["amount"] = [self._amounts[text] for text in columns["amount"]]
        rows = replace(rows, columns=columns, faults=faults, is_plain=False)
        if self._profile.negatives == "refund" and self._amounts is not None:
            are_refunds = [text.startswith("-") for text in columns["amount"]]
            refunds = _as_refunds(_where(rows, are_refunds))
            rows = replace(_where(rows, [not flag for flag in are_refunds]), refunds=refunds)
        return rows

    def _source(self, column: Column, rows: RowSlice) -> Sequence[str]:
        """Return the texts of a column, blanks taken off their ends."""
        if column == LINE:
            return [*map(str, rows.numbers)]
        texts = rows.columns[column_name(self._positions[column])]
        return [text.strip(WHITE_SPACE) for text in texts]

    def _texts(self, source: FieldSource, rows: RowSlice) -> Sequence[str]:
        if source.constant is not None:
            return [source.constant] * len(rows.numbers)
        parts = [self._source(column, rows) for column in source.sources]
        texts = parts[0]
        if len(parts) > 1:
            joined = zip(*parts, strict=True)
            texts = [source.join.join(row) if all(row) else "" for row in joined]
        if source.empty:
            texts = ["" if text in source.empty else text for text in texts]
        if pad := getattr(source, "pad", None):
            texts = [text.zfill(pad) if _NUMBER.fullmatch(text) else text for text in texts]
        return texts

    def _dropped(self, condition: DropCondition, rows: RowSlice) -> Sequence[bool]:
        texts = self._source(condition.column, rows)
        if condition.starts_with:
            return [text.startswith(tuple(condition.starts_with)) for text in texts]
        if condition.is_:
            return [text in condition.is_ for text in texts]
        return [text not in condition.is_not for text in texts]

    def _add_up(self, rows: RowSlice) -> None:
        """Add every amount that can be read to the total, where a trailer says what that is."""
        if self._summed is None or self._profile.fields.amount is None:
            return
        texts = (self._summed[text] for text in self._texts(self._profile.fields.amount, rows))
        exact = (Decimal(text) for text in texts if text not in {"", UNREADABLE})
        self.total += sum(
            amount.quantize(_SMALLEST) for amount in exact if amount.adjusted() < _MOST_DIGITS
        )


def _where(rows: RowSlice, is_kept: Sequence[bool]) -> RowSlice:
    """Leave out the rows that are not kept; they are not counted among the lines either."""
    columns = {name: [*compress(texts, is_kept)] for name, texts in rows.columns.items()}
    numbers = [*compress(rows.numbers, is_kept)]
    left_out = len(is_kept) - len(numbers)
    return replace(rows, numbers=numbers, columns=columns, lines=rows.lines - left_out)


def _as_refunds(rows: RowSlice) -> RowSlice:
    """Return rows that are refunds with the columns of refunds, their amounts without a sign."""
    columns = {NAMES.get(name, name): texts for name, texts in rows.columns.items()}
    columns["amount"] = [text.removeprefix("-") for text in columns["amount"]]
    own = {name: texts for name, texts in columns.items() if name in REFUNDS.columns}
    return replace(rows, columns=own, findings=[], lines=len(rows.numbers), blank_lines=0)
