"""Whether numbers that look like card numbers are references, by all those they stand among.

Of numbers in an issuer's range one in ten has a right check digit by chance. So one reference does
not tell, and the others do. Where references share a form (at least one in ten of them are numbers
of one length, and nine in ten of those begin alike) and no more of these are right than chance
would have it, they are references. A number of no such form, and every number where more are right
than chance explains, is a card number. Fewer than ten numbers tell nothing: right ones among them
are card numbers, as is any that stands alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cardoffers_cli.domain.cards import PREFIX_LENGTH, is_by_chance
from cardoffers_cli.domain.findings import Finding, make_finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHARE_OF_LENGTH = 0.1
SHARE_OF_BEGINNING = 0.9
FEWEST = 10

Key = tuple[int, str]
"""The length of a number as it is written, and its first letters."""


@dataclass(frozen=True)
class ReferenceForm:
    """A form that numbers share: their length, blanks included, and their beginning."""

    length: int
    prefix: str

    def has(self, number: Key) -> bool:
        """Say whether a number of this length and beginning is of the form."""
        length, head = number
        return length == self.length and head.startswith(self.prefix)


def key_of(number: str) -> Key:
    """Return what numbers are counted by."""
    return len(number), number[:PREFIX_LENGTH]


@dataclass
class Tally:
    """What was met in one place: how many texts, and the numbers among them by their key.

    `values` are all numbers, `issued` those that an issuer could give, `right` those of them whose
    check digit is right.
    """

    filled: int = 0
    values: Counter[Key] = field(default_factory=Counter)
    issued: Counter[Key] = field(default_factory=Counter)
    right: Counter[Key] = field(default_factory=Counter)

    def references(self, *, fewest: int = FEWEST) -> list[ReferenceForm]:
        """Return the forms in which right numbers are so by chance; fewer numbers tell nothing."""
        return [form for form in self._shared() if self._is_by_chance(form, fewest)]

    def right_of(self, form: ReferenceForm) -> int:
        """Return how many right numbers have a form."""
        return _of(form, self.right)

    def issued_of(self, form: ReferenceForm) -> int:
        """Return how many numbers of a form an issuer could give."""
        return _of(form, self.issued)

    def _is_by_chance(self, form: ReferenceForm, fewest: int) -> bool:
        issued = self.issued_of(form)
        return issued >= fewest and is_by_chance(self.right_of(form), issued)

    def _shared(self) -> Iterator[ReferenceForm]:
        """Yield the forms that many have: lengths, each with the longest common beginning."""
        lengths: Counter[int] = Counter()
        for (length, _), count in self.values.items():
            lengths[length] += count
        for length, count in lengths.items():
            if count >= SHARE_OF_LENGTH * self.filled:
                yield ReferenceForm(length, self._beginning(length, count))

    def _beginning(self, length: int, numbers: int) -> str:
        """Return the longest beginning that nine in ten of the numbers of one length have."""
        for width in range(PREFIX_LENGTH, 0, -1):
            counts: Counter[str] = Counter()
            for (own, head), count in self.values.items():
                counts[head[:width]] += count if own == length else 0
            prefix, count = counts.most_common(1)[0]
            if count >= SHARE_OF_BEGINNING * numbers:
                return prefix
        return ""


@dataclass(frozen=True)
class FieldForm:
    """A form in which the numbers of a field are references."""

    field: str
    length: int
    prefix: str


class FieldForms:
    """The forms of the numbers in some fields of one file."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.tallies = {name: Tally() for name in fields}

    def references(self) -> list[FieldForm]:
        """Return the forms in which what looks like a card number does so by chance."""
        return [
            FieldForm(name, form.length, form.prefix)
            for name, tally in self.tallies.items()
            for form in tally.references()
        ]

    def findings(self) -> list[Finding]:
        """Return a warning for each field whose numbers look like card numbers by chance."""
        found = []
        for name, tally in self.tallies.items():
            forms = tally.references()
            if right := sum(map(tally.right_of, forms)):
                issued = sum(map(tally.issued_of, forms))
                message = (
                    f"{right:,} {name} have the form and the check digit of card numbers,"
                    f" by chance: {issued:,} have the form"
                )
                found.append(make_finding("reference_like_card", message, column=name))
        return found


def _of(form: ReferenceForm, counts: Counter[Key]) -> int:
    return sum(count for key, count in counts.items() if form.has(key))
