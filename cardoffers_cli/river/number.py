"""Number: the tokens and merchant identifiers of staged rows get their numbers in the store.

Of a row that may lack a cardholder, or an instrument, what is there gets its number; a kind of rows
without either has nothing to be numbered. Fingerprints join rows to numbers, so texts are compared
once per distinct text and not once per row. That two texts share a fingerprint is checked here: it
will hardly ever be seen, and must never pass. Of few purchases the numbers are put beside the rows
that are at hand, and no table is joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store import interning
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.river.handles import Numbered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.river.handles import StagedImport

    Row = Mapping[str, Any]


def number(store: Store, staged: StagedImport, institution_id: UUID) -> Numbered:
    """Give the texts behind the fingerprints of staged rows their numbers."""
    if staged.collides:
        raise _collision()
    if not staged.kind.has_tokens:
        # Rows taken as they are name neither cardholders nor merchants by themselves.
        return Numbered(
            payers=store.define(
                "river/number:few_payers",
                payers=[],
                cardholder_nos=[],
                instrument_nos=[],
                institution_id=institution_id,
            ),
            identifiers=store.define(
                "river/number:few_identifiers", identifiers=[], identifier_nos=[]
            ),
            refs=store.make(f"river/number:staged_{staged.kind.name}", staged.rows),
        )
    rows = store.at_hand(staged.rows)
    if rows is not None and staged.kind is PURCHASES:
        return _number_few(store, staged, rows, institution_id)
    of = {"institution_id": institution_id}
    interning.intern_payers(store, store.make("river/number:staged_payers", staged.tokens, **of))
    is_partial = "cardholder_token" not in staged.kind.required
    payers = store.make("river/number:payer_numbers", staged.tokens, **of, is_partial=is_partial)
    interning.intern_identifiers(store, staged.merchants)
    identifiers = store.make("river/number:identifier_numbers", staged.merchants)
    if store.value("river/number:collisions", payers, identifiers):
        raise _collision()
    numbers = (payers, identifiers)
    refs = store.make(f"river/number:staged_{staged.kind.name}", staged.rows, *numbers)
    return Numbered(payers=payers, identifiers=identifiers, refs=refs)


def _number_few(
    store: Store, staged: StagedImport, rows: Sequence[Row], institution_id: UUID
) -> Numbered:
    tokens, merchants = store.at_hand(staged.tokens) or [], store.at_hand(staged.merchants) or []
    pairs = {row["payer"]: (row["cardholder_token"], row["instrument_token"]) for row in tokens}
    typed = {
        row["identifier"]: (row["merchant_identifier_type"], row["merchant_identifier"])
        for row in merchants
    }
    of_pair = interning.number_payers(store, institution_id, set(pairs.values()))
    of_typed = interning.number_identifiers(store, set(typed.values()))
    payers = {payer: of_pair[pair] for payer, pair in pairs.items()}
    identifiers = {key: of_typed[text] for key, text in typed.items()}
    return Numbered(
        payers=store.define(
            "river/number:few_payers",
            payers=[*payers],
            cardholder_nos=[number for number, _ in payers.values()],
            instrument_nos=[number for _, number in payers.values()],
            institution_id=institution_id,
        ),
        identifiers=store.define(
            "river/number:few_identifiers",
            identifiers=[*identifiers],
            identifier_nos=[*identifiers.values()],
        ),
        refs=store.widen(
            "river/number:few_refs",
            staged.rows,
            cardholder_no=[payers[row["payer"]][0] for row in rows],
            instrument_no=[payers[row["payer"]][1] for row in rows],
            identifier_no=[identifiers.get(row["identifier"]) for row in rows],
            parameters={"institution_id": institution_id},
        ),
    )


def _collision() -> CardoffersError:
    return CardoffersError(
        "Two different tokens of this file have the same fingerprint.",
        code="fingerprint_collision",
        hint="Import it again: the fingerprints are drawn anew each time.",
    )
