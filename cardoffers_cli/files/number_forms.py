"""The numbers of a file's references and identifiers: what the file says of them at its end.

Whether a number with a right check digit is a card number or a reference, all those of the file say
(`domain/card_forms.py`). That is known at its end only: until then a right number is a doubt, which
is kept beside the row (`pipeline/judge.py` settles it). Of merchants' identifiers each counts once.
A call has no file to compare with: there the rules refuse every right number.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.domain.card_forms import FieldForms
from cardoffers_cli.domain.cards import CARD_LIKE, PREFIX_LENGTH
from cardoffers_cli.domain.row_kinds import PURCHASES
from cardoffers_cli.files.fields import IDENTIFIERS, REFERENCES
from cardoffers_cli.files.numbers import identifiers_numbers, references_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.domain.row_kinds import RowKind

DOUBT_SCHEMA = {
    "line": pl.UInt64,
    "field": pl.String,
    "length": pl.UInt32,
    "head": pl.String,
    "transaction_ref": pl.String,
}
"""Numbers that are right: where they stand, their form, and the text of the row's own reference.
Grain: one row per line and field."""

NUMBERED: dict[str, Callable[[pl.Series], pl.DataFrame]] = {
    **dict.fromkeys(REFERENCES, references_numbers),
    **dict.fromkeys(IDENTIFIERS, identifiers_numbers),
}
"""The fields of which the file is asked, and how numbers are found in them."""

_MOST_MET = 1_000_000


class NumberForms(FieldForms):
    """The forms of the numbers in the references and identifiers of one file of a kind of rows."""

    def __init__(self, kind: RowKind = PURCHASES) -> None:
        super().__init__(tuple(NUMBERED))
        self._reference = kind.reference
        self._met = {name: pl.Series(dtype=pl.String) for name in IDENTIFIERS}

    def note(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Count the numbers of a stretch of rows; return the doubts, as `DOUBT_SCHEMA`."""
        doubts = [pl.DataFrame(schema=DOUBT_SCHEMA)]
        for name, numbers in NUMBERED.items():
            if name not in rows.columns:
                continue
            found = numbers(rows[name])
            right = found.filter("is_right")
            if right.is_empty():  # a stretch without right numbers has nothing to be compared
                continue
            self._count(name, rows[name], found)
            lines = rows["line"].gather(right["row"])
            form = right.select(_LENGTH, _HEAD)
            doubts.append(
                form.insert_column(0, lines)
                .with_columns(
                    field=pl.lit(name),
                    transaction_ref=right["number"]
                    if name == self._reference
                    else pl.lit(None, pl.String),
                )
                .select(*DOUBT_SCHEMA)
            )
        return pl.concat(doubts)

    def _count(self, name: str, texts: pl.Series, found: pl.DataFrame) -> None:
        tally = self.tallies[name]
        tally.filled += len(texts) - texts.null_count()
        numbers = texts.filter(texts.str.contains(CARD_LIKE).fill_null(False)).alias("number")
        tally.values += _by_form(numbers.to_frame())
        if name in IDENTIFIERS:
            met = self._met[name]
            found = found.unique("number").filter(~pl.col("number").is_in(met.implode()))
            if len(met) < _MOST_MET:
                self._met[name] = met.append(found["number"])
        tally.issued += _by_form(found)
        tally.right += _by_form(found.filter("is_right"))


_LENGTH = pl.col("number").str.len_bytes().alias("length")
_HEAD = pl.col("number").str.head(PREFIX_LENGTH).alias("head")


def _by_form(numbers: pl.DataFrame) -> Counter[tuple[int, str]]:
    counts = numbers.group_by(_LENGTH, _HEAD).len()
    return Counter({(length, head): count for length, head, count in counts.rows()})
