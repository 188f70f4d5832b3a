"""The watch of a night: what came in strangely, and files that did not come, or too late.

What it found is told until a person accepts it. A file that did not come is told once, by the first
night after its deadline: its finding has an id that is derived from the expectation and the day,
and it is resolved when the file comes. Nothing here stops a night: an error is told, and the night
goes on.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cardoffers_cli.arrivals.expectations import CATCH_UP
from cardoffers_cli.arrivals.work import ArrivalNotices, judge_arrivals
from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.moments import format_minute, format_moment
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened
from cardoffers_cli.night.findings import failure_of
from cardoffers_cli.night.options import WITHOUT_CONSEQUENCE, StepResult, finding
from cardoffers_cli.watch import questions
from cardoffers_cli.watch.observations import (
    FILE_LATE,
    FILE_MISSED,
    TOLD_ONCE,
    Observation,
    figures_text,
    watch_meaning,
)
from cardoffers_cli.watch.scan import look_at

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.arrivals.work import Arrival
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
        watched = [owner for owner in list_institutions(store) if owner.is_watched]
    work.unwatched = []
    for institution in watched:

        def failed(
            error: Exception, file: str | None = None, of: Institution = institution
        ) -> None:
            if work.onlooker.is_stopping():
                raise error
            what = f"The file {shortened(file)}" if file else "What came in"
            kind = type(failure_of(error).__cause__ or error).__name__
            work.unwatched.append(
                finding(
                    "watch_failed",
                    f"{what} of {of.slug} could not be looked at ({kind}); all else went on.",
                    level="warning",
                    then=f"cardoffers institution set {of.slug} --watch off, and report it",
                    institution=of.slug,
                )
            )

        try:
            look_at(work.job, institution.id, failed)
        except Exception as error:  # noqa: BLE001  raised there, if it stops the night
            failed(error)


def watch(work: NightContext, store: Store) -> StepResult:
    """Tell what the watch found and nobody accepted, one finding for each institution and code.

    What there is to say of expected files is told first, and once.
    """
    files = tell_of_files(work, store)
    rows = questions.open_watch_findings(store)
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


_MOST_FINDINGS = 100_000
_CODES = {"missed": FILE_MISSED, "late": FILE_LATE}
_WHY = {"file_known": "nothing in it is new", "rows_rejected": "every row of it was rejected"}
"""Why a file that came does not count; any other code is that of why it was refused."""


def look_for_files(store: Store, now: datetime) -> ArrivalNotices:
    """Return what of the deadlines of the last month was not told yet."""
    arrivals = [row for row in judge_arrivals(store, now) if row.due_at >= now - CATCH_UP]
    if not arrivals:
        return ArrivalNotices()
    past = {
        (row.institution, row.subject, row.about_on): row.state
        for code in _CODES.values()
        for row in questions.list_watch_findings(store, code=code, limit=_MOST_FINDINGS)
    }
    states = [(row, past.get((row.institution, row.expected, row.due_on))) for row in arrivals]
    return ArrivalNotices(
        arrivals=arrivals,
        told=[row for row, state in states if row.state in _CODES and state is None],
        came=[row for row, state in states if row.file and state == "open"],
    )


def is_file_news(store: Store, now: datetime) -> bool:
    """Whether there is anything to tell of expected files, so that a night has something to do."""
    try:
        news = look_for_files(store, now)
    except Exception:  # noqa: BLE001  the night that begins for another reason tells of it
        return False
    return bool(news.told or news.came)


def look_before(work: NightContext) -> None:
    """Look for what is to be told, while nothing else is done: an error is kept, to be told."""
    try:
        with work.job.store(read_only=True) as store:
            work.file_news = look_for_files(store, work.job.now)
    except Exception as error:
        if work.onlooker.is_stopping():
            raise
        message = error.message if isinstance(error, CardoffersError) else type(error).__name__
        work.file_news = ArrivalNotices(error=message)


def tell_of_files(work: NightContext, store: Store) -> StepResult:
    """Keep what is told of expected files, and resolve what was told of those that came."""
    news = work.file_news or look_for_files(store, work.job.now)
    if news.error:
        message = f"Whether every expected file came is not known: {news.error}"
        then = "cardoffers arrivals"
        unknown = finding("arrivals_unknown", message, level="warning", then=then)
        return StepResult(counts={}, findings=[unknown])
    for row in news.told:
        questions.record_findings(
            store, row.institution_id, [_watched(row)], run_no=work.night.run_no, now=work.job.now
        )
    late_rows = [row for row in news.told if row.state == "late"]
    for row in [*news.came, *late_rows]:
        # What was told of a deadline: its file is there. One that came late needs nobody.
        came_at = row.received_at or work.job.now
        for code in _CODES.values():
            store.execute(
                "watch/questions:resolve",
                institution_id=row.institution_id,
                code=code,
                subject=row.expected,
                about_on=row.due_on,
                reason=f"{row.file} came at {format_minute(came_at)}",
                actor=work.job.actor,
                now=work.job.now,
            )
    states = Counter(row.state for row in news.arrivals)
    names = ("on_time", "late", "missed", "pending") if news.arrivals else ()
    counts = {f"files_{name}": states[name] for name in names}
    return StepResult(counts=counts, findings=_findings(news))


def _watched(arrival: Arrival) -> Observation:
    came_at = arrival.received_at
    figures = {
        "due_at": format_moment(arrival.due_at),
        "file": arrival.file,
        "received_at": format_moment(came_at) if came_at else None,
        "refused": arrival.refused,
        "why": arrival.why,
    }
    return Observation(
        code=_CODES[arrival.state],
        subject=arrival.expected,
        about_on=arrival.due_on,
        figures={name: value for name, value in figures.items() if value is not None},
    )


def _findings(news: ArrivalNotices) -> list[NightFinding]:
    """Return a finding of each expectation and state, of its newest deadline."""
    groups: dict[tuple[str, str, str], list[Arrival]] = {}
    for row in news.told:
        groups.setdefault((row.institution, row.expected, row.state), []).append(row)
    return [
        *(_missed(rows) for (*_, state), rows in groups.items() if state == "missed"),
        *(_late(rows) for (*_, state), rows in groups.items() if state == "late"),
        *(
            _about(row, f"{_came_at(row)}: nothing is missing any more of {_due(row)}", 1)
            for row in news.came
        ),
    ]


def _missed(rows: list[Arrival]) -> NightFinding:
    newest = rows[-1]
    name, inst = newest.pattern, newest.institution
    before = f" Nor did those of {counted(len(rows) - 1, 'deadline')} before." if rows[1:] else ""
    why = _WHY.get(newest.why or "", f"it was refused ({newest.why})")
    refused = f" {newest.refused} came, and does not count: {why}." if newest.refused else ""
    return finding(
        FILE_MISSED,
        f"{inst}: the file {name} did not come by {_due(newest)}.{refused}{before}",
        level="warning",
        then=f"cardoffers arrivals -i {inst}",
        institution=inst,
        expected=newest.expected,
        count=len(rows),
    )


def _late(rows: list[Arrival]) -> NightFinding:
    newest = rows[-1]
    before = f", and so did {len(rows) - 1:,} before" if rows[1:] else ""
    return _about(newest, f"{_came_at(newest)}, it was due by {_due(newest)}{before}", len(rows))


def _about(arrival: Arrival, message: str, count: int) -> NightFinding:
    return finding(
        FILE_LATE,
        f"{arrival.institution}: {message}.",
        level=WITHOUT_CONSEQUENCE,
        institution=arrival.institution,
        expected=arrival.expected,
        count=count,
    )


def _came_at(arrival: Arrival) -> str:
    at = arrival.received_at
    return f"{arrival.file} came at {format_minute(at)}" if at else f"{arrival.file} came"


def _due(arrival: Arrival) -> str:
    return format_minute(arrival.due_at)
