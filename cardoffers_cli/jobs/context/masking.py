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

from cardoffers_cli.domain.card_forms import key_of
from cardoffers_cli.domain.cards import LEAST_IN_TEXT, is_card_number, without_card_numbers
from cardoffers_cli.domain.records import Record
from cardoffers_cli.domain.tokens import mask
from cardoffers_cli.services.card_numbers import reference_forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from cardoffers_cli.store.store import Store

R = TypeVar("R", bound=Record)

_REFERENCE = "transaction_ref"


def without_cards(value: Any) -> Any:
    """Return a document with every real card number masked in its texts, but for references."""
    match value:
        case str():
            return without_card_numbers(value) if len(value) >= LEAST_IN_TEXT else value
        case Record():
            return type(value)(**_members_without_cards(value))
        case dict():
            return _members_without_cards(value)
        case list():
            return [without_cards(each) for each in value]
        case _:
            return value


def _members_without_cards(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: each if name == _REFERENCE else without_cards(each) for name, each in value.items()
    }


def without_card_references(store: Store, institution_id: UUID, rows: Iterable[R]) -> list[R]:
    """Return rows with their references masked where these are real card numbers."""
    shown = list(rows)
    if not any(_looks_like_card(row) for row in shown):
        return shown
    forms = reference_forms(store, institution_id)
    return [
        replace(row, transaction_ref=mask(row[_REFERENCE]))  # type: ignore[type-var]
        if _looks_like_card(row) and not any(form.has(key_of(row[_REFERENCE])) for form in forms)
        else row
        for row in shown
    ]


def _looks_like_card(row: Record) -> bool:
    return row.get(_REFERENCE) is not None and is_card_number(row[_REFERENCE])
