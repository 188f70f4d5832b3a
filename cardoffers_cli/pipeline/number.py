"""Number: the tokens and merchant identifiers of staged rows get their numbers in the store.

Fingerprints join rows to numbers, so texts are compared once per distinct text and not once per
row. That two texts share a fingerprint is checked here: it will hardly ever be seen, and must never
pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.pipeline.handles import Numbered
from cardoffers_cli.store.interning import intern_identifiers, intern_payers

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.pipeline.handles import StagedWhole
    from cardoffers_cli.store.store import Store


def number(store: Store, staged: StagedWhole, institution_id: UUID) -> Numbered:
    """Give the texts behind the fingerprints of staged rows their numbers."""
    of = {"institution_id": institution_id}
    intern_payers(store, store.make("pipeline/number:staged_payers", staged.tokens, **of))
    intern_identifiers(store, staged.merchants)
    payers = store.make("pipeline/number:payer_numbers", staged.tokens, **of)
    identifiers = store.make("pipeline/number:identifier_numbers", staged.merchants)
    if store.value("pipeline/number:collisions", payers, identifiers):
        raise CardoffersError(
            "Two different tokens of this file have the same fingerprint.",
            code="fingerprint_collision",
            hint="Import it again: the fingerprints are drawn anew each time.",
        )
    refs = store.make("pipeline/number:staged_refs", staged.rows, payers, identifiers)
    return Numbered(payers=payers, identifiers=identifiers, refs=refs)
