"""The clock of commands that run on: `--as-of` sets it, and it goes on from there."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta


def running_clock(as_of: datetime | None) -> Callable[[], datetime]:
    """Return what tells the moment, naive UTC, whenever it is asked."""

    def now() -> datetime:
        return datetime.now(UTC).replace(tzinfo=None)

    ahead = as_of - now() if as_of else timedelta(0)
    return lambda: now() + ahead
