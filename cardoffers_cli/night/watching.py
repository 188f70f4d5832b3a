"""The watch of a night: what it found is told until a person accepts it; it stops no night."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.night.expected import look_before, tell_of_files
from cardoffers_cli.night.faults import failure_of
from cardoffers_cli.night.options import StepResult, finding
from cardoffers_cli.watch.observations import TOLD_ONCE, figures_text, watch_meaning
from cardoffers_cli.watch.questions import is_watched, open_watch_findings
from cardoffers_cli.watch.scan import look_at

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.options import NightContext
    from cardoffers_cli.night.questions import NightFinding
    from cardoffers_cli.watch.questions import OpenWatchFindings


def look_at_all(work: NightContext) -> None:
    """Look for what is to be told: of expected files, and in what came in of who is watched.

    Each institution is looked at by itself, and each file that its import could not keep, so that
    an error of one is told, and stops nothing.
    """
    look_before(work)
    with work.job.store(read_only=True) as store:
        watched = [owner for owner in list_institutions(store) if is_watched(store, owner.id)]
    work.unwatched = []
    for institution in watched:

        def failed(
            error: Exception, file: str | None = None, of: Institution = institution
        ) -> None:
            if work.onlooker.is_stopping():
                raise error
            work.unwatched.append(_failed(of, error, file))

        try:
            look_at(work.job, institution.id, failed)
        except Exception as error:  # noqa: BLE001  raised there, if it stops the night
            failed(error)


def watch(work: NightContext, store: Store) -> StepResult:
    """Tell what the watch found and nobody accepted, one finding for each institution and code.

    What there is to say of expected files is told first, and once.
    """
    files = tell_of_files(work, store)
    rows = open_watch_findings(store)
    counts = {"open": sum(row.findings for row in rows)} if rows else {}
    now = work.job.now
    again = [_told(row, now) for row in rows if row.code not in TOLD_ONCE]
    return StepResult(
        counts={**files.counts, **counts}, findings=[*work.unwatched, *files.findings, *again]
    )


def _told(row: OpenWatchFindings, now: datetime) -> NightFinding:
    """Say how many findings are open, what the newest says, and how to look at them.

    One of before is told with its day, so that nobody takes it for another one.
    """
    is_one = row.findings == 1
    inst = "" if row.about.startswith(f"{row.institution}/") else f"{row.institution}, "
    says = f"{watch_meaning(row.code).says} ({figures_text(row.figures)})"
    many = "" if is_one else f", the newest of {counted(row.findings, 'open finding')}"
    since = f" Found on {row.found_at:%Y-%m-%d}, and still open." if row.found_at < now else ""
    arguments = f"list --state open -i {row.institution} --code {row.code}"
    return finding(
        row.code,
        f"{inst}{shortened(row.about)}: {says}{many}.{since}",
        level="warning",
        then=f"cardoffers watch {f'show {row.newest_id}' if is_one else arguments}",
        institution=row.institution,
        count=row.findings,
    )


def _failed(institution: Institution, error: Exception, file: str | None) -> NightFinding:
    """Say that the watch of an institution failed, or of a file; raise a fault of the system."""
    what = f"The file {shortened(file)}" if file else "What came in"
    kind = type(failure_of(error).__cause__ or error).__name__
    return finding(
        "watch_failed",
        f"{what} of {institution.slug} could not be looked at ({kind}); all else went on.",
        level="warning",
        then=f"cardoffers institution set {institution.slug} --watch off, and report it",
        institution=institution.slug,
    )
