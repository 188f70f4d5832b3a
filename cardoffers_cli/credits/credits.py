"""Credited rows as they were sent: list them, and show one beside the redemption that it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

CreditStatus = Literal["credited", "failed", "reversed"]


class Credit(Record, sheet="* redemption_id transaction_ref received_at"):
    """A credited row as it was sent (rules.md#credited-files): what it names may not be there."""

    credit_ref: str = shown("credit")
    status: str
    amount: Amount
    currency: str = shown(gives_way=5)
    credited_at: datetime = shown("credited at", gives_way=3)
    redemption_id: UUID | None = shown(gives_way=2)
    transaction_ref: str | None = shown("purchase", gives_way=1)
    failure_code: str | None = shown("failure", gives_way=4)
    received_at: datetime = shown("received at", gives_way=7)


class CreditRow(Credit):
    """A credited row; `credits` says how many there are that were asked for."""

    credits: int


class DueCredit(Credit):
    """A credited row with its file, and what is owed for the redemption that it is of, if any.

    The redemption is that of its redemption_id or, without one, of its transaction_ref.
    """

    file: str | None
    import_id: UUID | None
    line: int | None
    owed_redemption_id: UUID | None
    owed_transaction_ref: str | None
    redemption_status: str | None
    institution_payout_amount: Amount | None
    redeemed_at: datetime | None
    settled_at: datetime | None
    reversed_at: datetime | None


def list_credits(
    store: Store,
    institution_id: UUID,
    *,
    status: CreditStatus | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int,
) -> list[CreditRow]:
    """Return the credited rows of an institution, the newest first, of a status or of any."""
    return store.records(
        CreditRow,
        "credits/credits:listed",
        institution_id=institution_id,
        status=status,
        from_at=from_at,
        to_at=to_at,
        limit=limit,
    )


def find_credit(store: Store, institution_id: UUID, credit_ref: str) -> DueCredit:
    """Return one credited row by its reference; raise `NotFound`."""
    of = {"institution_id": institution_id, "credit_ref": credit_ref}
    found = store.records(DueCredit, "credits/credits:shown", **of)
    if not found:
        raise NotFound(
            "There is no credited row with this reference.",
            code="credit_not_found",
            hint="`cardoffers credit list -i INST --all` lists them with their references.",
        )
    return found[0]
