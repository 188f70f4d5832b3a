"""What all rows of a file together say of their lengths and numbers, counted slice by slice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.intake.conditions import Matches
from cardoffers_cli.intake.fields import TOKENS, ZEROS_KEPT
from cardoffers_cli.intake.lost_zeros import LOOKED_AT, LostZeros
from cardoffers_cli.intake.plain.proofs import exceptions, proof
from cardoffers_cli.intake.predicates import byte_length, searching
from cardoffers_cli.kernel.words.card_forms import PLACES, NumberForm
from cardoffers_cli.kernel.words.cards import CARD_LIKE, JOINED, numbers_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.intake.plain.slices import RowSlice
    from cardoffers_cli.kernel.words.card_forms import NumberEvidence
    from cardoffers_cli.kernel.words.row_kinds import RowKind

_is_number = searching("^[0-9]+$")


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
        lengths = Counter(map(len if "".join(texts).isascii() else byte_length, texts))
        del lengths[0]
        longest = self.longest_of(name, lengths)
        if longest:
            filled = [text for text in texts if text]
            are_numbers = (_is_number(text) is not None for text in filled[:LOOKED_AT])
            self.count_shorter(name, Counter(_numbers(filled, longest)), are_numbers)


def _numbers(texts: Sequence[str], most: int) -> Iterator[tuple[int, str]]:
    """Yield length and first digit of numbers that are shorter than the longest."""
    for text in texts:
        if "0" <= text < ":":
            length, first = byte_length(text), text[0]
            if first == "0" or (length < most and _is_number(text)):
                yield length, first


@dataclass(frozen=True)
class CheckDigitHit:
    """A number with a right check digit: the end of the file says whether it is a card's."""

    number: int
    form: NumberForm
    text: str


_may_hold = searching(CARD_LIKE)
_NONE_LIKE = proof([Matches("", CARD_LIKE)])


def note_numbers(evidence: NumberEvidence, kind: RowKind, rows: RowSlice) -> list[CheckDigitHit]:
    """Count the numbers of a slice of rows of a kind; return the right ones."""
    doubts = []
    for name in kind.columns:
        texts = rows.columns.get(name, ())
        like = {text: numbers for text in _card_like(texts) if (numbers := _numbered(text, name))}
        if not like:
            continue
        for number, text in zip(rows.numbers, texts, strict=True):
            for form, place, is_right in like.get(text, ()):
                evidence.count(form, [(place, is_right)])
                if is_right:
                    doubts.append(CheckDigitHit(number, form, text))
    return doubts


def _numbered(text: str, name: str) -> list[tuple[NumberForm, int, bool]]:
    """Return the numbers in a text of a field, but those that a rule speaks of at once."""
    return [
        (NumberForm(name, len(each.text), each.form), int(each.digits) % PLACES, each.is_right)
        for each in numbers_in(text, name)
        if each.form == JOINED or name not in TOKENS
    ]


def _card_like(texts: Sequence[str]) -> set[str]:
    """Return the texts that may hold numbers; of texts that differ most are proven to hold none."""
    different = doubted = set(texts)
    if len(different) * 2 > len(texts) and _NONE_LIKE:
        proven = exceptions(texts, _NONE_LIKE)
        doubted = different if proven is None else proven
    return {text for text in doubted if _may_hold(text)}
