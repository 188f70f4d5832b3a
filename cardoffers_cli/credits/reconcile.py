"""Reconcile: what was credited is held against what was redeemed, and what banks paid, too.

Credited rows are linked to their redemptions; the rows of each redemption are read in order, and
what stands at the end is compared with its cashback (rules.md#verdicts). A run looks at what came
since the last one, and at what is not final; on the bank's side at everything, which is little. Its
verdicts are added to those of before, and the totals of both sides, counted where they stand, must
come to what the verdicts come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import StoreDamaged
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.river.handles import CreditTables, ReconciliationTables

PAID_IN_DAYS = 7
"""Within so many days nobody expects a statement to be paid (rules.md#bank-verdicts)."""

CONTROL_TOTALS_DIFFER = "control_totals_differ"
"""The code of a run whose verdicts are not what there is (rules.md#reconciliation)."""


class VerdictTotal(Record, sheet="code rows amount credited_amount * redemptions credited_rows"):
    """What the verdicts of one code and currency come to.

    `amount` is the cashback of their redemptions or, of credited rows alone, what these moved;
    `credited_amount` what stands as credited. Ages are of findings, in days.
    """

    code: str = shown("verdict")
    rows: int
    amount: Amount
    currency: str = shown(gives_way=1)
    credited_amount: Amount = shown("credited", gives_way=2)
    redemptions: int = shown(gives_way=8)
    credited_rows: int = shown("credited rows", gives_way=7)
    oldest_days: int | None = shown("oldest, days", gives_way=4)
    from_30_days: int | None = shown("from 30 days", gives_way=5)
    from_60_days: int | None = shown("from 60 days", gives_way=6)


class BankTotal(Record, sheet="* bank_entries"):
    """What the verdicts of the bank's side of one code and currency come to.

    `amount` is of the statements or, of entries of no payout, what these say; `paid_amount` what
    the bank booked and did not take back. Ages are of findings, in days.
    """

    code: str = shown("verdict")
    rows: int
    amount: Amount
    currency: str = shown(gives_way=1)
    paid_amount: Amount = shown("paid", gives_way=2)
    bank_entries: int = shown("entries", gives_way=7)
    oldest_days: int | None = shown("oldest, days", gives_way=4)
    from_7_days: int | None = shown("from 7 days", gives_way=6)
    from_30_days: int | None = shown("from 30 days", gives_way=6)
    from_60_days: int | None = shown("from 60 days", gives_way=5)


class ControlTotals(Record):
    """How many redemptions and credited rows there are, counted where they stand; and verdicts.

    So of the bank's side, where there is one: statements that pay anything, and entries of banks.
    """

    redemptions: int
    credited_rows: int
    verdicts: int
    statements: int | None = if_any()
    bank_entries: int | None = if_any()
    bank_verdicts: int | None = if_any()


class FindingStates(Record):
    """How many findings are in which state."""

    open: int
    accepted: int
    resolved: int


def ask(store: Store, institution_id: UUID | None = None) -> Table | None:
    """Find the institutions to reconcile, all or one: who sent credited rows, or is paid.

    Returns None where nobody did, nor is.
    """
    institutions = store.make("credits/reconcile:asked", institution_id=institution_id)
    return institutions if store.value("credits/reconcile:is_any", institutions) else None


def judge(
    store: Store, referred: CreditTables, both: ReconciliationTables, *, run_no: int, now: datetime
) -> None:
    """Write the verdicts that are new, and what all of them come to.

    Raises `StoreDamaged` where that is not what there is: then nothing may be kept.
    """
    banked = store.make("credits/reconcile:banked", referred.asked, now=now, days=PAID_IN_DAYS)
    judged = store.define(
        "credits/reconcile:judged",
        *(referred.rows, both.redemptions, both.credited, banked),
        run_no=run_no,
        now=now,
    )
    is_first = store.value("credits/reconcile:is_first", referred.asked)
    verdicts = "first_verdicts" if is_first else "later_verdicts"
    store.execute(f"credits/reconcile:{verdicts}", judged, run_no=run_no)
    store.execute("credits/reconcile:totals", referred.asked, run_no=run_no)
    sides = store.make("credits/reconcile:sides", referred.asked)
    store.execute("credits/reconcile:reconciliations", referred.asked, sides, run_no=run_no)
    differences = store.rows("credits/reconcile:differences", sides, run_no=run_no)
    if differences:
        slugs = ", ".join(sorted({difference["slug"] for difference in differences}))
        raise StoreDamaged(
            f"The verdicts of {slugs} do not come to what was redeemed and credited, or paid.",
            code=CONTROL_TOTALS_DIFFER,
            hint="Nothing was kept; `cardoffers doctor --strict` says what is wrong in the store.",
        )


def said(store: Store, *, run_no: int, now: datetime) -> tuple[list[VerdictTotal], list[BankTotal]]:
    """Return what the verdicts of a run come to, and apart those of the bank's side."""
    rows = store.rows("credits/reconcile:said", run_no=run_no, now=now)
    credited = [VerdictTotal.part(row) for row in rows if not row["is_of_bank"]]
    banked = [
        BankTotal.part(row, paid_amount=row["credited_amount"]) for row in rows if row["is_of_bank"]
    ]
    return credited, banked


def control(store: Store, *, run_no: int) -> ControlTotals:
    """Return what a run counted."""
    totals = store.records(ControlTotals, "credits/reconcile:control", run_no=run_no)[0]
    if totals.statements or totals.bank_entries:
        return totals
    return ControlTotals(
        redemptions=totals.redemptions, credited_rows=totals.credited_rows, verdicts=totals.verdicts
    )
