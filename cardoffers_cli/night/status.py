"""Status: the state of everything, with the night that was last and those that have not ended."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.answers.money_trails import LoopTotals
from cardoffers_cli.approvals.questions import list_approvals
from cardoffers_cli.arrivals.work import count_arrivals
from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.kernel.store.approval_requests import approval_moment
from cardoffers_cli.kernel.store.layout import kept_files, usage_path
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.night.history import last_night, left_nights
from cardoffers_cli.payouts.questions import payout_states
from cardoffers_cli.storage.overview import Overview, overview, redemptions_by_day
from cardoffers_cli.watch.questions import open_watch_findings

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.arrivals.work import ArrivalCounts
    from cardoffers_cli.credits.questions import OpenFindings
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.night.history import LastNight, UnfinishedNight
    from cardoffers_cli.watch.questions import OpenWatchFindings


class StatusHead(Record):
    """Which store, at which moment (UTC)."""

    store: str
    as_of: datetime


class LoopStatus(LoopTotals, sheet="* invoiced_amount"):
    """What was credited and closed, and what the bank paid of the statements."""

    paid_amount: Amount | None = shown("paid")


class StoreStatus(Overview, StatusHead):
    """The state of everything, and of the nights that have not ended, the oldest first.

    `calls_put_aside` are usage journals that were damaged: what they held is lost. `open_findings`
    are those of reconciliation, `money_loop` what became of the money, `approvals_pending` how many
    requests wait for a second person, where any does; so `open_watch_findings`, of the watch;
    `arrivals` how expected files came of late, where any are expected.
    """

    last_night: LastNight | None
    left_nights: list[UnfinishedNight]
    calls_put_aside: list[str]
    open_findings: list[OpenFindings]
    money_loop: list[LoopStatus] | None = if_any()
    approvals_pending: int | None = if_any()
    open_watch_findings: list[OpenWatchFindings] | None = if_any()
    arrivals: ArrivalCounts | None = if_any()


def status(job: Job, *, by_day: bool = False) -> tuple[StoreStatus, dict[str, list[int]]]:
    """Return the state of everything.

    With `by_day` also how many redemptions each of the last 30 days saw, by the institution's slug.
    """
    with reading(job) as source:
        days = redemptions_by_day(source.store, job.now) if by_day else {}
        moment = approval_moment(source.store, job.now)
        result = StoreStatus(
            store=str(job.path),
            as_of=job.now,
            **overview(source.store, job.now),
            last_night=last_night(source.store, job.path),
            left_nights=left_nights(source.store, job.path),
            calls_put_aside=[str(path) for path in kept_files(usage_path(job.path))],
            open_findings=open_findings(source.store),
            money_loop=_money_loop(source.store, job.now) or None,
            approvals_pending=len(list_approvals(source.store, moment, state="pending")) or None,
            open_watch_findings=open_watch_findings(source.store) or None,
            arrivals=count_arrivals(source.store, job.now),
        )
    return result, days


def _money_loop(store: Store, now: datetime) -> list[LoopStatus]:
    paid: dict[tuple[str, str], Amount] = {}
    totals = store.records(LoopTotals, "answers/money_trails:totals")
    if any(total.stated_amount is not None for total in totals):
        for state in payout_states(store, now):
            of = state.institution, state.currency
            paid[of] = paid.get(of, Decimal(0)) + state.paid_amount
    return [
        LoopStatus(**total, paid_amount=paid.get((total.institution, total.currency)))
        for total in totals
    ]
