"""Purchases by their references: by a stored hash first, and then by the text.

A look through the texts of all references costs what the history is long; the hashes are one narrow
column of the store (`purchase_refs`), also of purchases whose rows are in its archive. They are
MD5, halved, because that is the same for ever; the engine's own hash may change with its version.
Each is written with its purchase (`river/admit.py`), and the audit `references_are_indexed`
computes them again. What a person looks for is found by three statements, of which each but the
first reads the few rows that the one before it named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.derived import ref_hash

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


def purchases_of_refs(
    store: Store, refs: Sequence[str], institution_id: UUID | None = None
) -> list[int]:
    """Return the numbers of the purchases with these references, in order.

    Those of one institution, or of all.
    """
    of = {"refs": list(refs), "institution_id": institution_id}
    hashes = [row["ref_hash"] for row in store.rows("kernel/store/references:hashes", **of)]
    numbers = _purchases_of(store, hashes)
    if not numbers:
        return []
    between = {"first": min(numbers), "last": max(numbers)}
    rows = store.rows("kernel/store/references:of_refs", **between, **of, purchase_nos=numbers)
    return [row["purchase_no"] for row in rows]


def any_known(store: Store, institution_id: UUID, refs: Sequence[str]) -> bool:
    """Whether an institution may have a purchase with one of a few references, by their hashes."""
    return bool(_purchases_of(store, [ref_hash(institution_id, ref) for ref in refs]))


def _purchases_of(store: Store, hashes: Sequence[int]) -> list[int]:
    """Return the numbers of the purchases with these hashes."""
    if not hashes:
        return []
    between = {"least": min(hashes), "most": max(hashes)}
    rows = store.rows("kernel/store/references:of_hashes", **between, hashes=list(hashes))
    return [row["purchase_no"] for row in rows]
