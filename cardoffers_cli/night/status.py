"""Status: the state of everything, the nights that were, and the runs of every kind.

A night is `finished`, `running`, or `broken off`: it has not ended and nobody runs it, so that it
waits for `run resume`, or for the next night.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from cardoffers_cli.answers.money_trails import LoopTotals
from cardoffers_cli.arrivals.work import count_arrivals
from cardoffers_cli.copies.work import copy_fault, last_copy
from cardoffers_cli.credits.questions import open_findings
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.approval_requests import find_approvals
from cardoffers_cli.kernel.store.layout import kept_files, reports_folder, usage_path
from cardoffers_cli.kernel.store.lock import night_holder
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import machine_at
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.options import result_of
from cardoffers_cli.payouts.questions import payout_states
from cardoffers_cli.storage.overview import Overview, overview, redemptions_by_day
from cardoffers_cli.watch.questions import open_watch_findings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.arrivals.work import ArrivalCounts
    from cardoffers_cli.credits.questions import OpenFindings
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.night.options import NightResult
    from cardoffers_cli.night.questions import ListedNight, NightFinding, NightInHistory, RunRecord
    from cardoffers_cli.watch.questions import OpenWatchFindings


_PAGE = "index.html"


class NightHistory(Record):
    """The newest nights, and how many there are in all."""

    nights: list[NightInHistory]
    in_all: int


def list_nights(job: Job, limit: int) -> list[ListedNight]:
    """Return the newest nights, one row each."""
    state_of = partial(_state, night_holder(job.path))
    with reading(job) as source:
        return nights.list_nights(source.store, limit, state_of)


class LastNight(Record):
    """The newest night: its files, the rows they had, its findings, and its page if it has one."""

    night: str
    state: str
    run_id: UUID
    as_of: datetime
    files: int
    imported_files: int
    failed_files: int
    received: int
    invalid: int
    findings: list[NightFinding]
    page: str | None


class UnfinishedNight(Record):
    """A night that has not ended: running, or broken off."""

    run_id: UUID
    night: str
    state: str


def last_night(store: Store, path: Path) -> LastNight | None:
    """Return the newest night, if there was one."""
    newest = nights.newest(store, 1)
    if not newest:
        return None
    (row,) = newest
    page = page_of(path, row.name)
    return LastNight.part(
        row,
        night=row.name,
        state=_state(night_holder(path), row.run_id, row.has_ended),
        page=str(page) if page.exists() else None,
    )


def left_nights(store: Store, path: Path) -> list[UnfinishedNight]:
    """Return the nights that have not ended, the oldest first: running, or broken off."""
    holder = night_holder(path)
    return [
        UnfinishedNight(
            run_id=night.run_id, night=night.name, state=_state(holder, night.run_id, False)
        )
        for night in nights.unfinished(store)
    ]


def page_of(path: Path, night: str) -> Path:
    """Return where the page of a night is; `path` is the store's."""
    return reports_folder(path) / night / _PAGE


def _state(holder: Mapping[str, Any] | None, run_id: UUID, has_ended: bool) -> str:
    """Return whether a night is finished, running or broken off."""
    if has_ended:
        return "finished"
    is_held = holder is not None and holder.get("run_id") in {None, str(run_id)}
    return "running" if is_held else "broken off"


def night_history(job: Job, limit: int) -> NightHistory:
    """Return the newest nights with what they came to."""
    with reading(job) as source:
        rows = nights.history(source.store, limit)
        return NightHistory(nights=rows, in_all=nights.count(source.store))


def list_runs(job: Job, limit: int) -> list[RunRecord]:
    """Return the newest runs of any kind, one row each."""
    with reading(job) as source:
        return nights.list_runs(source.store, limit)


def untold_nights(job: Job) -> list[NightResult]:
    """Return the results of nights that have ended, with the findings of which nobody was told."""
    with job.store(read_only=True) as store:
        return [
            result_of(store, job.path, night, status="finished", is_untold=True)
            for night in nights.untold(store)
        ]


def tell_nights(job: Job, results: Sequence[NightResult]) -> None:
    """Keep that the findings of nights were told, so that nobody is told of them again."""
    if not results:
        return
    with job.store() as store, store.transaction():
        rows = (nights.find(store, str(result.run_id)) for result in results)
        store.execute("night/questions:tell", night_nos=[night.night_no for night in rows if night])


def show_run(job: Job, run_id: str) -> NightResult | RunRecord:
    """Return the result of a night so far, or the record of another run; raise `NotFound`."""
    with reading(job) as source:
        run_id = whole_id(source.store, "run", run_id)
        if night := nights.find(source.store, run_id):
            status = "finished" if night.ended_at else "unfinished"
            return result_of(source.store, job.path, night, status=status)
        if row := source.store.row("night/questions:find_run", run_id=run_id):
            return nights.run_of(row)
        raise NotFound.from_table("night", "run_not_found")


class LoopStatus(LoopTotals, sheet="* invoiced_amount"):
    """What was credited and closed, and what the bank paid of the statements."""

    paid_amount: Amount | None = shown("paid")


class StoreStatus(Overview):
    """The state of everything, and of the nights that have not ended, the oldest first.

    `calls_put_aside` are usage journals that were damaged: what they held is lost. `open_findings`
    are those of reconciliation, `money_loop` what became of the money, `approvals_pending` how many
    requests wait for a second person, where any does; so `open_watch_findings`, of the watch;
    `arrivals` how expected files came of late, where any are expected. `misdated_acts` are those
    that were recorded more than `clock_tolerance_hours` from when they say they happened, and
    `clock_went_back_from` is what the machine's clock said before it went back. `copy_fault` is
    what is wrong with the copies of the store, and the others tell of the newest.
    """

    last_night: LastNight | None
    left_nights: list[UnfinishedNight]
    calls_put_aside: list[str]
    open_findings: list[OpenFindings]
    money_loop: list[LoopStatus] | None = if_any()
    approvals_pending: int | None = if_any()
    open_watch_findings: list[OpenWatchFindings] | None = if_any()
    arrivals: ArrivalCounts | None = if_any()
    misdated_acts: int | None = if_any()
    clock_went_back_from: datetime | None = if_any()
    copy_fault: str | None = if_any()
    copy_age_seconds: int | None = if_any()
    copy_bytes: int | None = if_any()
    drill_age_seconds: int | None = if_any()


def status(job: Job, *, by_day: bool = False) -> tuple[StoreStatus, dict[str, list[int]]]:
    """Return the state of everything.

    With `by_day` also how many redemptions each of the last 30 days saw, by the institution's slug.
    """
    with reading(job) as source:
        days = redemptions_by_day(source.store, job.now) if by_day else {}
        moment = machine_at(source.store, job.now)
        hours = job.settings.clock_tolerance_hours
        (clocks,) = source.store.rows("night/status:clocks", moment=moment, hours=hours)
        paid: dict[tuple[str, str], Amount] = {}
        totals = source.store.records(LoopTotals, "answers/money_trails:totals")
        if any(total.stated_amount is not None for total in totals):
            for state in payout_states(source.store, job.now):
                of = state.institution, state.currency
                paid[of] = paid.get(of, Decimal(0)) + state.paid_amount
        last, fault = last_copy(job.path), copy_fault(job, source.store)
        drill_at = source.store.value("kernel/store/snapshot:taken_at", kind="drill")
        result = StoreStatus(
            **overview(source.store, job),
            last_night=last_night(source.store, job.path),
            left_nights=left_nights(source.store, job.path),
            calls_put_aside=[str(path) for path in kept_files(usage_path(job.path))],
            open_findings=open_findings(source.store),
            money_loop=[
                LoopStatus(**total, paid_amount=paid.get((total.institution, total.currency)))
                for total in totals
            ]
            or None,
            approvals_pending=len(find_approvals(source.store, moment, state="pending")) or None,
            open_watch_findings=open_watch_findings(source.store) or None,
            arrivals=count_arrivals(source.store, job.now),
            misdated_acts=clocks["misdated_acts"] or None,
            clock_went_back_from=clocks["clock_went_back_from"],
            copy_fault=fault[1] if fault else None,
            copy_age_seconds=int((job.now - last.taken_at).total_seconds()) if last else None,
            copy_bytes=last.store_bytes if last else None,
            drill_age_seconds=int((job.now - drill_at).total_seconds()) if drill_at else None,
        )
    return result, days
