"""Number: the tokens and merchant identifiers of staged rows get their numbers in the store.

Of a row that may lack a cardholder, or an instrument, what is there gets its number. Fingerprints
join rows to numbers, so texts are compared once per distinct text and not once per row. That two
texts share a fingerprint is checked here: it will hardly ever be seen, and must never pass.
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

    Row = dict[str, Any]


_PAYER = ("cardholder_token", "instrument_token")
_IDENTIFIER = ("merchant_identifier_type", "merchant_identifier")
_MOST = 50_000
"""Pairs of texts whose numbers are remembered while a store is open."""


def number(store: Store, staged: StagedWhole, institution_id: UUID) -> Numbered:
    """Give the texts behind the fingerprints of staged rows their numbers.

    Those of few rows are remembered: the next call of a cardholder finds them without a statement.
    """
    payers = _payers(store, staged, institution_id)
    identifiers = _identifiers(store, staged.merchants)
    numbers = (payers, identifiers)
    of_many = store.height(staged.tokens) is None  # chunks of few were looked at as one
    if staged.collides or (of_many and store.value("pipeline/number:collisions", *numbers)):
        raise CardoffersError(
            "Two different tokens of this file have the same fingerprint.",
            code="fingerprint_collision",
            hint="Import it again: the fingerprints are drawn anew each time.",
        )
    refs = store.make(f"pipeline/number:staged_{staged.kind.name}", staged.rows, *numbers)
    return Numbered(payers=payers, identifiers=identifiers, refs=refs)


def _payers(store: Store, staged: StagedWhole, institution_id: UUID) -> Table:
    of = {"institution_id": institution_id}
    texts = staged.tokens
    if "cardholder_token" not in staged.kind.required:
        intern_payers(store, store.make("pipeline/number:staged_payers", texts, **of))
        return store.make("pipeline/number:partial_payer_numbers", texts, **of)
    remembered = _Remembered(store, "payer", _PAYER, ("cardholder_no", "instrument_no"), of)
    if (numbers := remembered.numbers(texts)) is None:
        intern_payers(store, store.make("pipeline/number:staged_payers", texts, **of))
        numbers = store.make("pipeline/number:payer_numbers", texts, **of)
    return numbers


def _identifiers(store: Store, texts: Table) -> Table:
    remembered = _Remembered(store, "identifier", _IDENTIFIER, ("identifier_no",), {})
    if (numbers := remembered.numbers(texts)) is None:
        intern_identifiers(store, texts)
        numbers = store.make("pipeline/number:identifier_numbers", texts)
    return numbers


class _Remembered:
    """The numbers of texts of one kind (`of` an institution), as far as they are remembered."""

    def __init__(
        self,
        store: Store,
        kind: str,
        texts: tuple[str, ...],
        numbers: tuple[str, ...],
        of: Row,
    ) -> None:
        self._store = store
        self._kind = kind
        self._texts = texts
        self._numbers = numbers
        self._of = of
        self._address = f"pipeline/number:{kind}_numbers"

    def numbers(self, texts: Table) -> Table | None:
        """Return the numbers of texts that are few and all known: nothing is to be written then."""
        rows = self._store.at_hand(texts)
        if rows is None:
            return None
        known = self._known()
        found = [known.get(self._text(row)) for row in rows]
        if all(found):
            columns = zip(*found, strict=True) if found else [()] * len(self._numbers)
            lists: Row = {
                f"{name}s": [*each] for name, each in zip(self._numbers, columns, strict=True)
            }
            lists[f"{self._kind}s"] = [row[self._kind] for row in rows]
            return self._store.define(f"pipeline/number:known_{self._kind}s", **lists, **self._of)
        numbers = self._store.make(self._address, texts, **self._of)
        self._store.compute(numbers)
        self._remember(rows, self._store.at_hand(numbers) or [])
        return numbers if self._store.height(numbers) == len(rows) else None

    def _remember(self, rows: list[Row], numbers: list[Row]) -> None:
        known = self._known()
        if len(known) >= _MOST:
            known.clear()
        of = {each[self._kind]: tuple(each[name] for name in self._numbers) for each in numbers}
        known |= {self._text(row): of[row[self._kind]] for row in rows if row[self._kind] in of}

    def _known(self) -> dict[tuple[str, ...], tuple[int, ...]]:
        asked = (self._address, *self._of.values())
        return self._store.memory.recall(asked, (self._address,), dict, grows=True)

    def _text(self, row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in self._texts)
