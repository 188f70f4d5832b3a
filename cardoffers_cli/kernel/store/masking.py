"""What screens show of texts that may hold card numbers: none, whatever the store holds.

Card numbers are refused wherever rows come in; a store of before may hold some until they are
masked (`cardoffers store mask-card-numbers`). What names a merchant is masked on every screen. A
reference is, unless those of its institution are of a form that looks like card numbers by chance:
support must be able to read those. Reports that an institution takes its own references from, and
the HTTP contract, have them as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from cardoffers_cli.kernel.store.card_numbers import card_references, numbers_of
from cardoffers_cli.kernel.store.institutions import institution_of
from cardoffers_cli.kernel.words import cards
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

R = TypeVar("R", bound=Record)

_REFERENCE = "transaction_ref"


def without_cards(value: Any) -> Any:
    """Return a document with every real card number masked in its texts, but for references."""
    match value:
        case str():
            return cards.without_card_numbers(value) if len(value) >= cards.LEAST_IN_TEXT else value
        case Record():
            return type(value)(**_members_without_cards(value))
        case dict():
            return _members_without_cards(value)
        case list():
            return [without_cards(item) for item in value]
        case _:
            return value


def _members_without_cards(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: item if name == _REFERENCE else without_cards(item) for name, item in value.items()
    }


def without_card_references(store: Store, institution_id: UUID, rows: Iterable[R]) -> list[R]:
    """Return rows with their references masked where these are real card numbers."""
    all_rows = list(rows)
    texts = {row[_REFERENCE] for row in all_rows if row.get(_REFERENCE)}
    doubtful = {text for text in texts if cards.may_hold_card_number(text)}
    if not doubtful:
        return all_rows
    owner = institution_of(store, institution_id)
    refused = card_references(numbers_of(store, owner.id, owner.numbers), doubtful)
    return [
        replace(row, transaction_ref=mask(row[_REFERENCE]))  # type: ignore[type-var]
        if row.get(_REFERENCE) in refused
        else row
        for row in all_rows
    ]
