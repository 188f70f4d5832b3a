"""Look for real card numbers in the store, which may hold none, and mask those it holds.

Tokens and what people write may hold none at all. References and identifiers are often numbers, and
of numbers in an issuer's range one in ten is right by chance alone: which of them are references,
all those of an institution say (`domain/card_forms.py`), as those of a file do when it comes in; a
few are enough here, where somebody looks at what is found. Identifiers that a catalogue knows are
merchants'. Bodies of events and messages are made from what is looked at, so they are not. The
numbers themselves go nowhere.

A stored text is found by its place, which is `table.column`, and replaced wherever it stands there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.card_forms import ReferenceForm, Tally, key_of
from cardoffers_cli.domain.cards import is_card_number, is_issued, is_merchants, numbers_in
from cardoffers_cli.domain.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from cardoffers_cli.store.store import Store

REFERENCE = "transaction_ref"
"""What all columns of references are judged as, and masked as."""

_MASKED = (
    *(
        "outbox_references",
        "outbox_tokens",
        "outbox_reasons",
    ),  # while what they are found by is there
    *("cardholders_cardholder_token", "instruments_instrument_token"),
    *("purchases_transaction_ref", "redemptions_transaction_ref"),
    *("rejects_transaction_ref", "duplicates_transaction_ref"),
    *("purchase_details_merchant_descriptor", "purchase_details_mcc", "purchase_details_network"),
    *("identifiers_merchant_identifier", "audit_log_old_value", "audit_log_new_value"),
    *("ledger_entries_reversal_reason", "ledger_moves_reason", "imports_file_name"),
    *("institutions_name", "merchants_name", "offer_texts_title", "offer_texts_description"),
    *("api_keys_name", "hashes"),
)
"""What is masked, in this order."""


@dataclass(frozen=True)
class TextPlace:
    """A column, and the institution whose text it holds, if it is anybody's.

    `together` is what its texts are judged together with; in running text (`is_inside`) a number
    may stand anywhere.
    """

    column: str
    institution_id: Any
    together: str | None
    is_inside: bool

    @property
    def judged(self) -> tuple[str | None, Any]:
        """What is counted together."""
        return self.together, self.institution_id


@dataclass(frozen=True)
class FoundNumber:
    """A text that is, or holds, a real card number, and a row that has it."""

    place: TextPlace
    row_no: int | None
    text: str


class PlaceOfNumbers(Record):
    """How many card numbers are in one place, of one institution or nobody; a row that has one."""

    place: str
    institution_id: UUID | None
    card_numbers: int
    row_no: int | None


class Mask(Record):
    """What is to stand in the place of a text, wherever that stands in one place."""

    place: str
    institution_id: UUID | None
    text: str
    masked: str


def card_numbers(store: Store) -> list[PlaceOfNumbers]:
    """Return where card numbers are, by place and institution."""
    rows: defaultdict[TextPlace, list[int | None]] = defaultdict(list)
    for found in find_card_numbers(store):
        rows[found.place].append(found.row_no)
    return [
        PlaceOfNumbers(
            place=place.column,
            institution_id=place.institution_id,
            card_numbers=len(numbers),
            row_no=numbers[0],
        )
        for place, numbers in sorted(rows.items(), key=lambda item: str(item[0]))
    ]


def find_card_numbers(store: Store) -> Iterator[FoundNumber]:
    """Yield every text that is, or holds, a real card number."""
    tallies = _tallies(store)
    references = {judged: tally.references(fewest=1) for judged, tally in tallies.items()}
    for place, row_no, text in _texts(store, "whole", "inside"):
        if place.is_inside:
            is_found = any(map(_is_card, numbers_in(text)))
        else:
            is_reference = any(form.has(key_of(text)) for form in references.get(place.judged, ()))
            is_found = is_card_number(text) and not is_reference
        if is_found:
            yield FoundNumber(place, row_no, text)


def reference_forms(store: Store, institution_id: UUID) -> list[ReferenceForm]:
    """Return the forms in which references of an institution look like card numbers by chance."""
    filled = store.value("services/card_numbers:filled_references", institution_id=institution_id)
    tally = Tally(filled=int(filled))
    query = "services/card_numbers:numeric_references"
    for page in store.pages(query, institution_id=institution_id):
        for row in page:
            _count(tally, row["text"])
    return tally.references(fewest=1)


def mask(store: Store, masks: Iterable[Mask]) -> None:
    """Put masked texts in the place of others; the archive is not changed."""
    store.execute("services/card_numbers:masks", masks=[dict(each) for each in masks])
    for each in _MASKED:
        store.execute(f"services/card_numbers:mask_{each}")


def _tallies(store: Store) -> dict[tuple[str | None, Any], Tally]:
    """Count the numbers of what is judged together."""
    tallies = {
        (row["together"], row["institution_id"]): Tally(filled=row["filled"])
        for row in store.rows("services/card_numbers:filled")
    }
    for place, _, text in _texts(store, "whole"):
        if place.together:
            _count(tallies[place.judged], text)
    return tallies


def _count(tally: Tally, text: str) -> None:
    key = key_of(text)
    tally.values[key] += 1
    if is_issued(text):
        tally.issued[key] += 1
        tally.right[key] += is_card_number(text)


def _is_card(number: str) -> bool:
    return is_card_number(number) and not is_merchants(number)


def _texts(store: Store, *queries: str) -> Iterator[tuple[TextPlace, int | None, str]]:
    """Yield texts that could be, or hold, card numbers: place, row_no and text.

    The query `whole` has those that could be one, `inside` those that could hold some.
    """
    for name in queries:
        for page in store.pages(f"services/card_numbers:{name}"):
            for row in page:
                place = TextPlace(
                    row["place"], row["institution_id"], row["together"], name == "inside"
                )
                if not (row["may_be_merchants"] and is_merchants(row["text"])):
                    yield place, row["row_no"], row["text"]
