"""The pages of a night, beside its reports: written last, when its audits are known.

`index.html` is of the night, `institution-<slug>.html` of each institution that had anything in it,
and `index.html` one folder above is of all nights. They depend on the store and the night's clock,
but for what tells of attempts and of seconds: those take the time they take.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import clear_drafts
from cardoffers_cli.events.questions import EventHealth
from cardoffers_cli.intake.page import rejects_section
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.sheets.pages import Fact, Page, ReportScope, Section, write_page
from cardoffers_cli.kernel.sheets.sheets import Column, Sheet
from cardoffers_cli.kernel.sheets.tables import Link, State
from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.kernel.words.sentences import (
    amounts_text,
    compared,
    counted,
    day_text,
    listed,
    mean,
)
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.questions import WaitingCount
from cardoffers_cli.night.reports import report_files, reports_folder
from cardoffers_cli.night.run_pages import (
    MOST_NIGHTS,
    budgets_that_end,
    runs_page,
    to_do,
    webhooks_that_wait,
    what_else_waits,
)
from cardoffers_cli.reports import work as offer_results
from cardoffers_cli.reports.page_work import LATELY, MOST_ENDING, funnel_beside, in_orders, unknown
from cardoffers_cli.reports.pages import (
    MOST_ROWS,
    NIGHTS,
    against,
    before,
    institution_page,
    needing,
    night_text,
    payouts_of,
    redeemed_of,
)
from cardoffers_cli.reports.questions import Filters
from cardoffers_cli.reports.work import window_of
from cardoffers_cli.river import settlements
from cardoffers_cli.river.stored_imports import rejects_by_code
from cardoffers_cli.watch.observations import FILE_MISSED
from cardoffers_cli.watch.questions import open_watch_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.sheets.sheets import Row, Rows
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.options import NightContext, NightResult
    from cardoffers_cli.night.questions import NightIntakeRow


# The page of a night, which answers: did it go well, and who must do what.


_MOST_FILES, _MOST_NAMED = 100, 5
_URGENCY = {"error": 0, "warning": 1, "note": 2}
_TONES = {
    "error": State("error", "alarm"),
    "warning": State("warning", "warn"),
    "note": State("note", ""),
}
_FINDINGS = (Column("level"), Column("message", "what happened"), Column("next", "what to do"))
_FILES = (
    *(Column("file"), Column("kind_of_rows", "of"), Column("state")),
    *(Column("received", "rows", "integer"), Column("accepted", "taken", "integer")),
    *(Column("invalid", "rejected", "integer"), Column("duplicates", "known already", "integer")),
    *(Column("amount_accepted", "amount taken", "money"), Column("why")),
)
_FILE_STATES = {
    "imported": State("taken", "good"),
    "failed": State("failed", "alarm"),
    "held": State("held: it may be half a file", "alarm"),
    "changed": State("changed while it was read", "warn"),
    "gone": State("gone before it was read", "warn"),
}
_PARTIAL = State("taken in part", "warn")
_INSTITUTIONS = (
    *(Column("name", "institution"), Column("currency")),
    Column("institution_payout_amount", "payout", "money"),
    Column("redeemed", "redemptions", "integer"),
    Column("settled_institution_payout_amount", "settled", "money"),
    *(Column("received", "rows", "integer"), Column("accepted", "taken", "integer")),
    Column("invalid", "rejected", "integer"),
    Column("merchant_funded_amount", "merchants fund", "money"),
    Column("commission_amount", "commission", "money"),
)


@dataclass(frozen=True, kw_only=True)
class NightPage:
    """What the page of a night shows, as rows of services and of the night's result.

    `summary`, `files` and `rejects` are of the night itself, `history` of it and the nights before
    it, the newest first, `offers` and `waiting` of now, `deliveries` of the last 30 days; of
    `came_back` the refunds that wait are of now too.
    """

    name: str
    as_of: datetime
    audits: int
    findings: Rows
    files: Rows
    summary: Rows
    rejects: Rows
    history: Rows
    offers: Rows
    deliveries: Rows
    came_back: Row
    waiting: Rows


def night_page(night: NightPage) -> Page:
    """Return the page of a night."""
    earlier = [f"../{row['name']}/index.html" for row in night.history[1:2]]
    needs = needing(night.findings)
    verdict = (
        f"{counted(needs, 'thing')} {'needs' if needs == 1 else 'need'} attention"
        if needs
        else "The nightly run went well"
    )
    files = len(night.files)
    accepted = sum(row["accepted"] for row in night.summary)
    were = "was" if accepted == 1 else "were"
    read = sum(row["status"] == "imported" for row in night.files)
    of = f"{read:,} of {counted(files, 'file')}" if read < files else counted(files, "file")
    came = (
        f"{counted(accepted, 'purchase')} {were} taken from {of}" if files else "No files came in"
    )
    return Page(
        title=f"Nightly run of {night_text(night.name)}",
        headline=f"{verdict}. {came}; {_made(night)}.",
        as_of=night.as_of,
        facts=list(_facts(night)),
        sections=list(_sections(night)),
        links=[
            Link("All nightly runs", "../index.html"),
            *(Link("The nightly run before", page) for page in earlier),
        ],
    )


def page_of(institution: str) -> str:
    """Return the name of the page of an institution, beside that of the night."""
    return f"institution-{institution}.html"


def _made(night: NightPage) -> str:
    """Return what redeemed, against the mean of the nights before."""
    redeemed, earlier = redeemed_of(night.history[0]), before(night.history)
    if not redeemed:
        return "nothing redeemed"
    words = compared(redeemed, mean(earlier), fewer="fewer")
    beside = f", {words} the mean of the {counted(len(earlier), 'night')} before," if words else ""
    payouts = amounts_text(payouts_of(night.history[0]))
    come = "comes" if redeemed == 1 else "come"
    return f"{counted(redeemed, 'redemption')}{beside} {come} to {payouts}"


def _facts(night: NightPage) -> Iterator[Fact]:
    tonight = night.history[0]
    imported = sum(row["status"] == "imported" for row in night.files)
    failed = sum(row["status"] != "imported" for row in night.files)
    yield Fact.of("files taken", imported, f"{counted(failed, 'file')} not taken" if failed else "")
    rejected = sum(row["invalid"] for row in night.summary)
    yield Fact.of(
        "purchases taken",
        sum(row["accepted"] for row in night.summary),
        f"{counted(rejected, 'row')} rejected" if rejected else "no row rejected",
    )
    there = (night.as_of - timedelta(days=7)).date()
    week_before = (
        f"{redeemed_of(row):,} on {there:%A}, {day_text(there)}"
        for row in night.history[1:]
        if row["as_of"].date() == there
    )
    yield Fact.of("redemptions", redeemed_of(tonight), next(week_before, ""))
    yield Fact.of_money("payout", payouts_of(tonight), "of these redemptions")
    settled = {name: row["settled_payout_amount"] for name, row in tonight["money"].items()}
    entries = sum(row["settled"] for row in tonight["money"].values())
    reversals = sum(row["adjustments"] for row in night.summary)
    parts = [
        f"{counted(entries, 'redemption')} whose hold has ended" if entries else "",
        f"less {counted(reversals, 'reversal')} of what was settled before" if reversals else "",
    ]
    yield Fact.of_money("settled", settled, ", ".join(filter(None, parts)))
    yield from _refunds(night.came_back)


def _refunds(came_back: Row) -> Iterator[Fact]:
    """Yield what was made of refunds, if there were any, or some wait."""
    linked, refused, waiting = (came_back[name] for name in ("linked", "refused", "waiting"))
    if not (linked or refused or waiting):
        return
    payouts = amounts_text(came_back["taken_back"])
    parts = [
        f"{payouts} of payout taken back" if came_back["taken_back"] else "nothing taken back",
        f"{counted(refused, 'refund')} refused" if refused else "",
        f"{counted(waiting, 'refund')} {'waits' if waiting == 1 else 'wait'}" if waiting else "",
    ]
    yield Fact.of("refunds linked", linked, ", ".join(filter(None, parts)))


def _sections(night: NightPage) -> Iterator[Section]:
    rows = sorted(night.findings, key=lambda row: _URGENCY[row["level"]])
    faults = sum(row["code"] == "audit_failed" for row in rows)
    audits = f"{night.audits} audits of the store were made; {faults or 'none'} found faults."
    lines = [] if needing(rows) else ["Nothing needs attention."]
    items = [
        {"level": _TONES[row["level"]], "message": row["message"], "next": to_do(row["next"])}
        for row in rows
    ]
    sheet = Sheet("findings", _FINDINGS, items, title="The most urgent first") if items else None
    yield Section(
        title="What needs attention", lines=[*lines, audits], sheet=sheet, anchor="attention"
    )
    yield from _files(night)
    yield from against(night.history)
    yield from _institutions(night)
    yield from budgets_that_end(night.offers, night.as_of)
    yield from webhooks_that_wait(night.deliveries)
    yield from what_else_waits(night.waiting)
    yield from rejects_section(night.rejects, lines=["Of the files of this nightly run."])


def _files(night: NightPage) -> Iterator[Section]:
    if not night.files:
        return
    ordered = sorted(
        night.files, key=lambda row: (row["status"] == "imported", bool(row.get("ok")), row["file"])
    )
    rows = []
    for row in ordered:
        why = "the same file was taken before" if row.get("already_imported") else ""
        if error := row.get("file_error"):
            why = str(error["message"])
        parts = [row, row["refunds"]] if row.get("refunds") else [row]
        is_partial = row["status"] == "imported" and not all(part["ok"] for part in parts)
        rows.append(
            {**row, "state": _PARTIAL if is_partial else _FILE_STATES[row["status"]], "why": why}
        )
    sheet = Sheet("files", _FILES, rows[:_MOST_FILES], title="Files, those not taken first")
    yield Section(title="Files", sheet=sheet, in_all=len(rows))


def _institutions(night: NightPage) -> Iterator[Section]:
    busy = [row for row in night.summary if is_busy(row)]
    quiet = sorted(
        {row["institution"] for row in night.summary} - {row["institution"] for row in busy}
    )
    rows = [{**row, "name": Link(row["institution"], page_of(row["institution"]))} for row in busy]
    if not night.summary:
        return
    yield Section(
        title="Institutions",
        lines=[
            "Each has a page: what it is owed, who takes its offers, what its merchants fund."
            if rows
            else "",
            f"Nothing came in from {_named(quiet)}, and nothing of theirs redeemed or was settled."
            if quiet
            else "",
        ],
        sheet=Sheet("institutions", _INSTITUTIONS, rows) if rows else None,
        anchor="institutions",
    )


def is_busy(row: Row) -> bool:
    """Whether anything came in from an institution, redeemed, was settled or was deducted."""
    return any(row[name] for name in ("received", "redeemed", "settled", "adjustments"))


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], f"{more:,} more"] if more > 0 else names)


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
        institutions = sorted(list_institutions(store), key=lambda institution: institution.slug)
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
    rows = [
        replace(row, has_ended=row.has_ended or row.night_no == work.night.night_no)
        for row in history
    ]
    folder = reports_folder(work.job.path, work.night.name).parent
    there = {row.name for row in rows if (folder / row.name / PAGE).exists()}
    clear_drafts(folder)
    _write(work, folder / PAGE, runs_page(rows, work.night.as_of, in_all=in_all, pages=there))


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
    findings = open_watch_findings(store)
    missing = sum(finding.findings for finding in findings if finding.code == FILE_MISSED)
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
    data = {
        "tonight": tonight,
        "owed": settlements.owed(store, institution_id=owner, limit=MOST_ROWS),
        "settlements": settlements.list_settlements(store, institution_id=owner, limit=MOST_ROWS),
        "funnel": funnel_beside(store, owner, window_of(now, None, None)),
        "offers": in_orders("offers", store, now, lately, limit=MOST_ROWS, of=("spend",)),
        "merchants": in_orders("merchants", store, now, lately, limit=MOST_ROWS, of=("funded",)),
        "unknown": unknown(store, lately, MOST_ROWS, of=("amount",)),
    }
    scope = ReportScope(
        as_of=now, institution=institution.slug, from_at=lately.from_at, is_usual=True
    )
    return institution_page(work.night.name, data, scope, reports)
