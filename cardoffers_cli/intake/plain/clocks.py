"""Read times one by one as a profile says they are written, as `profiles/translation.py` reads all.

What a format lets pass is what polars lets pass: numbers may lack leading zeros and have blanks
before them, a blank of the format may be left out or be several, names of months are in any case.
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from cardoffers_cli.intake.conditions import BLANK, python_text, searching
from cardoffers_cli.intake.fields import SERIAL, USUAL_TIME, WITH_OFFSET, WITHOUT_OFFSET
from cardoffers_cli.intake.plain.slices import exceptions
from cardoffers_cli.intake.profiles.written import (
    AMBIGUOUS,
    SKIPPED,
    TURNED,
    TURNED_TEXT,
    UNREADABLE,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.intake.layout_model import TimeSource


_MOST = 100_000
_DAY_0 = datetime(1899, 12, 30)  # noqa: DTZ001  a local day
_MS_OF_DAY = 86_400_000
_HOUR, _MINUTE = timedelta(hours=1), timedelta(minutes=1)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_SHORT = [month[:3] for month in _MONTHS]
_NUMBER = rf"[{BLANK}]*([0-9]{{1,2}}+)"
_PATTERNS = {
    **dict.fromkeys("dmyHIMS", _NUMBER),
    "Y": rf"[{BLANK}]*([+-][0-9]++|[0-9]{{1,4}}+)",
    "b": f"(?i:({'|'.join(_SHORT)}))",
    "B": f"(?i:({'|'.join([*_MONTHS, *_SHORT])}))",
    "p": "(?i:([ap]m))",
    "f": rf"[{BLANK}]*([0-9]{{1,9}}+)",
    ".": r"(?:\.([0-9]++))?+",
    "z": rf"[{BLANK}]*([+\-\u2212][0-9]{{2}}[:{BLANK}]*[0-9]{{2}})",
}
"""What each part of a format lets pass; `.` is a fraction with its point."""

_PARTS = re.compile(rf"\.%f|%%|%(.)|([{BLANK}]+)|.", re.DOTALL)
_MOST_YEARS = 262_142
_CYCLE, _SHORT_YEARS, _TURN = 400, 2000, 70
"""Leap years repeat in a cycle; years of two digits below the turn are those of this century."""

_LAST_SECOND = 59
_LAST_CHANGES = 2099
"""The last year in which polars knows that clocks change."""


class ReadTime(NamedTuple):
    """A time as text in UTC, empty where nothing is there, and the code of its fault if any."""

    text: str
    fault: str | None = None


_NOTHING, _NO_TIME = ReadTime(""), ReadTime(UNREADABLE)


class ProfiledTimes(dict[str, ReadTime]):
    """The times of texts: a mapping that reads what it is asked for, and remembers it a while.

    Times that name no zone are in that of `source`, or else in `zone`; without any they stay local.
    """

    def __init__(self, source: TimeSource, zone: str | None) -> None:
        super().__init__()
        self._source = source
        name = source.zone or zone
        self._zone = ZoneInfo(name) if name and not source.has_offset else None
        self._ending = "Z" if name or source.has_offset else ""
        self._fraction = "microseconds" if "%f" in source.format else "seconds"
        self._is_serial, self._is_turned = searching(SERIAL), searching(TURNED_TEXT)
        names, pattern = [], ""
        for part in _PARTS.finditer("" if source.is_serial else source.format):
            name = "." if part[0] == ".%f" else part[1]
            if name:
                names.append("f." if name == "." else name)
                pattern += _PATTERNS[name]
            elif part[2]:
                pattern += f"[{BLANK}]*+"
            else:
                pattern += re.escape("%" if part[0] == "%%" else part[0])
        self._pattern, self._names = re.compile(pattern), names

    def __missing__(self, text: str) -> ReadTime:
        if len(self) >= _MOST:
            self.clear()
        read = self[text] = self._read(text) if text else _NOTHING
        return read

    def _read(self, text: str) -> ReadTime:
        try:
            local = self._counted(text) if self._source.is_serial else self._written(text)
            if local is None:
                return ReadTime(UNREADABLE, TURNED) if self._is_turned(text) else _NO_TIME
            if self._zone is None:
                return self._told(local)
            return self._in_utc(local, self._zone)
        except OverflowError:  # a year that nobody means
            return _NO_TIME

    def _told(self, at: datetime) -> ReadTime:
        return ReadTime(at.isoformat(timespec=self._fraction) + self._ending)

    def _counted(self, text: str) -> datetime | None:
        """Read days since the end of 1899, to the millisecond, as spreadsheets show them."""
        if self._is_serial(text) is None:
            return None
        days = float(text.replace(",", "."))
        return _DAY_0 + timedelta(milliseconds=round(days * _MS_OF_DAY))

    def _written(self, text: str) -> datetime | None:
        """Read date and time of day as they are written; with an offset, in UTC.

        Raises `OverflowError` for a year that Python has not.
        """
        if self._source.has_offset:
            text = f"{text[:-1]}+0000" if text[-1] in "Zz" else text
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        parts = dict(zip(self._names, match.groups(), strict=True))
        try:
            year, is_beyond = _year(parts)
            name = parts.get("b") or parts.get("B")
            month = _SHORT.index(name[:3].lower()) + 1 if name else int(parts["m"])
            day = datetime(year, month, int(parts["d"]))  # noqa: DTZ001  local
            at = day + _clock(parts) - _offset(parts)
        except ValueError:
            return None
        if is_beyond:
            raise OverflowError
        return at

    def _in_utc(self, local: datetime, zone: ZoneInfo) -> ReadTime:
        """Read a local time: none that is left out, none that comes twice, but for a bare date."""
        one, other = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        first, second = one.utcoffset(), other.utcoffset()
        if first is None or second is None or first == second or local.year > _LAST_CHANGES:
            return self._told(one.astimezone(UTC).replace(tzinfo=None))
        is_left_out = first < second
        if self._source.has_clock:
            return ReadTime(UNREADABLE, SKIPPED if is_left_out else AMBIGUOUS)
        if not is_left_out:
            return self._told(one.astimezone(UTC).replace(tzinfo=None))
        # a clock that goes forward at midnight leaves out an hour: then the day begins at one
        hour_after = (local + _HOUR).replace(tzinfo=zone)
        if hour_after.replace(fold=0).utcoffset() != hour_after.replace(fold=1).utcoffset():
            return ReadTime(UNREADABLE, SKIPPED)
        return self._told(hour_after.astimezone(UTC).replace(tzinfo=None))


def _year(parts: Mapping[str, str]) -> tuple[int, bool]:
    """Return the year, or another one with the same days, and whether it is another one."""
    if "Y" not in parts:
        short = int(parts["y"])
        return short + (_SHORT_YEARS if short < _TURN else _SHORT_YEARS - 100), False
    year = int(parts["Y"])
    if abs(year) > _MOST_YEARS:
        raise ValueError
    is_beyond = not MINYEAR <= year <= MAXYEAR
    return (year % _CYCLE + _SHORT_YEARS if is_beyond else year), is_beyond


def _clock(parts: Mapping[str, str]) -> timedelta:
    """Return the time of day; a sixtieth second is that of a minute's end."""
    hour, minute, second = (int(parts.get(name) or 0) for name in "HMS")
    if "I" in parts:
        twelve = int(parts["I"])
        if not 1 <= twelve <= 12:  # noqa: PLR2004  a clock
            raise ValueError
        hour = twelve % 12 + (12 if parts["p"].lower() == "pm" else 0)
    if hour > 23 or minute > _LAST_SECOND or second > _LAST_SECOND + 1:  # noqa: PLR2004  a clock
        raise ValueError
    micro = int((parts.get("f.") or "0")[:6].ljust(6, "0")) + int(parts.get("f") or 0) // 1000
    return timedelta(hours=hour, minutes=minute, seconds=second, microseconds=micro)


def _offset(parts: Mapping[str, str]) -> timedelta:
    text = parts.get("z")
    if text is None:
        return timedelta()
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 23 or minutes > _LAST_SECOND:  # noqa: PLR2004  a clock
        raise ValueError
    offset = hours * _HOUR + minutes * _MINUTE
    return offset if text[0] == "+" else -offset


# Read timestamps one by one, as `intake/numbers.py` reads columns of them.


Moment = tuple[str | None, bool]
"""A moment in UTC as ISO text without a zone, and whether its time zone was assumed."""

_DAY = len("YYYY-MM-DD")
_SECOND = len("YYYY-MM-DDTHH:MM:SS")
_TIMES_PARTS = re.compile(
    r"(.{10})(?:.(.{5})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2})?)?"
)
_ALL_USUAL = re.compile(f"(?:{python_text(USUAL_TIME)}\\n)*+", re.MULTILINE)
_TIMES_MOST = 100_000
_TIMES_MINUTE = timedelta(minutes=1)


class Moments(dict[str, Moment]):
    """The moments of texts: a mapping that reads what it is asked for, and remembers it a while.

    A time without an offset is local in `zone`, if there is one.
    """

    def __init__(self, zone: str | None) -> None:
        super().__init__()
        self._zone = ZoneInfo(zone) if zone else None
        self._with_offset, self._local = searching(WITH_OFFSET), searching(WITHOUT_OFFSET)
        self._days: set[str] = set()
        self._last: tuple[Sequence[str], list[str] | None] = ((), [])

    def __missing__(self, text: str) -> Moment:
        if len(self) >= _TIMES_MOST:
            self.clear()
        moment = self[text] = self._read(text)
        return moment

    def usual(self, texts: Sequence[str]) -> list[str] | None:
        """Return the moments of texts that all have the usual form, else None; in one look."""
        if self._last[0] is not texts:
            self._last = (texts, self._usual(texts))
        return self._last[1]

    def _usual(self, texts: Sequence[str]) -> list[str] | None:
        if exceptions(texts, _ALL_USUAL) != set():
            return None
        new = {text[:_DAY] for text in texts} - self._days
        self._days |= {day for day in new if self[f"{day}T00:00:00Z"][0]}
        return None if new - self._days else [text[:_SECOND] for text in texts]

    def _read(self, text: str) -> Moment:
        has_offset = self._with_offset(text) is not None
        if not has_offset and self._local(text) is None:
            return None, False
        is_assumed = not has_offset and self._zone is not None
        try:
            moment = self._moment(text, has_offset=has_offset)
        except (ValueError, OverflowError):
            moment = None
        return moment.isoformat() if moment else None, is_assumed

    def _moment(self, text: str, *, has_offset: bool) -> datetime | None:
        match = _TIMES_PARTS.fullmatch(text)
        if match is None:
            return None
        day, clock, second, fraction, sign, hours, minutes = match.groups()
        at = datetime.fromisoformat(f"{day}T{clock or '00:00'}:{second or '00'}")
        at += timedelta(microseconds=int((fraction or "0")[:6].ljust(6, "0")))
        if has_offset:
            offset = (int(hours or 0) * 60 + int(minutes or 0)) * _TIMES_MINUTE
            return at + offset if sign == "-" else at - offset
        return self._localised(at)

    def _localised(self, local: datetime) -> datetime | None:
        """Return a local time in UTC: the earlier of two; of a skipped one there is none."""
        if self._zone is None:
            return None
        at = local.replace(tzinfo=self._zone).astimezone(UTC)
        there = at.astimezone(self._zone).replace(tzinfo=None)
        return at.replace(tzinfo=None) if there == local else None
