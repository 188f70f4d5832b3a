"""What all rows of a file together say of their lengths and numbers, counted slice by slice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.domain.card_forms import FieldForms
from cardoffers_cli.domain.cards import (
    CARD_LIKE,
    PREFIX_LENGTH,
    is_identifier_card_number,
    is_identifier_issued,
    is_reference_card_number,
    is_reference_issued,
)
from cardoffers_cli.domain.lost_zeros import LOOKED_AT, LostZeros
from cardoffers_cli.files.conditions import Matches
from cardoffers_cli.files.fields import IDENTIFIERS, REFERENCES, ZEROS_KEPT
from cardoffers_cli.files.plain.proofs import exceptions, proof
from cardoffers_cli.files.predicates import byte_length, searching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cardoffers_cli.domain.card_forms import Key
    from cardoffers_cli.files.plain.slices import RowSlice

_is_number = searching("^[0-9]+$")
_is_card_like = searching(CARD_LIKE)
_NONE_LIKE = proof([Matches("", CARD_LIKE)])


class LostZerosOfRows(LostZeros):
    """What a file's rows say of lost zeros."""

    def __init__(self) -> None:
        super().__init__(ZEROS_KEPT)

    def note(self, rows: RowSlice) -> None:
        """Count a slice of rows."""
        for name in self.columns:
            texts = rows.columns.get(name)
            if texts and any(texts):
                self._count(name, texts)

    def _count(self, name: str, texts: Sequence[str]) -> None:
        lengths = Counter(_byte_lengths(texts))
        del lengths[0]
        longest = self.longest_of(name, lengths)
        if longest:
            filled = [text for text in texts if text]
            are_numbers = (_is_number(text) is not None for text in filled[:LOOKED_AT])
            self.count_shorter(name, Counter(_numbers(filled, longest)), are_numbers)


def _byte_lengths(texts: Sequence[str]) -> Iterator[int]:
    return map(len if "".join(texts).isascii() else byte_length, texts)


def _numbers(texts: Sequence[str], most: int) -> Iterator[tuple[int, str]]:
    """Yield length and first digit of numbers that are shorter than the longest."""
    for text in texts:
        if "0" <= text < ":":
            length, first = byte_length(text), text[0]
            if first == "0" or (length < most and _is_number(text)):
                yield length, first


@dataclass(frozen=True)
class Doubt:
    """A number with a right check digit: the end of the file says whether it is a card's."""

    number: int
    field: str
    key: Key
    text: str


_NUMBERED: dict[str, tuple[Callable[[str], bool], Callable[[str], bool]]] = {
    **dict.fromkeys(REFERENCES, (is_reference_issued, is_reference_card_number)),
    **dict.fromkeys(IDENTIFIERS, (is_identifier_issued, is_identifier_card_number)),
}
"""The fields of which the file is asked: what an issuer could give there, and what is right."""


class NumberFormsOfRows(FieldForms):
    """The forms of the numbers in the references and identifiers of one file."""

    def __init__(self) -> None:
        super().__init__(tuple(_NUMBERED))
        self._met = {name: set[str]() for name in IDENTIFIERS}

    def note(self, rows: RowSlice) -> list[Doubt]:
        """Count the numbers of a slice of rows; return the right ones."""
        doubts = []
        for name, (is_issued, is_right) in _NUMBERED.items():
            texts = rows.columns.get(name, ())
            like = _card_like(texts)
            right = {*filter(is_right, like)}
            if not right:  # a slice without right numbers has nothing to be compared
                continue
            numbers = [text for text in texts if text in like]
            self._count(name, texts, numbers, [*filter(is_issued, numbers)])
            doubts += [
                Doubt(number, name, _key_of(text), text)
                for number, text in zip(rows.numbers, texts, strict=True)
                if text in right
            ]
        return doubts

    def _count(
        self, name: str, texts: Sequence[str], numbers: Sequence[str], issued: Sequence[str]
    ) -> None:
        tally = self.tallies[name]
        tally.filled += sum(map(bool, texts))
        tally.values.update(map(_key_of, numbers))
        if name in self._met:
            issued = [*dict.fromkeys(each for each in issued if each not in self._met[name])]
            self._met[name].update(issued)
        tally.issued.update(map(_key_of, issued))
        tally.right.update(map(_key_of, filter(_NUMBERED[name][1], issued)))


def _card_like(texts: Sequence[str]) -> set[str]:
    """Return the texts that may be numbers; of texts that differ most are proven to be none."""
    different = doubted = set(texts)
    if len(different) * 2 > len(texts) and _NONE_LIKE:
        proven = exceptions(texts, _NONE_LIKE)
        doubted = different if proven is None else proven
    return {text for text in doubted if _is_card_like(text)}


def _key_of(number: str) -> Key:
    return byte_length(number), number[:PREFIX_LENGTH]
