"""Whether the numbers of a file's references are card numbers, or references that look like them.

Of numbers in an issuer's range one in ten has a right check digit by chance. So one reference does
not tell, and the file does. Where its references share a form (at least one in ten of them are
numbers of one length, and nine in ten of those begin alike) and no more of these are right than
chance would have it, they are references. A number of no such form, and every number where more
are right than chance explains, is a card number. Fewer than ten numbers tell nothing: right ones
among them are refused, as is any of a call, where there is no file to compare with. The same holds
of merchants' identifiers, of which each counts once.

What the file says is known at its end only: until then a right number is a doubt, which is kept
beside the row (`pipeline/judge.py` settles it).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from cardoffers_cli.domain.cards import PREFIX_LENGTH, is_by_chance
from cardoffers_cli.domain.findings import Finding, make_finding
from cardoffers_cli.files.fields import IDENTIFIERS
from cardoffers_cli.files.numbers import CARD_LIKE, identifiers_numbers, references_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

_REF = "transaction_ref"
DOUBT_SCHEMA = {
    "line": pl.UInt64,
    "field": pl.String,
    "length": pl.UInt32,
    "head": pl.String,
    "transaction_ref": pl.String,
}
"""Numbers that are right: where they stand, their form, and the text where that is the reference.
Grain: one row per line and field."""

NUMBERED: dict[str, Callable[[pl.Series], pl.DataFrame]] = {
    _REF: references_numbers,
    **dict.fromkeys(IDENTIFIERS, identifiers_numbers),
}
"""The fields of which the file is asked, and how numbers are found in them."""

_SHARE_OF_LENGTH = 0.1
_SHARE_OF_BEGINNING = 0.9
_FEWEST = 10
_MOST_MET = 1_000_000


@dataclass(frozen=True)
class Form:
    """A form that the numbers of a field share: their length, blanks included, and beginning."""

    field: str
    length: int
    prefix: str


@dataclass
class _Tally:
    """What was met in one field, by length and first digits: values, and distinct numbers."""

    filled: int = 0
    values: Counter[tuple[int, str]] = field(default_factory=Counter)
    issued: Counter[tuple[int, str]] = field(default_factory=Counter)
    right: Counter[tuple[int, str]] = field(default_factory=Counter)
    met: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))

    def shared(self) -> list[tuple[int, str]]:
        """Return the forms that many values have: lengths, each with the narrowest beginning."""
        lengths: Counter[int] = Counter()
        for (length, _), count in self.values.items():
            lengths[length] += count
        return [
            (length, self._beginning(length, count))
            for length, count in lengths.items()
            if count >= _SHARE_OF_LENGTH * self.filled
        ]

    def _beginning(self, length: int, numbers: int) -> str:
        """Return the longest beginning that nine in ten of the numbers of one length have."""
        for width in range(PREFIX_LENGTH, 0, -1):
            counts: Counter[str] = Counter()
            for (own, head), count in self.values.items():
                counts[head[:width]] += count if own == length else 0
            prefix, count = counts.most_common(1)[0]
            if count >= _SHARE_OF_BEGINNING * numbers:
                return prefix
        return ""


def _of(form: tuple[int, str], counts: Counter[tuple[int, str]]) -> int:
    length, prefix = form
    return sum(
        count for (own, head), count in counts.items() if own == length and head.startswith(prefix)
    )


class NumberForms:
    """The forms of the numbers in the references and identifiers of one file."""

    def __init__(self) -> None:
        self._tallies = {name: _Tally() for name in NUMBERED}

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
                    transaction_ref=right["number"] if name == _REF else pl.lit(None, pl.String),
                )
                .select(*DOUBT_SCHEMA)
            )
        return pl.concat(doubts)

    def _count(self, name: str, texts: pl.Series, found: pl.DataFrame) -> None:
        tally = self._tallies[name]
        tally.filled += len(texts) - texts.null_count()
        numbers = texts.filter(texts.str.contains(CARD_LIKE).fill_null(False)).alias("number")
        tally.values += _by_form(numbers.to_frame())
        if name in IDENTIFIERS:
            found = found.unique("number").filter(~pl.col("number").is_in(tally.met.implode()))
            if len(tally.met) < _MOST_MET:
                tally.met = tally.met.append(found["number"])
        tally.issued += _by_form(found)
        tally.right += _by_form(found.filter("is_right"))

    def references(self) -> list[Form]:
        """Return the forms in which what looks like a card number does so by chance."""
        return [
            Form(name, *form)
            for name, tally in self._tallies.items()
            for form in tally.shared()
            if (issued := _of(form, tally.issued)) >= _FEWEST
            and is_by_chance(_of(form, tally.right), issued)
        ]

    def findings(self) -> list[Finding]:
        """Return a warning for each field whose numbers look like card numbers by chance."""
        right: Counter[str] = Counter()
        for form in self.references():
            right[form.field] += _of((form.length, form.prefix), self._tallies[form.field].right)
        return [
            make_finding(
                "reference_like_card",
                f"{count:,} {name} have the form and the check digit of card numbers",
                column=name,
            )
            for name, count in right.items()
            if count
        ]


_LENGTH = pl.col("number").str.len_bytes().alias("length")
_HEAD = pl.col("number").str.head(PREFIX_LENGTH).alias("head")


def _by_form(numbers: pl.DataFrame) -> Counter[tuple[int, str]]:
    counts = numbers.group_by(_LENGTH, _HEAD).len()
    return Counter({(length, head): count for length, head, count in counts.rows()})
