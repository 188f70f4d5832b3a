"""Whether a spreadsheet has dropped leading zeros: the lengths of what stands in the columns say.

A column whose values mostly have one length, and some of whose others are shorter numbers, has
lost zeros where that length is set: 15 of an acceptor (ISO 8583, field 42), 4 of a category. Of
other columns it is told by what is left: most are numbers, none begins with a zero, and the
shorter ones, a few digits shorter, do not all begin with 9, as they would where a counter has just
passed a power of ten. It stays a warning: numbers that are drawn from a range look the same.
"""

from __future__ import annotations

from collections import Counter

import polars as pl

from cardoffers_cli.domain.findings import Finding, make_finding
from cardoffers_cli.files.fields import IDENTIFIERS, TOKENS

_NUMBER = "^[0-9]+$"
_SET = {"card_acceptor_id": 15, "mcc": 4}
"""The columns whose length is set."""

_COLUMNS = (*TOKENS, *IDENTIFIERS, "mcc", "transaction_ref")
_LEAST = 10
"""The shortest length that is taken for one: shorter numbers are counted from 1."""

_MOST_LOST = 6
_LOOKED_AT = 200  # values of a stretch, to see whether they are numbers


class LostZeros:
    """The lengths of the values of one file, and the shorter numbers among them."""

    def __init__(self) -> None:
        self._lengths = {name: Counter[int]() for name in _COLUMNS}
        self._shorter = {name: Counter[tuple[int, str]]() for name in _COLUMNS}
        self._are_numbers = {name: Counter[bool]() for name in _COLUMNS}

    def note(self, rows: pl.DataFrame) -> None:
        """Count a stretch of rows; one whose values have one length costs next to nothing."""
        for name in _COLUMNS:
            if name in rows.columns:
                self._count(name, rows[name])

    def _count(self, name: str, texts: pl.Series) -> None:
        lengths = texts.str.len_bytes().alias("length")
        least, most = lengths.min(), lengths.max()
        if not isinstance(least, int) or not isinstance(most, int):
            return
        if least == most:
            self._lengths[name][most] += len(texts) - texts.null_count()
        else:
            counts = lengths.drop_nulls().value_counts()
            self._lengths[name].update(dict(counts.iter_rows()))
        longest = max([*self._lengths[name], _SET.get(name, 0)])
        if least < longest:
            self._shorter[name] += _numbers(texts, lengths, longest)
            some = texts.drop_nulls().head(_LOOKED_AT)
            self._are_numbers[name].update(some.str.contains(_NUMBER))

    def findings(self) -> list[Finding]:
        """Return a warning for each column that looks cut."""
        return [
            make_finding(
                "leading_zeros_lost",
                f"some {name} are numbers of fewer than {length} digits, and most have {length}",
                column=name,
            )
            for name in _COLUMNS
            if (length := self._usual(name)) and self._is_cut(name, length)
        ]

    def _usual(self, name: str) -> int | None:
        """Return the length that more than half of the values have, if it can be that of all."""
        counts = self._lengths[name]
        length = _SET.get(name) or max(counts, key=counts.__getitem__, default=0)
        is_usual = counts[length] * 2 > counts.total()
        return length if is_usual and (name in _SET or length >= _LEAST) else None

    def _is_cut(self, name: str, length: int) -> bool:
        numbers = self._shorter[name]
        if name in _SET:
            return any(own < length for own, _ in numbers)
        firsts = {first for own, first in numbers if length - _MOST_LOST <= own < length}
        are_numbers = self._are_numbers[name]
        return (
            not firsts <= {"9"}
            and all(first != "0" for _, first in numbers)
            and are_numbers[True] > are_numbers[False]
        )


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
