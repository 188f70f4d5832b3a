"""The references of a file's valid rows: which of them come again, and with what content.

A dict holds each reference once, with the number of its row, so memory grows with the rows: some
hundred bytes each. Of what a row says there is a fingerprint alone; that two contents have the same
is as unlikely as in the store, where fingerprints of 64 bits are compared too.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

_ROWS_BITS = 64


@dataclass(frozen=True)
class LookAlike:
    """A row that is like an earlier one in all but its reference."""

    number: int
    reference: str
    first: int


@dataclass(frozen=True)
class Repeat:
    """A row whose reference stands in an earlier line, the first of which is `first`."""

    number: int
    reference: str
    first: int
    is_conflict: bool


def _fingerprint_function() -> Callable[[tuple[str, ...]], int]:
    """Return the hash of content, which has 64 bits also where Python's hashes have 32."""
    if sys.hash_info.width >= _ROWS_BITS:
        return hash
    half = sys.hash_info.width
    return lambda content: (hash(content) << half) ^ hash("\n".join(content))


_fingerprint = _fingerprint_function()


class References:
    """The valid rows of a file by their references, and how often each cardholder occurs."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._numbers = array("Q")
        self._contents = array("q")
        self._again: dict[str, list[int]] = {}
        self._looks = array("q")
        self._by_date = bytearray()
        self._refused: Collection[int] = ()
        self._cardholders: Counter[str] = Counter()

    def add(
        self,
        numbers: Sequence[int],
        references: Sequence[str],
        contents: Iterable[tuple[str, ...]],
        cardholders: Sequence[str],
        *,
        looks: Iterable[tuple[str, ...]] = (),
        by_date: Iterable[bool] = (),
    ) -> None:
        """Add the valid rows of a slice; `contents` tell a duplicate from a conflict.

        `looks` are what look-alikes have in common, where any are sought; `by_date` says of which
        rows only the day is given.
        """
        start = len(self._numbers)
        self._numbers.extend(numbers)
        self._contents.extend(map(_fingerprint, contents))
        self._looks.extend(map(_fingerprint, looks))
        self._by_date.extend(by_date)
        self._cardholders.update(cardholders)
        places = range(start, start + len(references))
        new = dict(zip(references, places, strict=True))
        if len(new) == len(references) and self._first.keys().isdisjoint(new):
            self._first.update(new)
            return
        for reference, place in zip(references, places, strict=True):
            first = self._first.setdefault(reference, place)
            if first != place:
                self._again.setdefault(reference, [first]).append(place)

    def refuse(self, rows: Collection[tuple[int, str, str]]) -> None:
        """Take rows out again, named by number, reference and cardholder."""
        numbers = self._refused = {number for number, _, _ in rows}
        self._cardholders.subtract(Counter(cardholder for _, _, cardholder in rows))
        self._again = {
            reference: [place for place in places if self._numbers[place] not in numbers]
            for reference, places in self._again.items()
        }

    def repeats(self) -> Iterator[Repeat]:
        """Yield the rows whose reference was there before, with the first of each."""
        for reference, (first, *others) in (item for item in self._again.items() if item[1]):
            for place in others:
                yield Repeat(
                    number=self._numbers[place],
                    reference=reference,
                    first=self._numbers[first],
                    is_conflict=self._contents[place] != self._contents[first],
                )

    def alike(self) -> Iterator[tuple[LookAlike, bool]]:
        """Yield the rows that are like an earlier one, and whether only their days are alike."""
        untaken = {*self._refused, *(repeat.number for repeat in self.repeats())}
        seen, repeated = set[int](), set[int]()
        for look in self._looks:
            (repeated if look in seen else seen).add(look)
        references: dict[int, str] = {}
        if repeated:
            references = {place: reference for reference, place in self._first.items()}
            for reference, places in self._again.items():
                references |= dict.fromkeys(places, reference)
        firsts: dict[tuple[int, int], int] = {}
        for place, look in enumerate(self._looks):
            number = self._numbers[place]
            if look in repeated and number not in untaken:
                is_day = self._by_date[place]
                first = firsts.setdefault((look, is_day), number)
                if first != number:
                    yield LookAlike(number, references[place], first), bool(is_day)

    def cardholders(self) -> tuple[int, int]:
        """Return how many cardholders there are, and how many of them occur once."""
        uses = Counter(self._cardholders.values())
        return sum(uses.values()) - uses[0], uses[1]
