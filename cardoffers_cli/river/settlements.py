"""Settlements with their sums, what is owed to whom, and what will be due when.

A settlement says what is owed; whether it was paid is not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.settle import NewSettlement, StillPending, settle

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


Order = Literal["newest", "largest"]


class Settlement(Record, sheet="institution currency institution_payout_amount *"):
    """A settlement: so many ledger entries and adjustments, and their amounts, net of these."""

    institution: str
    currency: str
    settled_at: datetime = shown("settled at", gives_way=2)
    entries: int
    adjustments: int = shown(gives_way=4)
    merchant_funded_amount: Amount = shown("merchants fund", gives_way=1)
    commission_amount: Amount = shown("commission", gives_way=3)
    institution_payout_amount: Amount = shown("payout")
    settlement_id: UUID = shown("settlement id", gives_way=5)


class ListedSettlement(Settlement):
    """A settlement of a list; `settlements` is how many there are in all."""

    settlements: int


class SettlementDue(
    Record,
    sheet="institution currency institution_payout_amount pending_payout_amount next_settles_at *"
    " -pending -last_settles_at -open_adjustments",
):
    """What one institution is owed in one currency, and what is still to come.

    Settlements are those of the window. What is on hold (`pending…`) and what is to be deducted
    (`open_adjustment…`, an amount below zero) is of now.
    """

    institution: str
    currency: str
    settlements: int = shown(gives_way=1)
    entries: int = shown(gives_way=4)
    adjustments: int = shown(gives_way=7)
    merchant_funded_amount: Amount = shown("merchants fund", gives_way=2)
    commission_amount: Amount = shown("commission", gives_way=5)
    institution_payout_amount: Amount = shown("owed")
    pending: int
    pending_payout_amount: Amount = shown("on hold")
    next_settles_at: datetime | None = shown("next due", gives_way=3)
    last_settles_at: datetime | None
    open_adjustments: int
    open_adjustment_amount: Amount = shown("to be deducted", gives_way=6)


class DueEntries(Record, sheet="day institution currency institution_payout_amount entries"):
    """Entries on hold of one institution and currency that are due on a day (UTC).

    `rows` is how many such rows there are in all.
    """

    day: date = shown("due on")
    institution: str
    currency: str
    entries: int
    institution_payout_amount: Amount = shown("payout")
    rows: int


def list_settlements(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "newest",
    limit: int,
) -> list[ListedSettlement]:
    """Return settlements; the window is of when they were settled."""
    return store.records(
        ListedSettlement,
        "river/settlements:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        order=order,
        limit=limit,
    )


def owed(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int,
) -> list[SettlementDue]:
    """Return what the window settled and what is still to come, the most first."""
    return store.records(
        SettlementDue,
        "river/settlements:owed",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        limit=limit,
    )


def due(store: Store, *, institution_id: UUID | None = None, limit: int) -> list[DueEntries]:
    """Return entries on hold by the day they are due."""
    return store.records(
        DueEntries, "river/settlements:due", institution_id=institution_id, limit=limit
    )


def find_settlement(store: Store, beginning: str) -> int:
    """Return the number of the one settlement whose id is this, or begins with it.

    Raises `NotFound` where there is none, and `UsageError` where there are several.
    """
    matches = store.rows("river/settlements:find", beginning=beginning)
    if not matches:
        raise NotFound.from_table("river", "settlement_not_found", beginning=beginning)
    if len(matches) > 1:
        raise UsageError.from_table("river", "settlement_ambiguous", beginning=beginning)
    return int(matches[0]["settlement_no"])


# Settle: move what is due into settlements, one per institution and currency.


class SettleResult(Record):
    """What was settled, and what waits, in the shape of `settle --format json`."""

    run_id: UUID
    settled: int
    still_pending: int
    next_settles_at: datetime | None
    settlements: Sequence[NewSettlement]
    dry_run: bool


def settle_due(job: Job, *, dry_run: bool = False) -> SettleResult:
    """Settle in one transaction; return the shape of `settle --format json`."""
    with job.store() as store, store.transaction(keep=not dry_run):
        return settle_in(store, job, dry_run=dry_run)


def settle_in(store: Store, job: Job, *, dry_run: bool = False) -> SettleResult:
    """Settle what is due in the caller's transaction, as one run."""
    with run_record(store, kind="settle", now=job.now, actor=job.actor) as run:
        made = settle(store, run_no=run.run_no, now=job.now, actor=job.actor)
        (pending,) = store.records(StillPending, "river/settle:still_pending")
        result = SettleResult(
            run_id=run.run_id,
            settled=sum(settlement.entries for settlement in made),
            **pending,
            settlements=made,
            dry_run=dry_run,
        )
        run.counts.update(result)
    if not dry_run:
        keep_counts(store)
    return result
