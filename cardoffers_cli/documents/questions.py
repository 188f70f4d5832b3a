"""Statements: what an institution is owed for a period, taken once and kept for ever.

A statement is made of whole settlements, each of which is on one statement at most, so it is frozen
with the list of their numbers: what is told of it again is read of the ledger
(rules.md#statements).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class Statement(Record):
    """A statement as it was closed; `statements` is how many there are of those asked for.

    `entries` and `adjustments` are amounts, what they pay the institution and take back;
    `carried_in` and `carried_out` are zero or less, `payable` is zero or more.
    """

    statement_no: int
    number: str
    institution_id: UUID
    institution: str
    series: str
    year: int
    place: int
    from_at: datetime
    to_at: datetime
    currency: str
    entry_count: int
    adjustment_count: int
    carried_in: Amount
    entries: Amount
    adjustments: Amount
    carried_out: Amount
    payable: Amount
    pending_count: int
    pending: Amount
    sha256: str
    previous_number: str | None
    previous_sha256: str | None
    closed_at: datetime
    actor: str
    tax_id: str | None
    tax_note: str | None
    statements: int


class StatementLine(Record, first="created_at kind institution_payout_amount"):
    """A line of a statement: an entry that was settled, or the adjustment of one."""

    kind: str
    created_at: datetime
    redemption_id: UUID = shown(gives_way=1)
    offer_id: str = shown(gives_way=2)
    merchant_id: UUID = shown(gives_way=4)
    settlement_id: UUID = shown(gives_way=5)
    settled_at: datetime = shown(gives_way=3)
    currency: str
    merchant_funded_amount: Amount = shown("funded", gives_way=3)
    commission_amount: Amount = shown("commission", gives_way=4)
    institution_payout_amount: Amount = shown("payout")


class StatedSettlement(Record, sheet="* currency settlement_id"):
    """A settlement that a statement took; `entries` and `adjustments` are counts of its lines."""

    settled_at: datetime
    currency: str
    entries: int = shown(gives_way=2)
    adjustments: int = shown(gives_way=2)
    institution_payout_amount: Amount = shown("payout")
    settlement_id: UUID = shown(gives_way=3)


def list_statements(
    store: Store,
    *,
    institution_id: UUID | None = None,
    number: str | None = None,
    limit: int,
) -> list[Statement]:
    """Return statements, the newest period first."""
    return store.records(
        Statement,
        "documents/questions:list",
        institution_id=institution_id,
        number=number,
        limit=limit,
    )


def find_statement(store: Store, number: str) -> Statement:
    """Return the statement of a number, in whatever case it is written; raise `NotFound`."""
    statements = list_statements(store, number=number.strip().upper(), limit=1)
    if not statements:
        raise NotFound(
            f"There is no statement {number!r}.",
            code="statement_not_found",
            hint="`cardoffers statement list` shows them all.",
        )
    return statements[0]


def all_lines(store: Store, statement: Statement) -> Iterator[StatementLine]:
    """Yield every line of a statement, in its order; the store runs nothing else meanwhile."""
    pages = store.pages(
        "documents/questions:lines",
        institution_id=statement.institution_id,
        statement_no=statement.statement_no,
        limit=None,
    )
    return (StatementLine.of(row) for page in pages for row in page)


def csv_lines(store: Store, institution_id: UUID, statement_no: int) -> Iterator[list[str]]:
    """Yield the lines of a statement as they stand in its CSV file, some at a time."""
    pages = store.pages(
        "documents/questions:csv_lines", institution_id=institution_id, statement_no=statement_no
    )
    return ([row["line"] for row in page] for page in pages)


class LineSums(Record):
    """How many entries and adjustments there are, and what they come to."""

    entry_count: int
    adjustment_count: int
    entries: Amount
    adjustments: Amount
    currency: str


class PendingTotals(Record):
    """Entries on hold: how many, what they pay, and how many of them settle should have taken."""

    pending_count: int
    pending: Amount
    overdue_count: int
    currency: str


def take_settlements(
    store: Store, institution_id: UUID, currency: str, *, to_at: datetime
) -> tuple[int, LineSums]:
    """Put onto a new statement what was settled before `to_at` and is on none.

    Returns its number among all, and what it comes to. `write_statement` is to follow.
    """
    statement_no = int(store.value("documents/questions:next_no"))
    of = {"institution_id": institution_id, "statement_no": statement_no}
    store.execute("documents/questions:take_settlements", **of, to_at=to_at)
    sums = store.rows("documents/questions:taken", **of)[0]
    return statement_no, LineSums.of({**sums, "currency": currency})


def on_hold(store: Store, institution_id: UUID, currency: str, *, to_at: datetime) -> PendingTotals:
    """Return the entries of before `to_at` that are on hold."""
    of = {"institution_id": institution_id, "to_at": to_at}
    totals = store.rows("documents/questions:pending", **of)[0]
    return PendingTotals.of({**totals, "currency": currency})
