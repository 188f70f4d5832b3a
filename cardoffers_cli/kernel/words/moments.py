"""Points in time: UTC, read strictly, written with milliseconds.

Inside the product every moment is a naive `datetime` in UTC, as DuckDB's TIMESTAMP holds it. The
clock itself is read in `kernel/store/clock.py` only and passed down.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

_FORM = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?",
    re.ASCII,
)
_DURATION = re.compile(r"(\d{1,6})([smhd])", re.ASCII)
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}

SERIAL_DAYS = "serial"
"""In the place of a format: days as spreadsheets count them, 46099.5 for noon of 2026-03-18."""


def zone_name(text: str) -> str:
    """Return the name of a time zone; raise `ValueError` for what is none."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415  few commands name a zone

    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{text!r} is no time zone; write one such as Europe/London") from None


def parse_moment(text: str) -> datetime:
    """Read an ISO 8601 timestamp or date as UTC; without an offset, UTC is meant.

    For operators' options and catalogue files; transaction rows have the stricter rules of
    `intake/rules.py`. Raises `ValueError` for anything else.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an ISO 8601 timestamp: {text!r}")
    day, clock, offset = match.groups()
    if clock is None:
        return datetime.combine(date.fromisoformat(day), datetime.min.time())
    moment = datetime.fromisoformat(f"{day}T{clock}{offset or 'Z'}")
    try:
        return moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError(f"outside of the calendar in UTC: {text!r}") from None


def format_moment(moment: datetime) -> str:
    """Write a UTC moment as ISO 8601 with milliseconds and `Z` (rules.md#times)."""
    return moment.isoformat(timespec="milliseconds") + "Z"


def parse_duration(text: str) -> timedelta:
    """Read a length of time such as `7d`, `12h`, `30m` or `90s`; raise `ValueError`."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a length of time: {text!r}")
    return int(match[1]) * _UNITS[match[2]]


def format_minute(moment: datetime) -> str:
    """Write a UTC moment for the eye, in a sentence: `2026-10-03 14:02 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def format_brief(moment: datetime) -> str:
    """Write a UTC moment for the eye, midnight as its date alone: `2026-10-03`."""
    return f"{moment:%Y-%m-%d}" if moment.time() == time() else format_minute(moment)


def format_length(length: timedelta) -> str:
    """Write a length of time for the eye, in its two largest units: `2 h`, `1 d 3 h`."""
    seconds = int(length.total_seconds())
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "less than 1 s"


def a_year_after(moment: datetime) -> datetime:
    """Return the same day and time next year; for 29 February, 28 February."""
    try:
        return moment.replace(year=moment.year + 1)
    except ValueError:
        return moment.replace(year=moment.year + 1, day=28)


def in_milliseconds(moment: datetime) -> datetime:
    """Return the moment as it is written, so that what is shown is what is kept."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
