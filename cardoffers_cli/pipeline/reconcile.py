"""Reconcile: what institutions say they credited is held against what was redeemed.

Credited rows are linked to their redemptions; the rows of each redemption are read in order, and
what stands at the end is compared with its cashback (rules.md#verdicts). A run looks at what came
since the last one, and at what is not final. Its verdicts are added to those of before, and the
totals of both sides, counted where they stand, must come to what the verdicts come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import StoreDamaged
from cardoffers_cli.domain.records import Record
from cardoffers_cli.pipeline.handles import BothSides, Referred

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.domain.records import Amount
    from cardoffers_cli.store.store import Store

CONTROL_TOTALS_DIFFER = "control_totals_differ"
"""The code of a run whose verdicts are not what there is (rules.md#reconciliation)."""


class VerdictTotal(Record):
    """What the verdicts of one code and currency come to.

    `amount` is the cashback of their redemptions or, of credited rows alone, what these moved;
    `credited_amount` what stands as credited. Ages are of findings, in days.
    """

    code: str
    rows: int
    amount: Amount
    currency: str
    credited_amount: Amount
    redemptions: int
    credited_rows: int
    oldest_days: int | None
    from_30_days: int | None
    from_60_days: int | None


class ControlTotals(Record):
    """How many redemptions and credited rows there are, counted where they stand; and verdicts."""

    redemptions: int
    credited_rows: int
    verdicts: int


class FindingStates(Record):
    """How many findings are in which state."""

    open: int
    accepted: int
    resolved: int


class ControlDifference(Record):
    """By how much the verdicts of an institution exceed what there is, in one currency."""

    slug: str
    currency: str
    redemptions: int
    credited_rows: int
    amount: Amount
    moved_amount: Amount


def is_any_credited(store: Store, institution_id: UUID | None = None) -> bool:
    """Return whether an institution, or any, sent credited rows."""
    return bool(store.value("pipeline/reconcile:is_any", institution_id=institution_id))


def refer(store: Store, institution_id: UUID | None = None, *, run_no: int) -> Referred:
    """Find which redemptions credited rows are of, of all institutions or one; keep that."""
    asked = store.make("pipeline/reconcile:asked", institution_id=institution_id)
    rows = store.define("pipeline/reconcile:referring", asked)
    store.execute("pipeline/reconcile:credit_links", rows, run_no=run_no)
    return Referred(asked=asked, rows=rows)


def find_both(store: Store, referred: Referred, *, run_no: int) -> BothSides:
    """Find the redemptions to look at, and what stands as credited of each."""
    owed = store.make("pipeline/reconcile:to_reconcile", referred.asked, run_no=run_no)
    return BothSides(redemptions=owed, credited=store.define("pipeline/reconcile:credited", owed))


def judge(store: Store, referred: Referred, both: BothSides, *, run_no: int, now: datetime) -> None:
    """Write the verdicts that are new, and what all of them come to.

    Raises `StoreDamaged` where that is not what there is: then nothing may be kept.
    """
    judged = store.define(
        "pipeline/reconcile:judged",
        *(referred.rows, both.redemptions, both.credited),
        run_no=run_no,
        now=now,
    )
    is_first = store.value("pipeline/reconcile:is_first", referred.asked)
    verdicts = "first_verdicts" if is_first else "later_verdicts"
    store.execute(f"pipeline/reconcile:{verdicts}", judged, run_no=run_no)
    store.execute("pipeline/reconcile:totals", referred.asked, run_no=run_no)
    store.execute("pipeline/reconcile:reconciliations", referred.asked, run_no=run_no)
    found = store.records(ControlDifference, "pipeline/reconcile:differences", run_no=run_no)
    if found:
        slugs = ", ".join(sorted({each.slug for each in found}))
        raise StoreDamaged(
            f"The verdicts of {slugs} do not come to what was redeemed and credited.",
            code=CONTROL_TOTALS_DIFFER,
            hint="Nothing was kept; `cardoffers doctor --strict` says what is wrong in the store.",
        )


def said(store: Store, *, run_no: int, now: datetime) -> list[VerdictTotal]:
    """Return what the verdicts of a run come to, by code and currency."""
    return store.records(VerdictTotal, "pipeline/reconcile:said", run_no=run_no, now=now)


def control(store: Store, *, run_no: int) -> ControlTotals:
    """Return what a run counted."""
    return store.records(ControlTotals, "pipeline/reconcile:control", run_no=run_no)[0]


def states(store: Store, *, run_no: int) -> FindingStates:
    """Return how far the findings of the institutions of a run are."""
    return store.records(FindingStates, "pipeline/reconcile:states", run_no=run_no)[0]
