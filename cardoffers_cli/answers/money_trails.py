"""Money trails: whether redemptions were credited, and on which statement and invoice they stand.

What an institution has none of is missing here, so that one which sends no credited rows and closes
no month reads as before. What the bank said of a statement, `payouts/questions.py` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.payouts.questions import payout_states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class RedemptionCredit(Record):
    """What the last reconciliation said of a redemption (rules.md#verdicts).

    `credited_amount` stands as credited, in so many rows; `credit_ref` is the last that credited.
    Nobody expects it sooner than `credit_days` after the redemption.
    """

    verdict: str
    credited_amount: Amount
    currency: str
    credited_rows: int
    credit_ref: str | None
    credited_at: datetime | None
    reconciled_at: datetime
    credit_days: int


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


class MoneyTrail(Record):
    """What became of the money of one redemption; None where nothing is known of it."""

    credit: RedemptionCredit | None = if_any()
    documents: list[DocumentLine] | None = if_any()


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


def credits_of(
    store: Store, institution_id: UUID, redemption_ids: Sequence[UUID]
) -> dict[UUID, RedemptionCredit]:
    """Return what the last reconciliation said of redemptions, of those it said anything of."""
    rows = store.rows(
        "answers/money_trails:credits",
        institution_id=institution_id,
        redemption_ids=[str(redemption_id) for redemption_id in redemption_ids],
    )
    return {row["redemption_id"]: RedemptionCredit.part(row) for row in rows}


# The money trails of redemptions, with what the bank said of the statements that they stand on.


def trails_of(
    store: Store, institution_id: UUID, redemption_ids: Sequence[UUID], now: datetime
) -> dict[UUID, MoneyTrail]:
    """Return the money trails of redemptions, of those that anything is known of."""
    if not redemption_ids:
        return {}
    credited = credits_of(store, institution_id, redemption_ids)
    documents: dict[UUID, list[DocumentLine]] = {}
    lines = []  # of each redemption in the order of closing
    of = {"institution_id": institution_id}
    if store.value("answers/money_trails:is_any_closed", **of):
        ids = [str(each) for each in redemption_ids]
        lines = store.rows("answers/money_trails:documents", **of, redemption_ids=ids)
    paid = {}
    if any(each["kind"] == "statement" for each in lines):
        states = payout_states(store, now, institution_id=institution_id)
        paid = {each.number: each for each in states}
    for each in lines:
        bank = paid.get(each["number"])
        line = DocumentLine.part(
            each,
            bank_state=bank.state if bank else None,
            bank_code=bank.bank_code if bank else None,
            booked_at=bank.booked_at if bank else None,
        )
        documents.setdefault(each["redemption_id"], []).append(line)
    return {
        each: MoneyTrail(credit=credited.get(each), documents=documents.get(each))
        for each in dict.fromkeys((*credited, *documents))
    }
