"""Payouts: the payments of statements, and what the bank says of them (rules.md#payouts)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class PayableStatement(Record):
    """A statement, and what it pays its institution, which was paid last at `last_exported_at`."""

    institution_id: UUID
    number: str
    amount: Amount
    currency: str
    closed_at: datetime
    is_rehearsal: bool
    last_exported_at: datetime | None


class StoredPayment(Record):
    """A payment of a statement as it was exported; `sha256` is of the file that it is in.

    `attempt` is 1 of the first, and more of those that were made because the one before came back
    or was withdrawn. `entries` counts what the bank said of it; `came_back`: that it did, or was
    rejected.
    """

    payout_no: int
    institution_id: UUID
    number: str
    attempt: int
    payment_id: str
    amount: Amount
    currency: str
    form: str
    account: str
    sha256: str
    due_on: date
    exported_at: datetime
    actor: str
    withdrawn_at: datetime | None
    entries: int
    came_back: bool


class PayoutState(Record):
    """What is paid of a statement; `state` is its verdict (rules.md#bank-verdicts).

    `bank_code` is as the bank gave it, of the newest payment, as all that says how it was made;
    without a `form` none was exported, or it was withdrawn. `age_days` count from the day it was
    due, or closed. `kept_amount` did not come back of what did. A payment that was withdrawn is
    also there by itself, as `withdrawn`, where these are asked for.
    """

    number: str = shown("statement")
    institution: str
    state: str
    amount: Amount
    currency: str
    paid_amount: Amount = shown("paid", gives_way=2)
    bank_code: str | None = shown("code")
    booked_at: datetime | None = shown("booked", gives_way=8)
    age_days: int = shown("days", gives_way=4)
    payment_id: str | None = shown("payment", gives_way=9)
    form: str | None = shown(gives_way=5)
    account: str | None = shown(gives_way=6)
    due_on: date | None = shown("due", gives_way=5)
    exported_at: datetime | None = shown("exported", gives_way=7)
    closed_at: datetime = shown("closed", gives_way=9)
    attempt: int | None = shown(gives_way=10)
    kept_amount: Amount = shown("not returned", gives_way=10)
    came_back: bool
    withdrawn_reason: str | None = shown("withdrawn because", gives_way=10)


def payable_statement(store: Store, number: str) -> PayableStatement:
    """Return a statement by its number; raise `NotFound`."""
    statement = store.record(PayableStatement, "payouts/questions:payable", number=number)
    if statement is None:
        raise NotFound.from_table("payouts", "statement_not_found", number=number)
    return statement


def find_payouts(
    store: Store, *, numbers: Sequence[str] | None = None, sha256: str | None = None
) -> list[StoredPayment]:
    """Return the newest payments of statements by their numbers, or all of a file."""
    of = {"numbers": numbers, "sha256": sha256}
    return [StoredPayment.part(row) for row in store.rows("payouts/questions:find", **of)]


def payout_states(store: Store, moment: datetime, **asked: Any) -> list[PayoutState]:
    """Return what is paid of statements, the newest first, as filtered by the statement's names.

    A `period` is a month, as 2026-10. With `withdrawn` payments follow their statement that were.
    """
    names = ("institution_id", "numbers", "state", "period", "limit")
    every = {**dict.fromkeys(names), "withdrawn": False}
    return store.records(
        PayoutState, "payouts/questions:states", moment=moment, **{**every, **asked}
    )


# What banks said, kept entry by entry (rules.md#bank-entries): take more in, list it.


class BankEntryRow(Record):
    """What a bank said of one payment; `number` is the statement that it is of, if it is known.

    One that does not count says what another message told before it. `invoice` is what a receipt
    paid, `candidates` what it may have. `entries` says how many there are that were asked for.
    """

    entry_id: UUID = shown(gives_way=8)
    status: str
    direction: str = shown(gives_way=1)
    number: str | None = shown("statement")
    institution: str | None = shown(gives_way=2)
    payment_id: str | None = shown("payment", gives_way=6)
    trace: str | None
    amount: Amount | None
    currency: str | None
    booked_at: datetime | None = shown("booked", gives_way=3)
    code: str | None
    bank_ref: str | None = shown("reference", gives_way=5)
    file: str = shown(gives_way=7)
    place: str = shown(gives_way=7)
    received_at: datetime
    message: str = shown(gives_way=7)
    counts: bool = shown(gives_way=7)
    is_unknown: bool
    invoice: str | None = shown(gives_way=2)
    candidates: str | None = shown(gives_way=3)
    entries: int


def list_entries(store: Store, **asked: Any) -> list[BankEntryRow]:
    """Return what banks said, the newest first; `unknown` asks for what no payout explains.

    So `institution_id`, `number`, `entry_no`, how an `entry_id` begins, and `limit`.
    """
    every = dict.fromkeys(("institution_id", "number", "entry_no", "entry_id", "limit"))
    return store.records(
        BankEntryRow, "payouts/bank:listed", **{**every, "unknown": False, **asked}
    )
