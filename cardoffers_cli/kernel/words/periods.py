"""Periods: calendar months in UTC, by which statements and invoices are closed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time

from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.sentences import month_text

LAST_MONTH = "last-month"
_MONTH = re.compile(r"(2\d{3})-(0[1-9]|1[0-2])", re.ASCII)
_MONTHS = 12


@dataclass(frozen=True, order=True)
class Period:
    """A calendar month: from its first moment, included, to the first one after it."""

    from_at: datetime

    @classmethod
    def of(cls, text: str, now: datetime) -> Period:
        """Read `2026-10`, or `last-month`: the last one that has ended; raise `UsageError`."""
        if text == LAST_MONTH:
            return cls.at(now).before
        match = _MONTH.fullmatch(text)
        if match is None:
            raise UsageError.from_table("kernel/words", "period_invalid", text=text)
        return cls(datetime(int(match[1]), int(match[2]), 1))  # noqa: DTZ001  moments are UTC

    @classmethod
    def at(cls, moment: datetime) -> Period:
        """Return the period that a moment lies in."""
        return cls(datetime.combine(moment.date().replace(day=1), time()))

    @property
    def to_at(self) -> datetime:
        """The first moment after it."""
        return self.after.from_at

    @property
    def after(self) -> Period:
        """The next one."""
        return self._shifted(1)

    @property
    def before(self) -> Period:
        """The one before it."""
        return self._shifted(-1)

    @property
    def title(self) -> str:
        """What people call it: `October 2026`."""
        return month_text(self.from_at)

    def __str__(self) -> str:
        """Write it as an option takes it: `2026-10`."""
        return f"{self.from_at:%Y-%m}"

    def _shifted(self, months: int) -> Period:
        year, month = divmod(self.from_at.year * _MONTHS + self.from_at.month - 1 + months, _MONTHS)
        return Period(self.from_at.replace(year=year, month=month + 1))
