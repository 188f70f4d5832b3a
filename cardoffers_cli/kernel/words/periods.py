"""Periods: calendar months of a time zone, by which statements and invoices are closed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.sentences import month_text

LAST_MONTH = "last-month"
_MONTH = re.compile(r"(2\d{3})-(0[1-9]|1[0-2])", re.ASCII)
_HALF = timedelta(days=15)


@dataclass(frozen=True, order=True)
class Period:
    """A calendar month: from its first moment, included, to the first one after it, both in UTC.

    It is cut at midnight of a time zone, and begins where the one before was cut, if that is known:
    at midnight of another zone, where the zone has changed since.
    """

    first: date
    zone: str = field(default="UTC", compare=False)
    cut_at: datetime | None = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str, now: datetime, zone: str | None = None) -> Period:
        """Read `2026-10`, or `last-month`: the last one that has ended; raise `UsageError`."""
        if text == LAST_MONTH:
            return cls.at(now, zone).before
        match = _MONTH.fullmatch(text)
        if match is None:
            raise UsageError.from_table("kernel/words", "period_invalid", text=text)
        return cls(date(int(match[1]), int(match[2]), 1), zone or "UTC")

    @classmethod
    def at(cls, moment: datetime, zone: str | None = None) -> Period:
        """Return the period that a moment lies in."""
        local = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone or "UTC"))
        return cls(local.date().replace(day=1), zone or "UTC")

    @classmethod
    def ending(cls, to_at: datetime) -> Period:
        """Return the month that ended at a moment, of whichever zone."""
        return cls.at(to_at - _HALF)

    @property
    def from_at(self) -> datetime:
        """The first moment in it."""
        if self.cut_at is not None:
            return self.cut_at
        local = datetime.combine(self.first, time(), ZoneInfo(self.zone))
        return local.astimezone(UTC).replace(tzinfo=None)

    @property
    def to_at(self) -> datetime:
        """The first moment after it."""
        return self.after.from_at

    @property
    def after(self) -> Period:
        """The next one."""
        return Period((self.first + 3 * _HALF).replace(day=1), self.zone)

    @property
    def before(self) -> Period:
        """The one before it."""
        return Period((self.first - _HALF).replace(day=1), self.zone)

    def following(self, to_at: datetime | None) -> Period:
        """Return it as it begins where the one before ended; None where none was cut."""
        return replace(self, cut_at=to_at)

    @property
    def title(self) -> str:
        """What people call it: `October 2026`."""
        return month_text(self.first)

    def __str__(self) -> str:
        """Write it as an option takes it: `2026-10`."""
        return f"{self.first:%Y-%m}"
