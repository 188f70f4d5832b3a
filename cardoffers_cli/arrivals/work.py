"""Which expected files came, and which did not: derived from what was taken in, and the clock.

A file counts once it was taken, by the nightly run or by `import`: what lies in the drop folder is
not known here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.arrivals.expectations import CATCH_UP, ReceivedFile, judge_deadlines
from cardoffers_cli.institutions.calendars import NightFileRow, kept_calendars
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.arrivals.expectations import JudgedDeadline
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

LATELY = timedelta(days=14)
"""How far back a list goes, if nothing is said."""
_LONGEST = timedelta(days=3660)
_NEXT = timedelta(days=62)
"""Within which every expectation has another deadline."""


class Arrival(
    Record, sheet="institution due_at state pattern file refused why received_at * institution_id"
):
    """A deadline of a file that is expected, its state, and the file that came for it.

    `expected` is the whole expectation, `pattern` how its file is called, `due_on` the day in its
    zone that is meant. `why` tells of a state: the holiday, or the code of why a file that came
    does not count, which is `refused`.
    """

    institution_id: UUID = shown(gives_way=7)
    institution: str
    pattern: str = shown("expected")
    expected: str = shown("when", gives_way=4)
    due_on: date = shown("day", gives_way=5)
    due_at: datetime = shown("due at")
    state: str
    file: str | None
    received_at: datetime | None = shown("received at", gives_way=3)
    import_id: str | None = shown(kind="id", gives_way=6)
    refused: str | None = shown(gives_way=1)
    why: str | None = shown(gives_way=2)


class ArrivalCounts(Record):
    """How the deadlines of the last 14 days stand, of every institution.

    `next_due_at` is the first deadline that is still to come, if any is.
    """

    on_time: int
    late: int
    missed: int
    next_due_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class ArrivalNotices:
    """What is to be told of deadlines, and the files that came for such as were told missed.

    `arrivals` are all the deadlines of a month; `error` is why there is none of this.
    """

    arrivals: list[Arrival] = field(default_factory=list)
    told: list[Arrival] = field(default_factory=list)
    came: list[Arrival] = field(default_factory=list)
    error: str | None = None


def arrivals(
    job: Job,
    institution: str | None = None,
    *,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
) -> list[Arrival]:
    """Return the deadlines of files of an institution, or of all, the oldest first.

    Those of the last 14 days and the next one, if nothing is said. Raises `NotFound`, and
    `UsageError` for more than ten years.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        first = from_at or min(job.now, to_at or job.now) - LATELY
        if to_at and to_at - min(first, job.now) > _LONGEST:
            raise UsageError(
                "--to is more than ten years later than --from, or than now.",
                hint="Ask for a shorter time, such as a year.",
            )
        rows = judge_arrivals(source.store, job.now, owner, until=to_at)
    return [row for row in rows if row.due_at >= first]


def judge_arrivals(
    store: Store,
    now: datetime,
    institution_id: UUID | None = None,
    *,
    until: datetime | None = None,
) -> list[Arrival]:
    """Return every deadline of files since the first was set, by institution, with its state.

    Up to `until` or, where that is None, up to the next one of each expectation.
    """
    results = []
    for owner, (slug, calendars) in kept_calendars(store, institution_id).items():
        rows = store.records(
            NightFileRow,
            "institutions/calendars:came",
            institution_id=owner,
            from_at=calendars[0].set_at - CATCH_UP,
        )
        came = [ReceivedFile(**row) for row in rows]
        judged = judge_deadlines(calendars, came, now, until or now + _NEXT)
        deadlines = judged if until else _up_to_next(judged, now)
        results += [_arrival(owner, slug, deadline) for deadline in deadlines]
    return results


def _up_to_next(judged: list[JudgedDeadline], now: datetime) -> list[JudgedDeadline]:
    """Return the deadlines that are over, and the next one of each that is expected."""
    deadlines, waits = [], set()
    for deadline in judged:
        if deadline.deadline.due_at >= now and deadline.holiday is None:
            if deadline.expected in waits:
                continue
            waits.add(deadline.expected)
        elif deadline.expected in waits:
            continue
        deadlines.append(deadline)
    return deadlines


def _arrival(institution_id: UUID, slug: str, judged: JudgedDeadline) -> Arrival:
    file, refused = judged.file, None if judged.file else judged.refused
    return Arrival(
        institution_id=institution_id,
        institution=slug,
        pattern=judged.expected.pattern,
        expected=judged.expected.text,
        due_on=judged.deadline.day,
        due_at=judged.deadline.due_at,
        state=judged.state,
        file=file.name if file else None,
        received_at=file.received_at if file else None,
        import_id=file.import_id if file else None,
        refused=refused.name if refused else None,
        why=judged.holiday or (refused.fault if refused else None),
    )


def count_arrivals(store: Store, now: datetime) -> ArrivalCounts | None:
    """Return how the deadlines of the last 14 days stand, if any file was expected."""
    lately = [arrival for arrival in judge_arrivals(store, now) if arrival.due_at >= now - LATELY]
    if not lately:
        return None
    states = Counter(arrival.state for arrival in lately)
    pending = (arrival.due_at for arrival in lately if arrival.state == "pending")
    return ArrivalCounts(
        on_time=states["on_time"],
        late=states["late"],
        missed=states["missed"],
        next_due_at=min(pending, default=None),
    )
