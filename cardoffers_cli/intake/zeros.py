"""Look in columns for numbers that have lost leading zeros (`intake/lost_zeros.py`)."""

from __future__ import annotations

from collections import Counter

import polars as pl

from cardoffers_cli.intake.fields import ZEROS_KEPT
from cardoffers_cli.intake.lost_zeros import LOOKED_AT, LostZeros

_NUMBER = "^[0-9]+$"


class LostZerosOfColumns(LostZeros):
    """What a file's columns say of lost zeros."""

    def __init__(self) -> None:
        super().__init__(ZEROS_KEPT)

    def note(self, rows: pl.DataFrame) -> None:
        """Count a stretch of rows; one whose values have one length costs next to nothing."""
        for name in self.columns:
            if name in rows.columns:
                self._count(name, rows[name])

    def _count(self, name: str, texts: pl.Series) -> None:
        lengths = texts.str.len_bytes().alias("length")
        least, most = lengths.min(), lengths.max()
        if not isinstance(least, int) or not isinstance(most, int):
            return
        if least == most:
            counts = {most: len(texts) - texts.null_count()}
        else:
            counts = dict(lengths.drop_nulls().value_counts().iter_rows())
        longest = self.longest_of(name, Counter(counts))
        if longest:
            some = texts.drop_nulls().head(LOOKED_AT)
            are_numbers = some.str.contains(_NUMBER)
            self.count_shorter(name, _numbers(texts, lengths, longest), are_numbers)


def _numbers(texts: pl.Series, lengths: pl.Series, most: int) -> Counter[tuple[int, str]]:
    """Count the numbers that are shorter than the longest by length and first digit.

    What begins with a zero is counted whatever it is: there they were kept.
    """
    begins_so = (texts >= "0") & (texts < ":") & ((lengths < most) | (texts < "1"))
    some = pl.DataFrame([texts.alias("text"), lengths]).filter(begins_so)
    text = pl.col("text")
    counts = (
        some.filter(text.str.starts_with("0") | text.str.contains(_NUMBER))
        .group_by("length", text.str.head(1).alias("first"))
        .len()
    )
    return Counter({(length, first): count for length, first, count in counts.rows()})
