from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from cardoffers_cli.domain.moments import format_moment, parse_moment


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
