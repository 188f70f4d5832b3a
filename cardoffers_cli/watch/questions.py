"""What the watch found: record findings, resolve them, list them, accept one; and who is watched.

A finding is of an institution, a code, a subject and a day, and its id is derived from these: who
records it twice records it once. It is open until somebody accepts it, or what found it resolves
it; then it stays so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.watch.observations import Observation, read_figures, watch_meaning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


WatchState = Literal["open", "accepted", "resolved"]


class WatchFinding(
    Record,
    sheet="finding_id institution code about about_on figures state found_at closed_by reason",
):
    """A finding of the watch, in the shape of `watch list --format json`.

    `about` names its subject as people know it; `figures` are exact; `import_id` is of its file.
    A list has in `findings` how many were asked for; `dry_run` is there once it was accepted.
    """

    finding_id: UUID = shown("finding")
    institution_id: UUID
    institution: str = shown(gives_way=3)
    code: str
    subject: str
    import_id: UUID | None
    about: str = shown("of")
    about_on: date = shown("on", gives_way=1)
    figures: Mapping[str, Any] = shown(gives_way=2)
    found_at: datetime = shown("found at", gives_way=4)
    state: str
    closed_at: datetime | None
    closed_by: str | None = shown("closed by", gives_way=5)
    reason: str | None = shown(gives_way=6)
    findings: int | None = if_any()
    dry_run: bool | None = if_any()


class OpenWatchFindings(Record):
    """How many findings of an institution and a code are open; what the newest of them says."""

    institution: str
    code: str
    findings: int
    newest_id: UUID
    about: str
    figures: Mapping[str, Any]
    found_at: datetime


def record_findings(
    store: Store, institution_id: UUID, items: Sequence[Observation], *, run_no: int, now: datetime
) -> int:
    """Record findings of an institution, in the caller's transaction; return how many are new."""
    if not items:
        return 0
    return store.execute(
        "watch/questions:record",
        institution_id=institution_id,
        codes=[item.code for item in items],
        subjects=[item.subject for item in items],
        days=[item.about_on for item in items],
        figures=[dumps(dict(item.figures)) for item in items],
        run_no=run_no,
        now=now,
    )


def list_watch_findings(
    store: Store,
    *,
    institution_id: UUID | None = None,
    code: str | None = None,
    state: WatchState | None = None,
    finding_id: str | None = None,
    limit: int,
) -> list[WatchFinding]:
    """Return findings, the open ones first, then the newest."""
    rows = store.rows(
        "watch/questions:findings",
        institution_id=institution_id,
        code=code,
        state=state,
        finding_id=finding_id,
        limit=limit,
    )
    return [WatchFinding.of({**row, "figures": read_figures(row["figures"])}) for row in rows]


def find_watch_finding(
    store: Store, finding_id: str, institution_id: UUID | None = None
) -> WatchFinding:
    """Return one finding by its whole id; raise `NotFound`."""
    findings = list_watch_findings(
        store, institution_id=institution_id, finding_id=finding_id, limit=1
    )
    if not findings:
        raise NotFound(
            "The watch has no finding with this id.",
            code="finding_not_found",
            hint="`cardoffers watch list` shows them with their ids.",
        )
    return replace(findings[0], findings=None)


def open_watch_findings(
    store: Store, institution_id: UUID | None = None
) -> list[OpenWatchFindings]:
    """Return the open findings of an institution, or of all, by institution and code."""
    rows = store.rows("watch/questions:open_findings", institution_id=institution_id)
    return [OpenWatchFindings.of({**row, "figures": read_figures(row["figures"])}) for row in rows]


# Abuse: who earns strangely, by what came in since the look before. A person decides about it.
#
# A cardholder or an instrument is named by its number, so that no token stands in a finding. What
# was told of one in the last 30 days is not told again.


CODES = (
    *("instrument_shared", "cardholder_busy"),
    *("merchant_concentrated", "refund_after_settlement"),
)


def find_abuse(store: Store, institution_id: UUID, now: datetime) -> list[Observation]:
    """Return what is strange in what came in since the newest look; nothing before the first."""
    of = {"institution_id": institution_id}
    look = store.row("watch/abuse:last_look", **of)
    if look is None:
        return []
    redemption_no = {**of, "redemption_no": look["redemption_no"]}
    rows = [
        *store.rows("watch/abuse:shared_instruments", **of, instrument_no=look["instrument_no"]),
        *store.rows("watch/abuse:busy_cardholders", **redemption_no),
        *store.rows("watch/abuse:concentrated_merchants", **redemption_no),
        *store.rows("watch/abuse:refunds_after_settlement", **of, run_no=look["run_no"]),
    ]
    if not rows:
        return []
    recent = store.rows("watch/abuse:told_lately", **of, codes=[*CODES], now=now)
    lately = {(row["code"], row["subject"]) for row in recent}
    return [
        Observation(row["code"], row["subject"], now.date(), row["figures"])
        for row in rows
        if (row["code"], row["subject"]) not in lately
    ]


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
            closed = before.closed_at and format_moment(before.closed_at)
            raise Refused(
                f"The finding {before.finding_id} is {before.state} already.",
                code="finding_not_open",
                hint=f"{before.closed_by} closed it at {closed}: {before.reason}.",
            )
        with run_record(store, kind="watch_accept", now=job.now, actor=job.actor) as run:
            by = {"actor": job.actor, "reason": reason.strip(), "now": job.now}
            store.execute("watch/questions:accept", finding_id=before.finding_id, **by)
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
