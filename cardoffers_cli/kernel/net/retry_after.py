"""What a receiver's Retry-After asks for (RFC 9110, 10.2.3): seconds, or an HTTP date."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MOST_DIGITS = 9
"""A wait of more seconds is as good as for ever; 9 digits are 31 years."""


def retry_after_s(text: str, now: datetime) -> int | None:
    """Return the seconds to wait from `now` (naive UTC), never below 0; None if it says nothing."""
    wanted = text.strip()
    if wanted.isascii() and wanted.isdecimal():
        return int(wanted) if len(wanted) <= _MOST_DIGITS else 10**_MOST_DIGITS
    moment = _http_date(wanted)
    return None if moment is None else max(0, math.ceil((moment - now).total_seconds()))


def _http_date(text: str) -> datetime | None:
    """Read any of the three forms of RFC 9110, 5.6.7; the one without a zone means UTC too."""
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
