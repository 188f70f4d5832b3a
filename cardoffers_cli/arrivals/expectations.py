"""Which expected files came, and when (watch.md#files-that-are-expected): deadlines and files, met.

Every file counts once. The usual moment is as long before a deadline as the last files that came in
time were. Of the deadlines before and after it a file counts for the one whose usual moment it is
nearer to, if that still waits for a file; else for the newest that was missed in a month, or for
the next.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from statistics import median_low
from typing import TYPE_CHECKING

from cardoffers_cli.institutions.schedules import deadlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from cardoffers_cli.institutions.calendars import FileCalendar
    from cardoffers_cli.institutions.schedules import Expectation, FileDeadline

STATES = ("not_expected", "pending", "on_time", "late", "missed")
CATCH_UP = timedelta(days=31)
"""How long after its deadline a file may still be the one that was missed."""
_REACH = timedelta(days=62)
"""Longer than any time between two deadlines."""
_HABIT = 9
"""Files by which it is told when they usually come."""


@dataclass(frozen=True, kw_only=True)
class ReceivedFile:
    """A file that came, and when; `fault` is the code of why it does not count, if it does not."""

    name: str
    received_at: datetime
    import_id: str | None = None
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class JudgedDeadline:
    """A deadline with its state, the file that counts for it, and one that came and does not.

    `holiday` is the name of the day on which nothing is expected.
    """

    expected: Expectation
    deadline: FileDeadline
    state: str
    file: ReceivedFile | None
    refused: ReceivedFile | None
    holiday: str | None


@dataclass(kw_only=True)
class _Slot:
    """A deadline, which waits for a file while it `is_open`."""

    deadline: FileDeadline
    is_told: bool
    holiday: str | None
    file: ReceivedFile | None = None
    refused: ReceivedFile | None = None

    @property
    def is_open(self) -> bool:
        return self.is_told and self.holiday is None and self.file is None


def judge_deadlines(
    calendars: Sequence[FileCalendar], files: Iterable[ReceivedFile], now: datetime, until: datetime
) -> list[JudgedDeadline]:
    """Return the deadlines before `until` with their states at `now`, the newest last.

    `calendars` are in their order; a deadline is judged by the one that held at that moment.
    """
    came = sorted(
        (file for file in files if file.received_at <= now), key=attrgetter("received_at", "name")
    )
    expects = dict.fromkeys(item for calendar in calendars for item in calendar.expects)
    judged = [
        row
        for expected in expects
        for row in _judged(expected, calendars, came, now, until)
        if row.deadline.due_at < until
    ]
    return sorted(judged, key=lambda row: (row.deadline, row.expected.text))


def _judged(
    expected: Expectation,
    calendars: Sequence[FileCalendar],
    came: Sequence[ReceivedFile],
    now: datetime,
    until: datetime,
) -> Iterator[JudgedDeadline]:
    slots = _slots(expected, calendars, max(now, until) + _REACH)
    _place_all([file for file in came if expected.fits(file.name)], slots, calendars[0].set_at)
    for slot in slots:
        if slot.is_told:
            yield JudgedDeadline(
                expected=expected,
                deadline=slot.deadline,
                state=_state(slot, now),
                file=slot.file,
                refused=slot.refused,
                holiday=slot.holiday,
            )


def _slots(expected: Expectation, calendars: Sequence[FileCalendar], end: datetime) -> list[_Slot]:
    """Return every deadline, with some before anything was expected: files of then are theirs."""
    set_at = [calendar.set_at for calendar in calendars]
    slots = []
    for deadline in deadlines(expected, set_at[0] - _REACH, end):
        index = bisect_right(set_at, deadline.due_at) - 1
        calendar = calendars[max(index, 0)]
        is_holiday = expected.except_holidays and deadline.day in calendar.holidays
        slots.append(
            _Slot(
                deadline=deadline,
                is_told=index >= 0 and expected in calendar.expects,
                holiday=calendar.holidays[deadline.day] if is_holiday else None,
            )
        )
    return slots


def _place_all(came: Iterable[ReceivedFile], slots: Sequence[_Slot], since: datetime) -> None:
    """Let each file count for the deadline that it is for.

    What came before anything was expected, at `since`, tells no more than when files usually come.
    While none came in time, the first may be late by half the time to the next deadline, and others
    by a quarter: else who sends long before the deadline would stay late after one missing file.
    """
    moments = [slot.deadline.due_at for slot in slots]
    leads: deque[timedelta] = deque(maxlen=_HABIT)
    has_counted = False
    for file in came:
        after = bisect_left(moments, file.received_at)
        lead = moments[after] - file.received_at
        gap = moments[after] - moments[max(after - 1, 0)]
        usual = median_low(leads) if leads else gap / 4 if has_counted else timedelta()
        chosen = next(
            (
                slots[index]
                for index in _nearest(file.received_at, moments, after, usual)
                if slots[index].is_open
            ),
            None,
        )
        if chosen is not None and file.fault is not None:
            chosen.refused = file
        elif chosen is not None:
            chosen.file = file
        if file.fault is None and (chosen is slots[after] or file.received_at < since):
            leads.append(lead)
        has_counted = has_counted or (chosen is not None and file.fault is None)


def _nearest(
    moment: datetime, moments: Sequence[datetime], after: int, usual: timedelta
) -> Iterator[int]:
    """Yield the deadlines that a file may be for, the likeliest first, by their places.

    That is the next one, those before it of a month, or the other way round.
    """
    first = min(bisect_left(moments, moment - CATCH_UP), max(after - 1, 0))
    before = range(after - 1, first - 1, -1)
    is_behind = before and moment - (moments[after - 1] - usual) < moments[after] - usual - moment
    yield from (*before, after) if is_behind else (after, *before)


def _state(slot: _Slot, now: datetime) -> str:
    due_at = slot.deadline.due_at
    if slot.holiday is not None:
        return "not_expected"
    if slot.file is not None:
        return "on_time" if slot.file.received_at <= due_at else "late"
    return "pending" if now <= due_at else "missed"
