"""When files are expected: what can be written, what it means, and what is said of the rest."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from cardoffers_cli.institutions.schedules import (
    deadlines,
    holidays_text,
    parse_expectation,
    parse_holidays,
)
from cardoffers_cli.kernel.words.errors import UsageError

GOOD = """
*.csv by 01:00 Europe/London on weekdays    | *.csv by 01:00 Europe/London on mon,tue,wed,thu,fri
*.csv by 01:00 Europe/London                | *.csv by 01:00 Europe/London daily
*.csv by 01:00 Europe/London daily          |
a b.csv by 23:59 UTC on mon , wed           | a b.csv by 23:59 UTC on mon,wed
x by 00:00 UTC on Wednesday,mon             | x by 00:00 UTC on mon,wed
x by 00:00 UTC on 15,1                      | x by 00:00 UTC on 1,15
x by 00:00 UTC on last-day except holidays  |
x by 00:00 UTC on weekends,weekdays         | x by 00:00 UTC daily
x by 00:00 UTC except holidays              | x by 00:00 UTC daily except holidays
done by noon by 12:00 America/Mexico_City   | done by noon by 12:00 America/Mexico_City daily
"""

BAD = """
                                  | Write PATTERN by HH:MM ZONE on DAYS, such as "*.csv by 01:00
*.csv                             | Write PATTERN by HH:MM ZONE on DAYS
by 01:00 UTC                      | Write PATTERN by HH:MM ZONE on DAYS
*.csv by 01:00 UTC on             | Write PATTERN by HH:MM ZONE on DAYS
*.csv by 01:00 UTC weekdays       | Write PATTERN by HH:MM ZONE on DAYS
*.csv by 01:00 UTC except sundays | Write PATTERN by HH:MM ZONE on DAYS
*.csv by 24:00 UTC                | 24:00 is no time of a day: write 00:00 to 23:59.
*.csv by 1:00 UTC                 | 1:00 is no time of a day
*.csv by noon UTC                 | noon is no time of a day
*.csv by 01:00                    | Add the time zone: by 01:00 Europe/London, or UTC.
*.csv by 01:00 on weekdays        | Add the time zone: by 01:00 Europe/London, or UTC.
*.csv by 01:00 Europe/Londn       | Europe/Londn is no time zone. Did you mean Europe/London
*.csv by 01:00 London             | London is no time zone. Did you mean Europe/London
*.csv by 01:00 ../../etc/passwd   | ../../etc/passwd is no time zone.
*.csv by 01:00 UTC on fryday      | fryday is no day: write weekdays, weekends, mon to sun
*.csv by 01:00 UTC on 32          | 32 is no day
*.csv by 01:00 UTC on mon,0       | 0 is no day
larkmere/*.csv by 01:00 UTC       | Write the name of the file alone
*.done by 01:00 UTC               | A marker or a manifest alone is no file
tx.manifest.json by 01:00 UTC     | A marker or a manifest alone is no file
"""


def table(text: str) -> list[tuple[str, str]]:
    lines = (line.partition("|") for line in text.strip("\n").splitlines())
    return [(first.strip(), second.strip()) for first, _, second in lines]


@pytest.mark.parametrize(("text", "kept"), table(GOOD))
def test_an_expectation_is_kept_in_one_form(text: str, kept: str) -> None:
    """watch.md#files-that-are-expected"""
    found = parse_expectation(text)
    kept = kept.replace("mon,tue,wed,thu,fri", "weekdays") or text
    assert (kept, found) == (found.text, parse_expectation(found.text))


@pytest.mark.parametrize(("text", "hint"), table(BAD))
def test_what_is_wrong_is_told_with_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_expectation(text)
    assert hint in (raised.value.hint or "")
    assert "expectation_invalid" == raised.value.code


@pytest.mark.parametrize("text", ["x\x1b[2J by 01:00 UTC", "x" * 300 + " by 01:00 UTC", "\n"])
def test_a_text_that_is_no_line_is_refused_and_not_printed_as_it_is(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_expectation(text)
    assert raised.value.message.isprintable()
    assert 300 > len(raised.value.message)


def test_what_is_kept_can_be_read_again_whatever_its_length() -> None:
    """The form that is kept may be longer than what was written."""
    for letters in range(150, 210):
        try:
            found = parse_expectation(f"{'x' * letters} by 01:00 UTC")
        except UsageError:
            assert 180 < letters
        else:
            assert found == parse_expectation(found.text)


NAMES = """
*.csv      | tx.csv .csv a.b.csv              | tx.csv.gz tx.CSV csv
tx-?.csv   | tx-1.csv tx-*.csv                | tx-10.csv tx-.csv xtx-1.csv
[a].csv    | [a].csv                          | a.csv
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_a_pattern_fits_whole_names(line: str) -> None:
    pattern, fits, others = (part.strip() for part in line.split("|"))
    expected = parse_expectation(f"{pattern} by 01:00 UTC")
    assert fits.split() == [
        name for name in [*fits.split(), *others.split()] if expected.fits(name)
    ]


# What is expected, the days that are asked for, and the deadlines in UTC.
DUE = """
01:00 Europe/London on weekdays | 2026-11-20 2026-11-25 | 11-20T01:00 11-23T01:00 11-24T01:00
01:00 UTC on weekends           | 2026-11-20 2026-11-25 | 11-21T01:00 11-22T01:00
23:30 America/New_York on sun   | 2026-11-20 2026-11-25 | 11-23T04:30
00:30 Asia/Tokyo on 1           | 2026-11-20 2026-12-05 | 11-30T15:30
06:00 UTC on last-day           | 2026-01-01 2026-04-01 | 01-31T06:00 02-28T06:00 03-31T06:00
06:00 UTC on last-day           | 2026-04-01 2026-05-01 | 04-30T06:00
06:00 UTC on last-day           | 2028-02-01 2028-03-01 | 02-29T06:00
06:00 UTC on 29                 | 2026-02-01 2026-04-01 | 03-29T06:00
06:00 UTC on 31                 | 2026-03-01 2026-06-01 | 03-31T06:00 05-31T06:00
06:00 UTC on 30,last-day        | 2026-04-01 2026-06-01 | 04-30T06:00 05-30T06:00 05-31T06:00
00:00 UTC daily                 | 2026-12-30 2027-01-02 | 12-30T00:00 12-31T00:00 01-01T00:00
01:30 Europe/London daily       | 2026-03-28 2026-03-31 | 03-28T01:30 03-29T01:30 03-30T00:30
01:30 Europe/London daily       | 2026-10-24 2026-10-27 | 10-24T00:30 10-25T01:30 10-26T01:30
02:30 America/New_York daily    | 2026-03-08 2026-03-09 | 03-08T07:30
02:15 Australia/Lord_Howe daily | 2026-10-03 2026-10-05 | 10-03T15:45 10-04T15:15
10:00 Pacific/Apia daily        | 2011-12-29 2012-01-01 | 12-29T20:00 12-30T20:00 12-31T20:00
"""


@pytest.mark.parametrize("line", DUE.strip().splitlines())
def test_deadlines_are_reckoned_in_their_zone(line: str) -> None:
    """A time that the clocks leave out, or have twice, is the later of its two readings."""
    rule, days, due = (part.strip() for part in line.split("|"))
    first, last = map(datetime.fromisoformat, days.split())
    found = deadlines(parse_expectation(f"x by {rule}"), first, last)
    assert due.split() == [f"{each.due_at:%m-%dT%H:%M}" for each in found]


def test_deadlines_end_with_the_calendar() -> None:
    expected = parse_expectation("x by 01:00 Pacific/Auckland daily")
    for first, last in (("9999-12-28", "9999-12-31"), ("0001-01-01", "0001-01-04")):
        moments = map(datetime.fromisoformat, (first, last))
        assert 3 >= len([*deadlines(expected, *moments)])


def test_a_file_of_holidays_is_read_and_kept() -> None:
    text = "\ufeff# ours\r\n2026-12-28, Boxing Day (substitute)\r\n\r\n2026-12-25 Christmas Day\r\n"
    found = parse_holidays(text, "days.txt")
    assert {date(2026, 12, 25): "Christmas Day"} | {
        date(2026, 12, 28): "Boxing Day (substitute)"
    } == found
    assert found == parse_holidays(holidays_text(found), "kept")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it has no holiday"),
        ("# nothing", "it has no holiday"),
        ("25/12/2026 Christmas", "line 1 is no date and name"),
        ("2026-12-25", "line 1 is no date and name"),
        ("\n2026-02-29 Leap", "line 2 is no date and name"),
        ("2026-12-25 a\n2026-12-25 b", "line 2 has 2026-12-25 again"),
        ("2026-12-25 \x1b[2J", "line 1 is no date and name"),
        ("x\n" * 5, "line 5 is no date and name."),
        ("x\n" * 7, "line 5 is no date and name, and 2 more"),
    ],
)
def test_each_bad_line_of_holidays_is_named(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_holidays(text, "days.txt")
    assert raised.value.message.startswith("days.txt: ")
    assert fault in raised.value.message
    assert "2026-12-25 Christmas Day" in (raised.value.hint or "")
