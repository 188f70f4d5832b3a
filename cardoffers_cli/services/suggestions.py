"""Which known merchant an unknown identifier may be of, by what purchases say of it.

Descriptors never resolve a purchase: what is found here is a suggestion, which a person answers
(rules.md#suggestions). All of it is columns: texts are normalised once each, names that may be
alike are compared once each, whatever number of identifiers or merchants bears them, and the
features of each pair are weighed as `domain/merchant_weights.py` says. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.merchant_weights import WEIGHTS

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store

Compared = dict[str, "Table"]
"""The temporary tables of one comparison, by name."""

_AT = "services/suggestions:"
_STEPS = (
    "known_said normal sought known_names known_words candidates likeness pairs numbers features"
).split()


def compare(store: Store, institution_id: UUID | None = None) -> Compared:
    """Hold the unknown identifiers of an institution, or of all, against the known merchants."""
    tables: Compared = {
        "said": store.make(f"{_AT}said", institution_id=institution_id),
    }
    for step in _STEPS:
        address = f"{_AT}{step}"
        tables[step] = store.make(address, *store.declared_by(address, tables))
    tables["scored"] = store.make(f"{_AT}scored", tables["features"], weights=WEIGHTS)
    return tables
