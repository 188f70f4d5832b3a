"""Deadlines and files, met: what state each deadline is in, and which file counts for it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from cardoffers_cli.arrivals.expectations import ReceivedFile, judge_deadlines
from cardoffers_cli.institutions.calendars import FileCalendar
from cardoffers_cli.institutions.schedules import parse_expectation, parse_holidays

NIGHTLY = "*.csv by 01:00 UTC on weekdays except holidays"
LATE_IN_THE_DAY = "*.csv by 23:00 UTC daily"
HOLIDAY = "2026-11-30 Saint Andrew's Day"

# November 2026: the 24th is a Tuesday, the 30th a Monday and a holiday. Files by day and hour, one
# that was refused with a !. Then each day with its state: + in time, = late, - missed, ? pending,
# . not expected; and when the late file came.
SIGNS = {"on_time": "+", "late": "=", "missed": "-", "pending": "?", "not_expected": "."}
CASES = """
name                       | by | now   | files                   | states
none came yet              | 01 | 24T00 |                         | 24?
at the deadline itself     | 01 | 24T01 |                         | 24?
one came before            | 01 | 24T00 | 24T00                   | 24+
one of the evening before  | 01 | 24T02 | 23T14                   | 24+
one came at the deadline   | 01 | 24T02 | 24T01                   | 24+
none came                  | 01 | 24T02 |                         | 24- 25?
it came after              | 01 | 24T09 | 24T08                   | 24=24T08 25?
it came before the next    | 01 | 25T02 | 25T00                   | 24- 25+
yesterday's came with it   | 01 | 25T02 | 25T00 25T00             | 24=25T00 25+
yesterday's came behind it | 01 | 25T04 | 25T00 25T03             | 24=25T03 25+
three came for three       | 01 | 26T02 | 26T00 26T00 26T00       | 24=26T00 25=26T00 26+
two came for one           | 01 | 25T02 | 24T00 24T00             | 24+ 25-
the second came after it   | 01 | 25T02 | 24T00 24T03             | 24+ 25+
one before it was expected | 01 | 24T02 | 22T00                   | 24-
a weekend needs none       | 01 | 29T02 | 24T00 25T00 26T00 27T00 | 24+ 25+ 26+ 27+
a holiday needs none       | 01 | 30T02 | 24T00 25T00 26T00 27T00 | 24+ 25+ 26+ 27+ 30.
a file on a holiday        | 01 | 31T02 | 24T00 25T00 26T00 27T00 30T00 | 24+ 25+ 26+ 27+ 30. 31-
friday's on the holiday    | 01 | 30T02 | 24T00 25T00 26T00 30T00 | 24+ 25+ 26+ 27=30T00 30.
refused                    | 01 | 24T02 | !24T00                  | 24-!24T00
refused, then another      | 01 | 24T02 | !23T22 24T00            | 24+
refused, then another late | 01 | 24T06 | !24T00 24T05            | 24=24T05
long before its deadline   | 23 | 25T22 | 24T09 25T09             | 24+ 25+
one of these is missing    | 23 | 28T03 | 24T02 26T02 27T02 28T02 | 24+ 25- 26+ 27+ 28+
later than usual, in time  | 23 | 26T22 | 24T02 25T02 26T22       | 24+ 25+ 26+
it was so before           | 23 | 26T03 | 22T02 23T02 25T02 26T02 | 24- 25+ 26+
late each time             | 01 | 28T00 | 24T00 25T02 26T02 27T02 | 24+ 25=25T02 26=26T02 27=27T02
daily, holidays or not     | 23 | 30T23 | 28T09 29T09 30T09       | 24- 25- 26- 27=28T09 28- 29+ 30+
late from the first on     | 01 | 27T00 | 24T02 25T02 26T02       | 24=24T02 25=25T02 26=26T02
"""


def at(text: str) -> datetime:
    """Return a moment of November; the 31st is the first of December."""
    day, hour = text.split("T")
    return datetime(2026, 11, 1, int(hour)) + timedelta(days=int(day) - 1)  # noqa: DTZ001  moments are UTC


def told(moment: datetime) -> str:
    return f"{(moment - datetime(2026, 10, 31)).days}T{moment.hour:02}"  # noqa: DTZ001


def cases() -> list[list[str]]:
    return [[part.strip() for part in line.split("|")] for line in CASES.strip().splitlines()[1:]]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case[0])
def test_a_file_counts_once_for_the_deadline_it_is_nearest_to(case: list[str]) -> None:
    """watch.md#files-that-are-expected"""
    _, rule, now, files, states = case
    expected = parse_expectation(NIGHTLY if rule == "01" else LATE_IN_THE_DAY)
    calendar = FileCalendar(
        set_at=at("23T12" if rule == "01" else "24T00"),
        expects=(expected,),
        holidays=parse_holidays(HOLIDAY, ""),
    )
    came = [
        ReceivedFile(
            name=f"{number}.csv",
            received_at=at(text.removeprefix("!")),
            fault="file_truncated" if text[0] == "!" else None,
        )
        for number, text in enumerate(files.split())
    ]
    last = max(at(now), at("24T12")) + timedelta(days=1)
    found = []
    for each in judge_deadlines([calendar], came, at(now), last):
        moment, state = told(each.deadline.due_at).partition("T")[0], SIGNS[each.state]
        file = told(each.file.received_at) if each.file and state == "=" else ""
        refused = f"!{told(each.refused.received_at)}" if each.refused and not each.file else ""
        found.append(f"{moment}{state}{file}{refused}")
    wanted = states.split()
    assert wanted == found[: len(wanted)]
    assert set("?.") >= {each[2] for each in found[len(wanted) :]}


def test_the_past_is_judged_by_what_was_expected_then() -> None:
    first, second = (parse_expectation(f"{name} by 01:00 UTC") for name in ("a", "b"))
    none = {at("26T00").date(): "a day off"}
    calendars = [
        FileCalendar(set_at=at("23T12"), expects=(first,), holidays={}),
        FileCalendar(set_at=at("24T12"), expects=(first, second), holidays={}),
        FileCalendar(set_at=at("25T12"), expects=(), holidays=none),
        FileCalendar(set_at=at("27T12"), expects=(second,), holidays=none),
    ]
    came = [
        ReceivedFile(name="a", received_at=at("25T00")),
        ReceivedFile(name="b", received_at=at("24T00")),
    ]
    judged = judge_deadlines(calendars, came, at("28T02"), at("28T12"))
    assert [
        ("24", "a", "missed"),
        ("25", "a", "on_time"),
        ("25", "b", "missed"),
        ("28", "b", "missed"),
    ] == [(told(each.deadline.due_at)[:2], each.expected.pattern, each.state) for each in judged]


def test_what_is_not_yet_known_changes_no_state() -> None:
    """Each moment is judged by what had come by then, whoever asks later."""
    expected = parse_expectation(NIGHTLY)
    calendar = FileCalendar(set_at=at("02T12"), expects=(expected,), holidays={})
    came = [ReceivedFile(name="x.csv", received_at=at(f"{day:02}T03")) for day in range(3, 28, 2)]
    for now in (at("10T02"), at("17T22"), at("28T00")):
        known = [file for file in came if file.received_at <= now]
        assert judge_deadlines([calendar], known, now, now) == judge_deadlines(
            [calendar], came, now, now
        )
