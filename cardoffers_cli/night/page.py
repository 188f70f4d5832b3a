"""The pages of a night, beside its reports: written last, when its audits are known.

`index.html` is of the night, `institution-<slug>.html` of each institution that had anything
in it, and `index.html` one folder above is
of all nights. They depend on the store and the night's clock, but for what tells of attempts and of
seconds: those take the time they take.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import clear_drafts
from cardoffers_cli.events.questions import EventHealth
from cardoffers_cli.kernel.disk.lasting import make_folder
from cardoffers_cli.kernel.sheets.asked import ReportScope
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.pages import write_page
from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.night import NightPage, is_busy, night_page, page_of
from cardoffers_cli.night.questions import WaitingCount
from cardoffers_cli.night.reports import report_files, reports_folder
from cardoffers_cli.night.run_pages import MOST_NIGHTS, runs_page
from cardoffers_cli.reports import offer_results
from cardoffers_cli.reports.funnel_work import window_of
from cardoffers_cli.reports.history import NIGHTS
from cardoffers_cli.reports.institution import MOST_ROWS, institution_page
from cardoffers_cli.reports.page_work import (
    LATELY,
    MOST_ENDING,
    funnel_beside,
    merchants,
    offers,
    unknown,
)
from cardoffers_cli.reports.questions import Filters
from cardoffers_cli.river import settlements
from cardoffers_cli.river.stored_imports import rejects_by_code
from cardoffers_cli.watch.observations import FILE_MISSED
from cardoffers_cli.watch.questions import open_watch_findings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.sheets.pages import Page
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.options import NightContext
    from cardoffers_cli.night.questions import NightIntakeRow
    from cardoffers_cli.night.result import NightResult

PAGE = "index.html"
_INSTANT = timedelta(microseconds=1)
_BEFORE = 8
"""Nights before those that are shown, for the means of them."""
_MISSING = "expected files that did not come"
_WAITING = {
    "purchases of unknown merchants": "cardoffers report unresolved -o unknown.html",
    "ledger entries on hold": None,
    "requests for an approval": "cardoffers approve list --state pending",
    _MISSING: "cardoffers arrivals",
}


def write_night_page(work: NightContext, result: NightResult) -> None:
    """Write the pages of a night whose result is known."""
    folder = reports_folder(work.job.path, work.night.name)
    make_folder(folder)
    clear_drafts(folder)
    busy = {row.institution for row in result.institutions if is_busy(row)}
    with work.job.store(read_only=True) as store:
        institutions = sorted(list_institutions(store), key=lambda each: each.slug)
        for institution in institutions:
            if institution.slug not in busy:
                continue
            slug = institution.slug
            own = [name for name in report_files(slug) if (folder / name).exists()]
            tonight = [row for row in result.institutions if row.institution == slug]
            page = _of_institution(store, work, institution, tonight, own)
            _write(work, folder / page_of(slug), page)
        page = _of_night(store, work, result)
    _write(work, folder / PAGE, page)


def write_runs_page(work: NightContext) -> None:
    """Write the page of all nights, in which this one has ended."""
    with work.job.store(read_only=True) as store:
        history = nights.history(store, MOST_NIGHTS)
        in_all = nights.count(store)
    shown = [
        replace(row, has_ended=row.has_ended or row.night_no == work.night.night_no)
        for row in history
    ]
    folder = reports_folder(work.job.path, work.night.name).parent
    there = {row.name for row in shown if (folder / row.name / PAGE).exists()}
    clear_drafts(folder)
    _write(work, folder / PAGE, runs_page(shown, work.night.as_of, in_all=in_all, pages=there))


def _write(work: NightContext, path: Path, page: Page) -> None:
    with replacing(path, mode=work.job.settings.mode) as out:
        write_page(page, out)


def _of_night(store: Store, work: NightContext, result: NightResult) -> Page:
    night, now = work.night, work.night.as_of
    until = now + _INSTANT
    counts = {step.name: step.counts for step in result.steps}
    return night_page(
        NightPage(
            name=night.name,
            as_of=now,
            audits=counts["audits"]["audits"],
            findings=result.findings,
            files=result.imports,
            summary=result.institutions,
            rejects=rejects_by_code(
                store, after_run_no=night.after_run_no, to_run_no=night.to_run_no
            ),
            history=nights.history(store, NIGHTS + _BEFORE, up_to=night),
            offers=offer_results.offer_results(
                store, now, from_at=now - LATELY, to_at=until, order="ends", limit=MOST_ENDING
            ),
            deliveries=store.records(
                *(EventHealth, "events/questions:health"),
                institution_id=None,
                from_at=now - LATELY,
                to_at=until,
            ),
            came_back=nights.came_back(store, night),
            waiting=[
                {**row, "next": _WAITING[row.waits]}
                for row in [
                    *store.records(WaitingCount, "night/questions:waiting", now=now),
                    *_missing_files(store),
                ]
            ],
        )
    )


def _missing_files(store: Store) -> list[WaitingCount]:
    """Return how many expected files nobody has seen, or done without, if any is missing."""
    found = open_watch_findings(store)
    missing = sum(each.findings for each in found if each.code == FILE_MISSED)
    return [WaitingCount(waits=_MISSING, count=missing)] if missing else []


def _of_institution(
    store: Store,
    work: NightContext,
    institution: Institution,
    tonight: Sequence[NightIntakeRow],
    reports: Sequence[str],
) -> Page:
    now, owner = work.night.as_of, institution.id
    lately = Filters(institution_id=owner, from_at=now - LATELY, to_at=now + _INSTANT)
    found = {
        "tonight": tonight,
        "owed": settlements.owed(store, institution_id=owner, limit=MOST_ROWS),
        "settlements": settlements.list_settlements(store, institution_id=owner, limit=MOST_ROWS),
        "funnel": funnel_beside(store, owner, window_of(now, None, None)),
        "offers": offers(store, now, lately, MOST_ROWS, of=("spend",)),
        "merchants": merchants(store, lately, MOST_ROWS, of=("funded",)),
        "unknown": unknown(store, lately, MOST_ROWS, of=("amount",)),
    }
    asked = ReportScope(
        as_of=now, institution=institution.slug, from_at=lately.from_at, is_usual=True
    )
    return institution_page(work.night.name, found, asked, reports)
