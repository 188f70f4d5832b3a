"""The clock: the one place where it is read, one that goes on, and who looks on meanwhile."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def real_now(_as_of: datetime | None = None) -> datetime:
    """Return the moment outside, whatever the clock of a job says; naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)


class Clock:
    """The clock of a job that takes its time, at the pace of the real one; naive UTC.

    Begun at a moment it is ahead of the real one, or behind it, from there on; else it is that one.
    """

    def __init__(self, now: datetime | None = None) -> None:
        self._ahead = now - self.real() if now else timedelta(0)

    def now(self) -> datetime:
        """Return the moment of the job by now: `--as-of`, and the time that has passed since."""
        return self.of_real(self.real())

    def real(self) -> datetime:
        """Return the moment outside, by which others judge what they receive."""
        return real_now()

    def of_real(self, moment: datetime) -> datetime:
        """Return what this clock showed at a moment outside."""
        return moment + self._ahead

    def wait_until(self, moment: datetime, stop: threading.Event) -> None:
        """Return at that moment of this clock, or as soon as somebody says stop."""
        stop.wait(max(0.0, (moment - self.now()).total_seconds()))


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Who looks on while a job sends: has the clock, and may say stop.

    `tell` is called with what was counted so far, and how many were due when the job began.
    """

    clock: Clock
    stop: threading.Event = field(default_factory=threading.Event)
    tell: Callable[[Mapping[str, int], int], None] = lambda _counts, _due: None
