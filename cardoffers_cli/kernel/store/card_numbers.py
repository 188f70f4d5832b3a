"""Card numbers in the store, and what is known of the numbers of its institutions.

Every door asks the same judge (`kernel/words/cards.py`): of what an institution sends, here
for what stands in the store, which may hold none. `kernel/store/card_numbers.sql` names the few
text columns that are not looked at; any other one is, and is masked. Numbers that the catalogue
holds as merchants' identifiers are none, nor what was taken as references by all that an
institution sent until then. The numbers themselves go nowhere.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.card_forms import (
    PLACES,
    NumberEvidence,
    NumberForm,
    Tally,
    read_lengths,
)
from cardoffers_cli.kernel.words.cards import CARD_LIKE, numbers_in
from cardoffers_cli.kernel.words.findings import Finding, make_finding
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.kernel.words.row_kinds import IDENTIFIERS, REFERENCES, TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

_ADDRESS = "kernel/store/card_numbers"
_FIRST = ("outbox_references", "outbox_tokens", "outbox_reasons")
"""What is masked while what it is found by is there."""

_LAST = ("hashes", "refund_hashes", "credit_hashes")
_BITS = bytes.maketrans(b"\x00\x01\x02", b"011"), bytes.maketrans(b"01", b"\x00\x01")


@dataclass(frozen=True)
class TextPlace:
    """A column, and the institution whose text it holds, if it is anybody's."""

    column: str
    institution_id: Any

    @property
    def field(self) -> str:
        """The field of rows that it holds, or the name that its running text has."""
        return self.column.partition(".")[2]

    @property
    def is_whole(self) -> bool:
        """Whether its texts are sought by what they are, and so masked as a whole."""
        return self.field in (*TOKENS, *IDENTIFIERS, *REFERENCES)


@dataclass(frozen=True)
class CardNumberRow:
    """A text that is, or holds, a real card number, how many rows have it, and one of these."""

    place: TextPlace
    text: str
    rows: int
    row_no: int | None


class PlaceOfNumbers(Record):
    """How many card numbers are in one place, of one institution or nobody; a row that has one."""

    place: str
    institution_id: UUID | None
    card_numbers: int
    row_no: int | None


class LengthsChange(Record):
    """The declared lengths of numbers before and after, as text."""

    field: str = "numbers"
    old_value: str | None
    new_value: str | None


class Mask(Record):
    """What is to stand in the place of a text, wherever that stands in one place."""

    place: str
    institution_id: UUID | None
    text: str
    masked: str


def numbers_of(store: Store, institution_id: UUID, declared: str | None) -> NumberEvidence:
    """Return what is known of the numbers of an institution, and what is `declared` of them."""

    def load() -> Iterator[tuple[NumberForm, Tally]]:
        for row in store.rows(f"{_ADDRESS}:evidence", institution_id=institution_id):
            form = NumberForm(row["field"], row["length"], row["form"])
            bits = f"{int.from_bytes(row['met']):0{PLACES}b}".encode()
            met = bytearray(bits.translate(_BITS[1]))
            yield form, Tally(row["issued"], row["right"], met, row["is_taken"])

    return NumberEvidence(read_lengths(declared), institution_id, load)


def keep_numbers(store: Store, numbers: NumberEvidence) -> None:
    """Keep what is known now of the numbers of an institution, in the caller's transaction."""
    for form, tally in numbers.met_here().items():
        met = int(tally.met.translate(_BITS[0]), 2).to_bytes((PLACES + 7) // 8)
        store.execute(
            f"{_ADDRESS}:keep_evidence",
            institution_id=numbers.institution_id,
            **form.named,
            issued=tally.issued,
            right=tally.right,
            met=met,
            is_taken=tally.is_taken or not numbers.is_refused(form),
        )


def change_lengths(
    store: Store, institution_id: UUID, slug: str, change: LengthsChange, **by: Any
) -> list[LengthsChange]:
    """Declare the lengths of an institution's numbers, and audit that; return the change, if any.

    `by` has run_no, now and actor.
    """
    if change.old_value == change.new_value:
        return []
    of = {"institution_id": institution_id}
    store.execute(f"{_ADDRESS}:keep_lengths", **of, numbers=change.new_value)
    store.execute("institutions/changes:keep_setting", **of, **by, **change, slug=slug)
    return [change]


def refused_before(store: Store, numbers: NumberEvidence) -> list[Finding]:
    """Return a warning of earlier files whose rows would be taken since this one, said once.

    To be asked before the evidence of this file is kept.
    """
    fields = sorted(numbers.begins()) if numbers.institution_id else []
    if not fields:
        return []
    of = {"institution_id": numbers.institution_id, "fields": fields}
    return [
        make_finding(
            "reference_like_card",
            f"{row['row_count']:,} rows of {row['file_name']} were refused as card numbers,"
            " and would be taken now: import it again",
        )
        for row in store.rows(f"{_ADDRESS}:refused_before", **of)
    ]


def card_numbers(store: Store) -> list[PlaceOfNumbers]:
    """Return where card numbers are, by place and institution."""
    rows: defaultdict[TextPlace, list[CardNumberRow]] = defaultdict(list)
    for found in find_card_numbers(store):
        rows[found.place].append(found)
    return [
        PlaceOfNumbers(
            place=place.column,
            institution_id=place.institution_id,
            card_numbers=sum(each.rows for each in numbers),
            row_no=numbers[0].row_no,
        )
        for place, numbers in sorted(rows.items(), key=lambda item: str(item[0]))
    ]


def find_card_numbers(store: Store) -> list[CardNumberRow]:
    """Return every text that is, or holds, a real card number."""
    known = {
        row["institution_id"]: numbers_of(store, row["institution_id"], row["numbers"])
        for row in store.rows(f"{_ADDRESS}:declared")
    }
    doubts = [
        (found, each.text)
        for found in _texts(store)
        for each in numbers_in(found.text, found.place.field)
        if each.is_right
        and _is_refused(
            known.get(found.place.institution_id),
            NumberForm(found.place.field, len(each.text), each.form),
        )
    ]
    texts = [text for _, text in doubts]
    merchants = {row["text"] for row in store.rows(f"{_ADDRESS}:catalogued", texts=texts)}
    senders = defaultdict(list)
    for row in store.rows(f"{_ADDRESS}:senders", texts=texts):
        senders[row["text"]].append(known[row["institution_id"]])
    return [
        *dict.fromkeys(
            found
            for found, text in doubts
            if not (found.place.field not in TOKENS and text in merchants)
            and not (
                found.place.field in IDENTIFIERS
                and any(_is_taken(each, found.text) for each in senders[found.text])
            )
        )
    ]


def card_references(known: NumberEvidence, texts: Iterable[str]) -> set[str]:
    """Return those of some references that are card numbers, by what is known of them."""
    field = REFERENCES[0]
    return {
        text
        for text in texts
        for each in numbers_in(text, field)
        if each.is_right and _is_refused(known, NumberForm(field, len(each.text), each.form))
    }


def _is_taken(known: NumberEvidence, text: str) -> bool:
    """Say whether an institution's evidence takes all numbers of an identifier, in either field."""
    return all(
        any(not _is_refused(known, NumberForm(f, len(each.text), each.form)) for f in IDENTIFIERS)
        for each in numbers_in(text, IDENTIFIERS[0])
    )


def _is_refused(known: NumberEvidence | None, form: NumberForm) -> bool:
    """Say whether a right number in the store is a card number, and none that was taken once."""
    known = known or NumberEvidence()
    return known.is_refused(form) and not known.was_taken(form)


def mask(store: Store, masks: Iterable[Mask]) -> None:
    """Put masked texts in the place of others; the archive is not changed."""
    rows = [dict(each) for each in masks]
    store.execute(f"{_ADDRESS}:masks", masks=rows)
    places = {row["place"].replace(".", "_") for row in rows}
    for each in (*_FIRST, *sorted(places), *_LAST):
        store.execute(f"{_ADDRESS}:mask_{each}")


def _texts(store: Store) -> Iterator[CardNumberRow]:
    """Yield the texts of every column that may hold card numbers."""
    for query in store.names(_ADDRESS):
        if not query.startswith(f"{_ADDRESS}:texts_"):
            continue
        for row in store.rows(query, like=CARD_LIKE):
            place = TextPlace(row["place"], row["institution_id"])
            yield CardNumberRow(place, row["text"], row["row_count"], row["row_no"])
