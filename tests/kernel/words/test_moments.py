from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from cardoffers_cli.kernel.words.moments import (
    a_year_after,
    format_length,
    format_moment,
    parse_duration,
    parse_moment,
)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01", datetime(2026, 3, 1)),  # noqa: DTZ001
        ("2026-03-01T06:00", datetime(2026, 3, 1, 6)),  # noqa: DTZ001
        ("2026-03-01 06:00:07Z", datetime(2026, 3, 1, 6, 0, 7)),  # noqa: DTZ001
        ("2026-03-01T06:00:07.25+05:30", datetime(2026, 3, 1, 0, 30, 7, 250000)),  # noqa: DTZ001
        ("2026-03-01T23:00:00-01:00", datetime(2026, 3, 2)),  # noqa: DTZ001
        (" 2026-03-01 ", datetime(2026, 3, 1)),  # noqa: DTZ001
    ],
)
def test_a_moment_is_read_as_utc(text: str, moment: datetime) -> None:
    assert moment == parse_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "today",
        "2026-02-30",
        "2026-3-1",
        "20260301",
        "2026-03-01T24:00Z",
        "2026-03-01T06:00:60Z",
        "2026-03-01T06Z",
        "2026-03-01T06:00:00.Z",
        "2026-03-01T06:00:00+0530",
        "2026-03-01Z",
        "٢٠٢٦-03-01",
        "0001-01-01T00:00+01:00",
        "9999-12-31T23:59-01:00",
        "2026-03-01T06:00+24:00",
    ],
)
def test_anything_else_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_moment(text)


def test_a_moment_is_written_with_milliseconds() -> None:
    assert "2026-03-01T06:00:07.250Z" == format_moment(datetime(2026, 3, 1, 6, 0, 7, 250999))  # noqa: DTZ001


@examples(st.datetimes().map(lambda moment: moment.replace(microsecond=0)))
def test_what_is_written_reads_back(moment: datetime) -> None:
    assert moment == parse_moment(format_moment(moment))


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("7d", timedelta(days=7)),
        ("12h", timedelta(hours=12)),
        ("30m", timedelta(minutes=30)),
        (" 90s ", timedelta(seconds=90)),
        ("0d", timedelta()),
    ],
)
def test_a_length_of_time(text: str, length: timedelta) -> None:
    assert length == parse_duration(text)


@pytest.mark.parametrize("text", ["", "7", "d", "-7d", "1.5d", "7 d", "7w", "7D", "٢d", "1000000d"])
def test_anything_else_is_no_length_of_time(text: str) -> None:
    with pytest.raises(ValueError, match="length of time"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("moment", "later"),
    [
        ("2026-06-01T12:00:00.001Z", "2027-06-01T12:00:00.001Z"),
        ("2027-12-31T23:59:59.000Z", "2028-12-31T23:59:59.000Z"),
        ("2028-02-28T06:00:00.000Z", "2029-02-28T06:00:00.000Z"),
        ("2028-02-29T06:00:00.000Z", "2029-02-28T06:00:00.000Z"),
    ],
)
def test_a_year_later_is_the_same_day(moment: str, later: str) -> None:
    assert later == format_moment(a_year_after(parse_moment(moment)))


@pytest.mark.parametrize(
    ("expected", "seconds"),
    [
        ("less than 1 s", 0),
        ("less than 1 s", 0.5),
        ("1 s", 1),
        ("1 min 1 s", 61),
        ("2 h", 7_200),
        ("1 d 1 s", 86_401),
        ("400 d 23 h", 400 * 86_400 + 86_399),
    ],
)
def test_a_length_is_told_in_two_units(expected: str, seconds: float) -> None:
    assert expected == format_length(timedelta(seconds=seconds))
