"""Whether numbers that look like card numbers are references: the one judge of every door.

Of numbers in an issuer's range one in ten has a right check digit by chance. So one number does not
tell, and all that an institution ever sent in a field do: of numbers of one length, where there are
at least `FEWEST`, else of all other lengths together (rules.md#card-numbers). A value counts once.
What was met is remembered by the remainder of a number, which many have, so that no number can be
read back; one that has the remainder of another is not counted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, NamedTuple

from cardoffers_cli.kernel.words.cards import ALONE, JOINED, LENGTHS, TRACK
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.findings import Finding, make_finding
from cardoffers_cli.kernel.words.row_kinds import IDENTIFIERS, REFERENCES, TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from uuid import UUID

FEWEST = 100
"""How many numbers tell something; fewer tell nothing."""

CHANCE = 1000
"""So much rarer than always is what is no chance any more."""

PLACES = 65_521
"""How many remainders there are: a prime, so that numbers in a row, of any step, have others."""

_SAME = {
    **dict.fromkeys(("refund_ref", "original_transaction_ref"), "transaction_ref"),
    "card_token": "instrument_token",
}
"""Fields that hold what another one does; a profile takes refunds from among purchases."""


class NumberForm(NamedTuple):
    """What numbers are counted by: their field, their length as written, how they stand."""

    field: str
    length: int
    form: str

    @property
    def named(self) -> dict[str, str | int]:
        """The form as rows have it."""
        return {"field": self.field, "length": self.length, "form": self.form}


@dataclass
class Tally:
    """How many different numbers of a form were met, and how many have a right check digit.

    `met` has 1 at the place of a number that was known, and 2 at those of this file's. Right ones
    that were taken once `is_taken` remembers: nobody is blamed for them later.
    """

    issued: int = 0
    right: int = 0
    met: bytearray = field(default_factory=lambda: bytearray(PLACES))
    is_taken: bool = False

    def count(self, numbers: Iterable[tuple[int, bool]]) -> tuple[int, int]:
        """Count numbers, each by its place and whether it is right.

        Returns how many are new in this file, and how many of them are right.
        """
        issued = right = 0
        for place, is_right in numbers:
            if self.met[place] != _HERE:
                if not self.met[place]:
                    self.issued += 1
                    self.right += is_right
                self.met[place] = _HERE
                issued += 1
                right += is_right
        return issued, right


_HERE = 2


@dataclass
class NumberEvidence:
    """What the numbers of an institution were, over all it ever sent, and what it declared.

    `declared` are the lengths that a person says numbers of a field have. `load` gets the tallies
    of before when they are first needed; a check that knows nothing has none.
    """

    declared: Mapping[str, frozenset[int]] = field(default_factory=dict)
    institution_id: UUID | None = None
    load: Callable[[], Iterable[tuple[NumberForm, Tally]]] | None = None
    _tallies: dict[NumberForm, Tally] | None = None
    _here: dict[NumberForm, tuple[int, int]] = field(default_factory=dict)

    def of_file(self) -> NumberEvidence:
        """Return the same, to which the numbers of a file are added."""
        return NumberEvidence(self.declared, self.institution_id, self.load)

    @property
    def tallies(self) -> dict[NumberForm, Tally]:
        """What was met by now, by form."""
        if self._tallies is None:
            self._tallies = defaultdict(Tally, self.load() if self.load else ())
        return self._tallies

    def load_now(self) -> None:
        """Get what is known, before the store is busy with what is read."""
        self._tallies = self.tallies

    def count(self, form: NumberForm, numbers: Iterable[tuple[int, bool]]) -> None:
        """Count numbers of a form, each by its place and whether it is right."""
        if form.form == TRACK:  # which nothing excuses
            return
        issued, right = self.tallies[_kept(form)].count(numbers)
        before = self._here.get(form, (0, 0))
        self._here[form] = before[0] + issued, before[1] + right

    def met_here(self) -> dict[NumberForm, Tally]:
        """Return what is known now of the forms of which the file had numbers."""
        return {form: self.tallies[form] for form in map(_kept, self._here)}

    def is_refused(self, form: NumberForm) -> bool:
        """Say whether a right number of a form is a card number, as far as the evidence goes."""
        if form.form == TRACK:
            return True
        if self.is_declared(form):
            return False
        by_chance = self.are_by_chance(form)
        if form.form == JOINED:
            return by_chance is False
        return form.field in TOKENS or not by_chance

    def was_taken(self, form: NumberForm) -> bool:
        """Say whether right numbers of a form were taken as references once."""
        tally = self.tallies.get(_kept(form))
        return tally is not None and tally.is_taken

    def is_declared(self, form: NumberForm) -> bool:
        """Say whether a person said that numbers of the field have this length."""
        return form.form == ALONE and form.length in self.lengths_of(form.field)

    def lengths_of(self, field: str) -> frozenset[int]:
        """Return the lengths that a person said numbers of a field have, or of one like it."""
        same = _SAME.get(field, field)
        return frozenset[int]().union(
            *(lengths for name, lengths in self.declared.items() if _SAME.get(name, name) == same)
        )

    def are_by_chance(self, form: NumberForm) -> bool | None:
        """Say whether no more numbers are right than by chance; None, where too few tell it."""
        kept_form = _kept(form)
        own = self.tallies.get(kept_form)
        rows = [own] if own and own.issued >= FEWEST else [*self._others(kept_form)]
        issued, right = (sum(getattr(row, name) for row in rows) for name in ("issued", "right"))
        return is_by_chance(right, issued) if issued >= FEWEST else None

    def _others(self, form: NumberForm) -> Iterator[Tally]:
        """Yield what tells of the lengths of a field that are too few each."""
        for other, tally in self.tallies.items():
            is_like = (other.field, other.form) == (form.field, form.form)
            if is_like and tally.issued < FEWEST:
                yield tally

    def findings(self) -> list[Finding]:
        """Return a warning for each field of the file whose right numbers are taken."""
        counts: defaultdict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
        for form, (issued, right) in self._here.items():
            if not self.is_refused(form) and not self.is_declared(form):
                both = counts[form.field, bool(self.are_by_chance(form))]
                both[:] = both[0] + issued, both[1] + right
        return [
            make_finding(
                "reference_like_card",
                f"{right:,} {name} have the form and the check digit of card numbers,"
                + (f" by chance: {issued:,} have the form" if by_chance else _TOO_FEW),
                column=name,
            )
            for (name, by_chance), (issued, right) in counts.items()
            if right
        ]

    def begins(self) -> set[str]:
        """Return the fields whose right numbers are taken since this file, and were not before."""
        before = self.of_file()
        return {
            form.field
            for form, (_, right) in self._here.items()
            if right and before.is_refused(form) and not self.is_refused(form)
        }


_TOO_FEW = " behind letters: too few were sent to tell what they are"


def read_lengths(text: str | None) -> dict[str, frozenset[int]]:
    """Read declared lengths as they are kept: `card_acceptor_id=15 transaction_ref=13,16`."""
    pairs = (pair.partition("=") for pair in (text or "").split())
    return {name: frozenset(map(int, lengths.split(","))) for name, _, lengths in pairs}


def lengths_text(lengths: Mapping[str, frozenset[int]]) -> str | None:
    """Write declared lengths as they are kept; none is None."""
    filled = {name: sorted(values) for name, values in lengths.items() if values}
    return " ".join(f"{name}={','.join(map(str, filled[name]))}" for name in sorted(filled)) or None


def declared_lengths(text: str) -> dict[str, frozenset[int]]:
    """Read what a person declares of a field: `card_acceptor_id=15`, or `=none` for nothing more.

    Raises `UsageError` for a field, or a length, of which nothing can be declared.
    """
    name, _, value = text.partition("=")
    lengths = frozenset() if value == "none" else frozenset(value.split(","))
    possible = {*map(str, LENGTHS)}
    if name not in DECLARABLE or not value or not lengths <= possible:
        raise UsageError(
            f"{text} declares no length of a field.",
            hint=f"Write FIELD=DIGITS, such as card_acceptor_id=15: a field of"
            f" {', '.join(DECLARABLE)}, and {LENGTHS.start} to {LENGTHS.stop - 1} digits, several"
            " with commas between them; or none.",
        )
    return {name: frozenset(map(int, lengths))}


DECLARABLE = (*TOKENS, *IDENTIFIERS, *REFERENCES)
"""The fields whose lengths a person may declare."""


@lru_cache(maxsize=1024)
def is_by_chance(right: int, numbers: int) -> bool:
    """Say whether so many of the numbers of issuers' form may have a right check digit anyway.

    One in ten has: as many, or more, are right once in `CHANCE` times at least (p > 0.001), by the
    tail of the binomial distribution in integers.
    """
    if right * 10 <= numbers:
        return True
    term, tail = comb(numbers, right) * 9 ** (numbers - right), 0
    enough = 10**numbers // CHANCE
    for count in range(right, numbers + 1):
        tail += term
        if tail > enough:
            return True
        bad, factor = numbers - count, 9 * (count + 1)
        if tail + term * bad // (factor - bad) + 1 <= enough:  # more than all that follows
            return False
        term = term * bad // factor
    return False


def _kept(form: NumberForm) -> NumberForm:
    return NumberForm(_SAME.get(form.field, form.field), form.length, form.form)
