"""Money trails: on which statement and invoice redemptions stand, and what all of it comes to.

What an institution has none of is missing here, so that one which closes no month reads as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class DocumentLine(Record):
    """A line of a redemption on a statement, an invoice or a credit note: entry or adjustment.

    Of a statement `bank_state` says what is paid of it, with the bank's own code
    (rules.md#bank-verdicts).
    """

    kind: str
    number: str
    line: str = shown(gives_way=3)
    amount: Amount = shown(gives_way=1)
    currency: str = shown(gives_way=1)
    closed_at: datetime = shown("closed at", gives_way=4)
    bank_state: str | None = if_any("the bank")
    bank_code: str | None = if_any("code", gives_way=2)
    booked_at: datetime | None = if_any("booked at", gives_way=5)


class LoopTotals(Record):
    """What was credited by an institution, and what is closed of it, in one currency.

    `redemptions` are those that the last reconciliation looked at, and `credited` those of them
    that are in order; None where there was none, as the amounts are.
    """

    institution: str
    currency: str
    redemptions: int | None = shown("reconciled", gives_way=2)
    credited: int | None = shown("in order", gives_way=1)
    credited_amount: Amount | None = shown("credited")
    stated_amount: Amount | None = shown("on statements")
    invoiced_amount: Amount | None = shown("on invoices", gives_way=3)


def stories_of(
    store: Store, institution_id: UUID, redemption_nos: Sequence[int]
) -> dict[int, Mapping[str, Any]]:
    """Return what became of each of these redemptions, by its number (rules.md#stories)."""
    of = {"institution_id": institution_id, "redemption_nos": list(redemption_nos)}
    rows = store.rows("answers/money_trails:stories", **of) if redemption_nos else ()
    return {row["redemption_no"]: row for row in rows}


def documents_of(
    store: Store, institution_id: UUID, redemption_nos: Sequence[int]
) -> dict[int, list[DocumentLine]]:
    """Return what each of these redemptions stands on, by its number, in the order of closing."""
    documents: dict[int, list[DocumentLine]] = {}
    of = {"institution_id": institution_id}
    if redemption_nos and store.value("answers/money_trails:is_any_closed", **of):
        nos = list(redemption_nos)
        for row in store.rows("answers/money_trails:documents", **of, redemption_nos=nos):
            documents.setdefault(row["redemption_no"], []).append(DocumentLine.part(row))
    return documents
