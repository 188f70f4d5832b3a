"""Whether a spreadsheet has dropped leading zeros: the lengths of what stands in the columns say.

A column whose values mostly have one length, and some of whose others are shorter numbers, has
lost zeros where that length is set: 15 of an acceptor (ISO 8583, field 42), 4 of a category. Of
other columns it is told by what is left: most are numbers, none begins with a zero, and the
shorter ones, a few digits shorter, do not all begin with 9, as they would where a counter has just
passed a power of ten. It stays a warning: numbers that are drawn from a range look the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.findings import Finding, make_finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LOOKED_AT = 200
"""Of so many values of each stretch it is seen whether they are numbers."""

_SET = {"card_acceptor_id": 15, "mcc": 4}
"""The columns whose length is set."""

_LEAST = 10
"""The shortest length that is taken for one: shorter numbers are counted from 1."""

_MOST_LOST = 6


class LostZeros:
    """The lengths of the values of one file, and the shorter numbers among them, by column."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._lengths = {name: Counter[int]() for name in columns}
        self._shorter = {name: Counter[tuple[int, str]]() for name in columns}
        self._are_numbers = {name: Counter[bool]() for name in columns}

    def longest_of(self, name: str, lengths: Counter[int]) -> int | None:
        """Count the lengths of a stretch of a column; return the longest so far if any is shorter.

        Then the shorter numbers are to be counted too (`count_shorter`).
        """
        self._lengths[name] += lengths
        longest = max([*self._lengths[name], _SET.get(name, 0)])
        return longest if min(lengths) < longest else None

    def count_shorter(
        self, name: str, shorter: Counter[tuple[int, str]], are_numbers: Iterable[bool]
    ) -> None:
        """Count numbers of a stretch that are shorter than the longest, by length and first digit.

        What begins with a zero is counted whatever it is: there they were kept. `are_numbers` says
        it of the first `LOOKED_AT` values.
        """
        self._shorter[name] += shorter
        self._are_numbers[name].update(are_numbers)

    def findings(self) -> list[Finding]:
        """Return a warning for each column that looks cut."""
        return [
            make_finding(
                "leading_zeros_lost",
                f"some {name} are numbers of fewer than {length} digits, and most have {length}",
                column=name,
            )
            for name in self.columns
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
