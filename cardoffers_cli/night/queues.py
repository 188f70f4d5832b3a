"""Queues: what waits, for how long by now, of all institutions together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime


class Queue(Record):
    """How much of one kind waits, and since when the oldest of it."""

    queue: str
    length: int
    oldest_at: datetime | None
