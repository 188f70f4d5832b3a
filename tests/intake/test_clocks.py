"""Times are read as a profile says in plain Python and by columns, to the same moments."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import polars as pl
import pytest

from cardoffers_cli.intake.layout_model import TimeSource
from cardoffers_cli.intake.plain.clocks import ProfiledTimes
from cardoffers_cli.intake.profiles.translation import utc_texts
from sizes import tries

FORMATS = [
    "%d.%m.%Y",
    "%d/%m/%y",
    "%Y-%m-%d",
    "%Y%m%d",
    "%y%m%d",
    "%d-%b-%y",
    "%B %d, %y (%b)",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d%m%Y%H%M%S",
    "%m/%d/%Y %I:%M %p",
    "%Y %m %d %I:%M:%S%p",
    "%d.%m.%Y %H:%M:%S.%f",
    "%d.%m.%Y %H:%M:%S,%f",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%d %H:%M %z",
    "%d.%m.%Y%%%H.%M",
    "serial",
]
ZONES = [None, "UTC", "Europe/Berlin", "America/Sao_Paulo", "America/New_York", "Asia/Beirut"]
DAY, END = datetime(1994, 1, 1), datetime(2031, 1, 1)  # noqa: DTZ001  local
PUT = [*"0123456789 .:/-+,TzZ", "\xa0", "\u2003", "\x1c", "\u2212", "mar", "MAY", "pm", "24", "60"]
CHANGES = [
    *("2026-10-25 02:30:00", "2026-03-29 02:30:00", "2018-11-04 00:00:00", "2017-10-15 00:00:00"),
    *("2018-02-17 23:30:00", "2024-03-31 00:00:00", "2026-11-01 01:00:00", "2011-12-30 00:00:00"),
]


def texts(form: str, chance: random.Random) -> list[str]:
    """Return times as a format writes them, and what chance makes of them."""
    found = ["46099", "46099,5", "46099.770833333336", "2026-03-05", "2026-03-05 10:00", "?"]
    moments = [datetime.fromisoformat(each) for each in CHANGES]
    for _ in range(tries(300, 3_000)):
        moments.append(DAY + chance.random() * (END - DAY))
        moments.append(chance.choice(moments[: len(CHANGES)]) + timedelta(minutes=29))
    for at in moments:
        if form == "serial":
            text = f"{(at - datetime(1899, 12, 30)) / timedelta(days=1)}"  # noqa: DTZ001  local
        else:
            text = at.strftime(form.replace("%z", "+0130"))
        for _ in range(chance.choice([0, 0, 1, 1, 3])):
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice(["", *PUT]) + text[place + chance.randrange(2) :]
        found.append(text.strip() or "?")
    return found


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.filterwarnings("ignore::polars.exceptions.ChronoFormatWarning")
def test_both_readings_of_times_agree(form: str, zone: str | None) -> None:
    chance = random.Random(form)  # noqa: S311
    source, given = TimeSource(column=1, format=form), texts(form, chance)
    expected = zip(*utc_texts(pl.Series("at", given), source, zone), strict=True)
    times = ProfiledTimes(source, zone)
    assert [*map(usual, given, expected)] == [usual(text, times[text]) for text in given]


def usual(given: str, read: tuple[str, str | None]) -> tuple[str, str, str | None]:
    """Return what was read of a text; of years that are none of ours, that it is one of these.

    Of those after 2099 polars knows no summer time, and of those before 1 Python knows nothing.
    """
    year = read[0].partition("-")[0]
    is_ours = read[0] == "?" or (year.isdigit() and "0000" < year < "2100")
    return (given, *read) if is_ours else (given, "far" if year > "2099" else "?", None)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("%d/%m/%y", "30/12/1,"),
        ("%y%m%d", "9Z0904"),
        ("%d-%b-%y", "30-Oct-2."),
        ("%Y%m%d", "20Z60904"),
    ],
)
def test_a_digit_and_something_else_are_no_year(form: str, text: str) -> None:
    source = TimeSource(column=1, format=form)
    assert ["?"] == utc_texts(pl.Series("at", [text]), source, "UTC")[0].to_list()
    assert "?" == ProfiledTimes(source, "UTC")[text].text
