"""When a file is expected (watch.md#files-that-are-expected): read from a text, reckoned in a zone.

    PATTERN by HH:MM ZONE [daily | on DAYS] [except holidays]

A deadline is a moment of the clock on the wall. Where the clocks are changed it may not exist, or
exist twice: then it is the later of its two readings, so that nobody is told too early.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

from cardoffers_cli.kernel.disk.inputs import open_input
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


EXAMPLE = '"*.csv by 01:00 Europe/London on weekdays"'
LAST_DAY = "last-day"
_WHOLE_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split()
_FULL = {name[:3]: name for name in _WHOLE_NAMES}
WEEKDAYS = tuple(_FULL)
_GROUPS = {"weekdays": WEEKDAYS[:5], "weekends": WEEKDAYS[5:]}
_FORM = re.compile(
    r"(?P<pattern>\S(?:.*\S)?)\s+by\s+(?P<clock>\S+)"
    r"(?:\s+(?!(?:daily|on|except)(?:\s|$))(?P<zone>\S+))?"
    r"(?:\s+(?P<daily>daily)|\s+on\s+(?P<days>(?!except\b)[^\s,]+(?:\s*,\s*[^\s,]+)*))?"
    r"(?P<except>\s+except\s+holidays)?"
)
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_NUMBER = re.compile(r"[1-9]|[12]\d|3[01]", re.ASCII)
_MOST_LETTERS = 200
_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """One file that is expected again and again; its `text` names it, and is kept."""

    pattern: str
    clock: time
    zone: str
    days: tuple[str, ...]
    except_holidays: bool

    @property
    def text(self) -> str:
        """The expectation as it is kept and shown: one form for all ways of writing it."""
        on = {(): "daily"} | {group: name for name, group in _GROUPS.items()}
        days = on.get(self.days) or ",".join(self.days)
        days = days if days == "daily" else f"on {days}"
        but = " except holidays" if self.except_holidays else ""
        return f"{self.pattern} by {self.clock:%H:%M} {self.zone} {days}{but}"

    def is_on(self, day: date) -> bool:
        """Whether a file is due on a day of its zone, holidays apart."""
        names = {WEEKDAYS[day.weekday()], str(day.day)}
        if (day + _DAY).day == 1:
            names.add(LAST_DAY)
        return not self.days or not names.isdisjoint(self.days)

    def fits(self, file_name: str) -> bool:
        """Whether a file of this name is one of those that are expected."""
        return _matcher(self.pattern).fullmatch(file_name) is not None


@dataclass(frozen=True, order=True)
class FileDeadline:
    """A moment (UTC) by which a file is due, and the day that it stands for in its own zone."""

    due_at: datetime
    day: date


def parse_expectation(text: str) -> Expectation:
    """Read what an operator wrote; raise `UsageError` with what to write instead."""
    match = _FORM.fullmatch(text.strip()[: 2 * _MOST_LETTERS])
    if match is None or not text.isprintable():
        raise _wrong(text, f"Write PATTERN by HH:MM ZONE on DAYS, such as {EXAMPLE}.")
    clock, zone = _CLOCK.fullmatch(match["clock"]), match["zone"]
    if clock is None:
        raise _wrong(text, f"{match['clock']} is no time of a day: write 00:00 to 23:59.")
    if zone is None:
        raise _wrong(text, f"Add the time zone: by {match['clock']} Europe/London, or UTC.")
    pattern = match["pattern"]
    if "/" in pattern or "\\" in pattern:
        raise _wrong(text, "Write the name of the file alone: it is looked for in no folder.")
    if pattern.endswith((".done", ".manifest.json")):
        raise _wrong(text, "A marker or a manifest alone is no file: write the name of the file.")
    _check_zone(text, zone)
    expected = Expectation(
        pattern=pattern,
        clock=time(int(clock[1]), int(clock[2])),
        zone=zone,
        days=_days(text, match["days"]),
        except_holidays=match["except"] is not None,
    )
    if len(expected.text) > _MOST_LETTERS:  # of what is kept, which is read again by this function
        raise _wrong(text, f"Write it in at most {_MOST_LETTERS} letters.")
    return expected


def deadlines(expected: Expectation, from_at: datetime, to_at: datetime) -> Iterator[FileDeadline]:
    """Yield the deadlines from a moment on, up to another one (UTC), in their order.

    Two days that come to one moment, as where a zone left one out, have one deadline.
    """
    first, last = _shifted(from_at.date(), -2), _shifted(to_at.date(), 2)
    days = (date.fromordinal(number) for number in range(first.toordinal(), last.toordinal() + 1))
    due: dict[datetime, date] = {}
    for day in filter(expected.is_on, days):
        local = datetime.combine(day, expected.clock, tzinfo=ZoneInfo(expected.zone))
        readings = [local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]
        due[max(readings).replace(tzinfo=None)] = day
    yield from (FileDeadline(at, day) for at, day in sorted(due.items()) if from_at <= at < to_at)


def _shifted(day: date, days: int) -> date:
    """Return a day some days away, within the calendar that every zone can be reckoned in."""
    within = range(date.min.toordinal() + 3, date.max.toordinal() - 2)
    return date.fromordinal(min(max(day.toordinal() + days, within[0]), within[-1]))


def _days(text: str, days: str | None) -> tuple[str, ...]:
    """Return the days by name and number, in the order of a week and of a month."""
    chosen: set[str] = set()
    for word in re.split(r"\s*,\s*", days.lower()) if days else ():
        if word in _GROUPS:
            chosen.update(_GROUPS[word])
        elif word[:3] in WEEKDAYS and _FULL[word[:3]].startswith(word):
            chosen.add(word[:3])
        elif word == LAST_DAY or _NUMBER.fullmatch(word):
            chosen.add(word)
        else:
            raise _wrong(
                text,
                f"{word} is no day: write weekdays, weekends, mon to sun, 1 to 31 or {LAST_DAY},"
                " several with commas.",
            )
    order = (*WEEKDAYS, *map(str, range(1, 32)), LAST_DAY)
    return tuple(sorted(chosen, key=order.index)) if set(WEEKDAYS) - chosen else ()


def _check_zone(text: str, zone: str) -> None:
    zones = available_timezones()
    if zone not in zones:
        places = {name.rpartition("/")[2]: name for name in sorted(zones)}
        near = nearest(zone, zones) or [
            places[place] for place in nearest(zone.rpartition("/")[2], places)
        ]
        hint = did_you_mean(near) or "Write one such as Europe/London or UTC."
        raise _wrong(text, f"{zone} is no time zone. {hint}")


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    """Return what a name must be: * stands for any letters, ? for one; others for themselves."""
    signs = {"*": ".*", "?": "."}
    parts = (signs.get(letter) or re.escape(letter) for letter in pattern)
    return re.compile("".join(parts), re.DOTALL)


def _wrong(text: str, hint: str) -> UsageError:
    printable = text if text.isprintable() else ascii(text)[1:-1]
    return UsageError(
        f"{printable[:_MOST_LETTERS]!r} does not say when a file is expected.",
        code="expectation_invalid",
        hint=hint,
    )


def parse_holidays(text: str, name: str) -> dict[date, str]:
    """Read holidays, a date and its name on each line; raise `UsageError` with each bad line.

    Empty lines and such that begin with # say nothing.
    """
    holidays: dict[date, str] = {}
    faults: list[str] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            holiday = _HOLIDAY.fullmatch(line.strip())
            day = _date(holiday["day"]) if holiday else None
            if holiday is None or day is None or not holiday["name"].isprintable():
                faults.append(f"line {number} is no date and name")
            elif day in holidays:
                faults.append(f"line {number} has {day} again")
            else:
                holidays[day] = holiday["name"]
    if faults or not holidays:
        more = [f"and {len(faults) - _NAMED} more"] if len(faults) > _NAMED else []
        raise UsageError(
            f"{name}: {', '.join([*faults[:_NAMED], *more]) or 'it has no holiday'}.",
            code="holidays_invalid",
            hint="Write a line for each holiday, such as 2026-12-25 Christmas Day.",
            faults=len(faults),
        )
    return dict(sorted(holidays.items()))


def holidays_text(holidays: Mapping[date, str]) -> str:
    """Write holidays as they are kept, and as they are read."""
    return "\n".join(f"{day} {name}" for day, name in holidays.items())


_HOLIDAY = re.compile(r"(?P<day>\d{4}-\d{2}-\d{2})(?:\s*[,;]\s*|\s+)(?P<name>\S.{0,79})", re.ASCII)
_NAMED = 5
"""Bad lines that an error names."""


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


# A file of holidays, as text; what it says is read by `institutions/schedules.py`.


MOST_BYTES = 1_000_000


def read_holidays(path: Path) -> str:
    """Return the text of a file of holidays; raise `NotFound`, or `UsageError` where it is none."""
    how = "Write a line for each holiday, such as 2026-12-25 Christmas Day."
    try:
        with open_input(path) as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotFound(
            f"The holidays {path} cannot be read: {error.strerror}.",
            code="holidays_missing",
            hint=how,
        ) from None
    try:
        if len(content) <= MOST_BYTES:
            return content.decode()
    except UnicodeDecodeError:
        pass
    raise UsageError(
        f"{path} is no list of holidays: it is not UTF-8, or has more than {MOST_BYTES:,} bytes.",
        code="holidays_invalid",
        hint=how,
    )
