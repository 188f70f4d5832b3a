"""Number: the tokens and merchant identifiers of staged rows get their numbers in the store.

Fingerprints join rows to numbers, so texts are compared once per distinct text and not once per
row. That two texts share a fingerprint is checked here: it will hardly ever be seen, and must never
pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import CardoffersError
from cardoffers_cli.store.interning import intern_identifiers, intern_payers

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.store.store import Store


def number(store: Store, institution_id: UUID) -> None:
    """Make `payer_numbers` and `identifier_numbers` from what `stage` met."""
    store.execute("pipeline/number:staged_payers", institution_id=institution_id)
    store.execute("pipeline/number:staged_identifiers")
    intern_payers(store)
    intern_identifiers(store)
    store.execute("pipeline/number:payer_numbers", institution_id=institution_id)
    store.execute("pipeline/number:identifier_numbers")
    if store.value("pipeline/number:collisions"):
        raise CardoffersError(
            "Two different tokens of this file have the same fingerprint.",
            code="fingerprint_collision",
            hint="Import it again: the fingerprints are drawn anew each time.",
        )
