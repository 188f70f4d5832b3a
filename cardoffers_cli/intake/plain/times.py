"""Read timestamps one by one, as `intake/timestamps.py` reads columns of them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cardoffers_cli.intake.fields import USUAL_TIME, WITH_OFFSET, WITHOUT_OFFSET
from cardoffers_cli.intake.plain.proofs import exceptions
from cardoffers_cli.intake.predicates import python_text, searching

if TYPE_CHECKING:
    from collections.abc import Sequence

Moment = tuple[str | None, bool]
"""A moment in UTC as ISO text without a zone, and whether its time zone was assumed."""

_DAY = len("YYYY-MM-DD")
_SECOND = len("YYYY-MM-DDTHH:MM:SS")
_PARTS = re.compile(
    r"(.{10})(?:.(.{5})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2})?)?"
)
_ALL_USUAL = re.compile(f"(?:{python_text(USUAL_TIME)}\\n)*+", re.MULTILINE)
_MOST = 100_000
_MINUTE = timedelta(minutes=1)


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
        if len(self) >= _MOST:
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
        found = _PARTS.fullmatch(text)
        if found is None:
            return None
        day, clock, second, fraction, sign, hours, minutes = found.groups()
        at = datetime.fromisoformat(f"{day}T{clock or '00:00'}:{second or '00'}")
        at += timedelta(microseconds=int((fraction or "0")[:6].ljust(6, "0")))
        if has_offset:
            offset = (int(hours or 0) * 60 + int(minutes or 0)) * _MINUTE
            return at + offset if sign == "-" else at - offset
        return self._localised(at)

    def _localised(self, local: datetime) -> datetime | None:
        """Return a local time in UTC: the earlier of two; of a skipped one there is none."""
        if self._zone is None:
            return None
        at = local.replace(tzinfo=self._zone).astimezone(UTC)
        there = at.astimezone(self._zone).replace(tzinfo=None)
        return at.replace(tzinfo=None) if there == local else None
