"""The findings in the rows of a file, kept small: a number for each kind, and the reference.

Of the references of valid rows a dict holds each once, with the number of its row, so memory grows
with the rows: some hundred bytes each. Of what a row says there is a fingerprint alone; that two
contents have the same is as unlikely as in the store, where fingerprints of 64 bits are compared
too.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.conditions import Matches, byte_length, searching
from cardoffers_cli.intake.fields import TOKENS, ZEROS_KEPT
from cardoffers_cli.intake.local_forms import LOOKED_AT, LostZeros
from cardoffers_cli.intake.plain.slices import exceptions, proof
from cardoffers_cli.kernel.words.card_forms import PLACES, NumberForm
from cardoffers_cli.kernel.words.cards import CARD_LIKE, JOINED, numbers_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from cardoffers_cli.intake.plain.slices import RowSlice
    from cardoffers_cli.kernel.words.card_forms import NumberEvidence
    from cardoffers_cli.kernel.words.findings import Finding
    from cardoffers_cli.kernel.words.row_kinds import RowKind


_SHOWN_LINES = 20

Kind = tuple[str | None, str, str, str]
"""Column, code, level and message."""


class RowFindings:
    """All findings in rows, in the order they were made."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, int] = {}
        self._lines = array("Q")
        self._kind_of = array("I")
        self._references: list[str | None] = []

    def add(self, finding: Finding) -> None:
        """Keep a finding, which has a line."""
        kind = (finding.column, finding.code, finding.level, finding.message)
        self._lines.append(finding.line or 0)
        self._kind_of.append(self._kinds.setdefault(kind, len(self._kinds)))
        self._references.append(finding.transaction_ref)

    def show_references(self, references: Mapping[int, str]) -> None:
        """Put references into the findings of their lines, which left them out."""
        for place, line in enumerate(self._lines):
            if line in references:
                self._references[place] = references[line]

    def error_lines(self) -> set[int]:
        """Return the lines with an error."""
        return {line for line, (_, _, level, _) in self._pairs() if level == "error"}

    def nameless(self) -> set[int]:
        """Return the lines of the rows that name no merchant."""
        return {line for line, (_, code, _, _) in self._pairs() if code == "merchant_missing"}

    def masked_fields(self) -> list[tuple[int, str]]:
        """Return the fields that `river/judge:fields_to_mask` does, in order."""
        codes = {"card_number", "personal_data"}
        return sorted(
            {
                (line, column or "")
                for line, (column, code, level, _) in self._pairs()
                if code in codes or (column is None and level == "error")
            }
        )

    def in_order(self) -> Iterator[Mapping[str, Any]]:
        """Yield every finding in the order of the file, as `findings.write_findings` takes them."""
        kinds = [*self._kinds]

        def order(place: int) -> tuple[int, bool, str, str]:
            column, code, _, _ = kinds[self._kind_of[place]]
            return self._lines[place], column is not None, column or "", code

        for place in sorted(range(len(self._lines)), key=order):
            column, code, level, message = kinds[self._kind_of[place]]
            yield {
                "line": self._lines[place],
                "transaction_ref": self._references[place],
                "field": column,
                "code": code,
                "level": level,
                "message": message,
            }

    def by_code(self, only: Collection[int] | None = None) -> Iterator[Mapping[str, Any]]:
        """Yield the findings by code, errors first, then what is found in most rows.

        Of `only` some lines, where these are named.
        """
        lines: dict[tuple[str, str], set[int]] = defaultdict(set)
        for line, (_, code, level, _) in self._pairs():
            if only is None or line in only:
                lines[level, code].add(line)
        for level, code in sorted(lines, key=lambda key: (key[0], -len(lines[key]), key[1])):
            own_lines = lines[level, code]
            yield {
                "code": code,
                "level": level,
                "row_count": len(own_lines),
                "lines": sorted(own_lines)[:_SHOWN_LINES],
            }

    def _pairs(self) -> Iterator[tuple[int, Kind]]:
        kinds = [*self._kinds]
        return ((line, kinds[kind]) for line, kind in zip(self._lines, self._kind_of, strict=True))


# What all rows of a file together say of their lengths and numbers, counted slice by slice.


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
        (NumberForm(name, len(item.text), item.form), int(item.digits) % PLACES, item.is_right)
        for item in numbers_in(text, name)
        if item.form == JOINED or name not in TOKENS
    ]


def _card_like(texts: Sequence[str]) -> set[str]:
    """Return the texts that may hold numbers; of texts that differ most are proven to hold none."""
    different = doubted = set(texts)
    if len(different) * 2 > len(texts) and _NONE_LIKE:
        proven = exceptions(texts, _NONE_LIKE)
        doubted = different if proven is None else proven
    return {text for text in doubted if _may_hold(text)}


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
