"""Look for real card numbers in the store, which may hold none (specification, What it does).

Tokens and what people write may hold none at all. References, identifiers and descriptors are often
numbers, and of numbers in an issuer's range one in ten is right by chance alone: there it is a
fault where more than half of an institution's are right, which chance does not do. Bodies of events
and messages are made from what is looked at, so they are not. The numbers themselves go nowhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.cards import is_card_number, is_issued

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.store.store import Store


@dataclass(frozen=True)
class Place:
    """A column, and the institution whose text it holds, if it is anybody's."""

    column: str
    institution_id: Any
    is_numeric: bool


def card_numbers(store: Store) -> list[dict[str, Any]]:
    """Return where card numbers are: place, institution_id, how many, and a row that holds one."""
    looked_at: Counter[Place] = Counter()
    found: Counter[Place] = Counter()
    first: dict[Place, int | None] = {}
    for row in _texts(store):
        place = Place(row["place"], row["institution_id"], row["is_numeric"])
        looked_at[place] += is_issued(row["text"])
        if is_card_number(row["text"]):
            found[place] += 1
            first.setdefault(place, row["row_no"])
    return [
        {
            "place": place.column,
            "institution_id": place.institution_id,
            "card_numbers": count,
            "row_no": first[place],
        }
        for place, count in sorted(found.items(), key=lambda item: str(item[0]))
        if not place.is_numeric or 2 * count > looked_at[place]
    ]


def _texts(store: Store) -> Iterator[dict[str, Any]]:
    for name in ("whole", "inside"):
        for page in store.pages(f"services/card_numbers:{name}"):
            yield from page
