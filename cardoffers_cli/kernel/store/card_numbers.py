"""Card numbers in the store, and what is known of the numbers of its institutions.

Every door asks the same judge (`kernel/words/cards.py`): of what an institution sends, here for
what stands in the store, which may hold none. `kernel/store/card_numbers.sql` names the few text
columns that are not looked at; any other one is, and is masked. Numbers that the catalogue holds as
merchants' identifiers are none, nor what was taken as references by all that an institution sent
until then. The numbers themselves go nowhere.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.disk.outputs import read_private_file
from cardoffers_cli.kernel.store.layout import mask_key_path
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
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

_ADDRESS = "kernel/store/card_numbers"
_FIRST = ("outbox_references", "outbox_tokens", "outbox_reasons")
"""What is masked while what it is found by is there."""

_LAST = ("hashes", "refund_hashes", "credit_hashes")
_HEX = 32
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
            marks = bytearray(bits.translate(_BITS[1]))
            yield form, Tally(row["issued"], row["right"], marks, row["is_taken"])

    return NumberEvidence(read_lengths(declared), institution_id, load)


def keep_numbers(store: Store, numbers: NumberEvidence) -> None:
    """Keep what is known now of the numbers of an institution, in the caller's transaction."""
    for form, tally in numbers.met_here().items():
        marks = int(tally.met.translate(_BITS[0]), 2).to_bytes((PLACES + 7) // 8)
        store.execute(
            f"{_ADDRESS}:keep_evidence",
            institution_id=numbers.institution_id,
            **form.named,
            issued=tally.issued,
            right=tally.right,
            met=marks,
            is_taken=tally.is_taken or not numbers.is_refused(form),
        )


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
    for row in find_card_numbers(store):
        rows[row.place].append(row)
    return [
        PlaceOfNumbers(
            place=place.column,
            institution_id=place.institution_id,
            card_numbers=sum(number.rows for number in numbers),
            row_no=numbers[0].row_no,
        )
        for place, numbers in sorted(rows.items(), key=lambda item: str(item[0]))
    ]


def find_card_numbers(store: Store) -> list[CardNumberRow]:
    """Return every text that is, or holds, a real card number."""
    evidence = {
        row["institution_id"]: numbers_of(store, row["institution_id"], row["numbers"])
        for row in store.rows(f"{_ADDRESS}:declared")
    }
    doubts = [
        (text_row, number.text)
        for text_row in _texts(store)
        for number in numbers_in(text_row.text, text_row.place.field)
        if number.is_right
        and _is_refused(
            evidence.get(text_row.place.institution_id),
            NumberForm(text_row.place.field, len(number.text), number.form),
        )
    ]
    texts = [text for _, text in doubts]
    merchants = {row["text"] for row in store.rows(f"{_ADDRESS}:catalogued", texts=texts)}
    senders = defaultdict(list)
    for row in store.rows(f"{_ADDRESS}:senders", texts=texts):
        senders[row["text"]].append(evidence[row["institution_id"]])
    return [
        *dict.fromkeys(
            text_row
            for text_row, text in doubts
            if not (text_row.place.field not in TOKENS and text in merchants)
            and not (
                text_row.place.field in IDENTIFIERS
                and any(_is_taken(sender, text_row.text) for sender in senders[text_row.text])
            )
        )
    ]


def card_references(facts: NumberEvidence, texts: Iterable[str]) -> set[str]:
    """Return those of some references that are card numbers, by what is known of them."""
    field = REFERENCES[0]
    return {
        text
        for text in texts
        for item in numbers_in(text, field)
        if item.is_right and _is_refused(facts, NumberForm(field, len(item.text), item.form))
    }


def _is_taken(facts: NumberEvidence, text: str) -> bool:
    """Say whether an institution's evidence takes all numbers of an identifier, in either field."""
    return all(
        any(not _is_refused(facts, NumberForm(f, len(item.text), item.form)) for f in IDENTIFIERS)
        for item in numbers_in(text, IDENTIFIERS[0])
    )


def _is_refused(facts: NumberEvidence | None, form: NumberForm) -> bool:
    """Say whether a right number in the store is a card number, and none that was taken once."""
    facts = facts or NumberEvidence()
    return facts.is_refused(form) and not facts.was_taken(form)


def masked_references(
    store_path: Path, institution_id: UUID, references: Callable[[], Iterable[str]]
) -> dict[str, str]:
    """Return what each reference would be masked as; nothing, where nothing was ever masked."""
    path = mask_key_path(store_path)
    if not path.exists():
        return {}
    key = read_private_file(path).strip()
    return {reference: masked_text(key, institution_id, reference) for reference in references()}


def masked_text(key: str, institution_id: UUID | None, text: str) -> str:
    """Return what stands in the place of a text that is a card number."""
    message = f"{institution_id or ''}\x1f{text}".encode()
    return f"masked-{hmac.new(bytes.fromhex(key), message, sha256).hexdigest()[:_HEX]}"


def mask(store: Store, masks: Iterable[Mask]) -> None:
    """Put masked texts in the place of others; the archive is not changed."""
    rows = [dict(text_mask) for text_mask in masks]
    store.execute(f"{_ADDRESS}:masks", masks=rows)
    places = {row["place"].replace(".", "_") for row in rows}
    for place in (*_FIRST, *sorted(places), *_LAST):
        store.execute(f"{_ADDRESS}:mask_{place}")


def _texts(store: Store) -> Iterator[CardNumberRow]:
    """Yield the texts of every column that may hold card numbers."""
    for query in store.names(_ADDRESS):
        if not query.startswith(f"{_ADDRESS}:texts_"):
            continue
        for row in store.rows(query, like=CARD_LIKE):
            place = TextPlace(row["place"], row["institution_id"])
            yield CardNumberRow(place, row["text"], row["row_count"], row["row_no"])
