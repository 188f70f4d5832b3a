"""Findings of the watch: list them, show one, and accept one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.watch.observations import watch_meaning
from cardoffers_cli.watch.questions import (
    WatchFinding,
    accept_watch_finding,
    find_watch_finding,
    list_watch_findings,
)

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.watch.questions import WatchState


class WatchFindingDetails(WatchFinding):
    """One finding: what it means, and what to do next while it is open."""

    meaning: str
    next: str | None


def watch_rows(
    job: Job,
    institution: str | None = None,
    *,
    code: str | None = None,
    state: WatchState | None = None,
    limit: int,
) -> tuple[list[WatchFinding], int]:
    """Return findings, the open ones first, then the newest; and how many there are in all."""
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        findings = list_watch_findings(
            source.store, institution_id=owner, code=code, state=state, limit=limit
        )
    rows = [without_cards(replace(finding, findings=None)) for finding in findings]
    return rows, (findings[0].findings or 0) if findings else 0


def show_watch_finding(
    job: Job, finding: str, institution: str | None = None
) -> WatchFindingDetails:
    """Return one finding, named by its id or the beginning of that; raise `NotFound`."""
    with reading(job) as source:
        row = _find(source.store, finding, institution)
    says = watch_meaning(row.code).says
    details: WatchFindingDetails = without_cards(
        WatchFindingDetails(**row, meaning=says, next=_next(row))
    )
    return details


def accept_watch(
    job: Job, finding: str, reason: str, *, institution: str | None = None, dry_run: bool = False
) -> WatchFinding:
    """Accept a finding that is open; raise `NotFound`, and `Refused` finding_not_open."""
    if not reason.strip():
        raise UsageError(
            "Accepting a finding needs a reason.", hint='Say why: --reason "a bank holiday".'
        )
    with job.store() as store, store.transaction(keep=not dry_run):
        before = _find(store, finding, institution)
        if before.state != "open":
            raise Refused(
                f"The finding {before.finding_id} is {before.state} already.",
                code="finding_not_open",
                hint=f"{before.closed_by} closed it at {_closed(before)}: {before.reason}.",
            )
        with run_record(store, kind="watch_accept", now=job.now, actor=job.actor) as run:
            by = {"actor": job.actor, "reason": reason.strip(), "now": job.now}
            accept_watch_finding(store, before.finding_id, **by)
            run.counts["finding_id"] = before.finding_id
        after = find_watch_finding(store, str(before.finding_id))
    accepted: WatchFinding = without_cards(replace(after, dry_run=dry_run))
    return accepted


def _find(store: Store, finding: str, institution: str | None) -> WatchFinding:
    owner = find_institution(store, institution).id if institution else None
    return find_watch_finding(store, whole_id(store, "watch_finding", finding, owner), owner)


def _next(finding: WatchFinding) -> str | None:
    """Say what to do about a finding that is open, with its id in the place of FINDING."""
    if finding.state != "open":
        return None
    return watch_meaning(finding.code).then.replace("FINDING", str(finding.finding_id))


def _closed(finding: WatchFinding) -> str:
    return format_moment(finding.closed_at) if finding.closed_at else ""
