"""Number: the tokens and merchant identifiers of staged rows get their numbers in the store.

Fingerprints join rows to numbers, so texts are compared once per distinct text and not once per
row. That two texts share a fingerprint is checked here: it will hardly ever be seen, and must never
pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.pipeline.handles import Numbered
from cardoffers_cli.store.interning import intern_identifiers, intern_payers

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.pipeline.handles import StagedWhole
    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store


def number(store: Store, staged: StagedWhole, institution_id: UUID) -> Numbered:
    """Give the texts behind the fingerprints of staged rows their numbers."""
    of = {"institution_id": institution_id}
    payers = _known(store, "payer", staged.tokens, **of)
    if payers is None:
        intern_payers(store, store.make("pipeline/number:staged_payers", staged.tokens, **of))
        payers = store.make("pipeline/number:payer_numbers", staged.tokens, **of)
    identifiers = _known(store, "identifier", staged.merchants)
    if identifiers is None:
        intern_identifiers(store, staged.merchants)
        identifiers = store.make("pipeline/number:identifier_numbers", staged.merchants)
    numbers = (payers, identifiers)
    of_many = store.height(staged.tokens) is None  # chunks of few were looked at as one
    if staged.collides or (of_many and store.value("pipeline/number:collisions", *numbers)):
        raise CardoffersError(
            "Two different tokens of this file have the same fingerprint.",
            code="fingerprint_collision",
            hint="Import it again: the fingerprints are drawn anew each time.",
        )
    refs = store.make("pipeline/number:staged_refs", staged.rows, *numbers)
    return Numbered(payers=payers, identifiers=identifiers, refs=refs)


def _known(store: Store, what: str, texts: Table, **of: Any) -> Table | None:
    """Return the numbers of texts that are few and all known: then nothing needs to be written."""
    if (count := store.height(texts)) is None:
        return None
    numbers = store.make(f"pipeline/number:{what}_numbers", texts, **of)
    return numbers if store.compute(numbers) == count else None
