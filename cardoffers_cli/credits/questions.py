"""What reconciliation found: list the findings, show one, accept one; and what is open, in sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


FindingState = Literal["open", "accepted", "resolved"]


class ListedFinding(Record):
    """A finding, in the shape of `reconcile list --format json`.

    `amount` is the cashback of the redemption, or what the statement pays, None of a credited row
    or an entry of a bank alone; `credited_amount` is what stands as credited, or as paid. `paid_as`
    is the number of the statement or, of such an entry, the payment that it names. `age_days`
    counts up to now or, of a resolved one, to the run that resolved it. What banks said of no
    payout of ours is of no institution.
    """

    finding_id: UUID = shown("finding")
    code: str = shown("verdict")
    redemption_id: UUID | None = shown("redemption", gives_way=5)
    transaction_ref: str | None = shown("purchase", gives_way=1)
    credit_ref: str | None = shown("credited row", gives_way=6)
    amount: Amount | None
    credited_amount: Amount = shown("credited", gives_way=2)
    currency: str = shown(gives_way=4)
    age_days: int = shown("days", gives_way=3)
    state: str
    institution: str | None = shown(gives_way=7)
    bank_code: str | None = if_any("bank code", gives_way=9)
    paid_as: str | None = if_any("paid as", gives_way=8)


class FindingProgress(ListedFinding):
    """A finding with how far it is (rules.md#findings-of-reconciliation).

    `subject` says what it is about: redemption, credit, statement or entry. `findings` says how
    many there are that were asked for.
    """

    subject: str
    subject_no: int
    since_at: datetime
    first_found_at: datetime
    last_found_at: datetime
    resolved_at: datetime | None
    accepted_by: str | None
    accepted_reason: str | None
    accepted_at: datetime | None
    findings: int


class CreditedRow(Record, sheet="* received_at file line"):
    """A credited row as it came, and where from."""

    credit_ref: str = shown("credited row")
    status: str
    amount: Amount
    currency: str = shown(gives_way=4)
    credited_at: datetime = shown("credited at", gives_way=1)
    received_at: datetime = shown("received at", gives_way=6)
    failure_code: str | None = shown("failure", gives_way=2)
    file: str | None = shown(gives_way=3)
    line: int | None = shown(gives_way=5)


class OpenFindings(Record):
    """Findings that nobody accepted and no run resolved; `amount` is what each is about, summed.

    That is the cashback of the redemption or, of a credited row alone, what it says was credited;
    of the bank's side what the statement pays or, of an entry of no payout, what that says.
    """

    code: str
    currency: str
    findings: int
    amount: Amount
    oldest_at: datetime


def find_finding(
    store: Store, now: datetime, finding_id: str, institution_id: UUID | None = None
) -> FindingProgress:
    """Return one finding by its whole id; raise `NotFound`."""
    rows = store.records(
        FindingProgress,
        "credits/questions:findings",
        institution_id=institution_id,
        code=None,
        state=None,
        finding_id=finding_id,
        now=now,
        limit=1,
    )
    if not rows:
        raise NotFound.from_table("credits", "finding_not_found")
    return rows[0]


def open_findings(
    store: Store, institution_id: UUID | None = None, *, before: datetime | None = None
) -> list[OpenFindings]:
    """Return the open findings of an institution, or of all, by code and currency.

    With `before` only of what was redeemed, or credited, before then (rules.md#reconciliation).
    """
    return store.records(
        OpenFindings,
        "credits/questions:open_findings",
        institution_id=institution_id,
        before=before,
    )


# Credited rows as they were sent: list them, and show one beside the redemption that it is of.


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


class CreditDetails(Credit):
    """A credited row with its file, and what is owed for the redemption that it is of, if any.

    The redemption is that of its redemption_id or, without one, of its transaction_ref; `others`
    are the other rows that were credited for it.
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
    institution: str | None = if_any()
    others: Sequence[Credit] | None = if_any()


def find_credit(store: Store, institution_id: UUID, credit_ref: str) -> CreditDetails:
    """Return one credited row by its reference; raise `NotFound`."""
    of = {"institution_id": institution_id, "credit_ref": credit_ref}
    rows = store.records(CreditDetails, "credits/credits:shown", **of)
    if not rows:
        raise NotFound.from_table("credits", "credit_not_found")
    return rows[0]
