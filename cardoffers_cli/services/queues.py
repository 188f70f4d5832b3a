"""Queues: what waits, for how long by now, of all institutions together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.records import Record

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.store.store import Store


class Queue(Record):
    """How much of one kind waits, and since when the oldest of it."""

    queue: str
    length: int
    oldest_at: datetime | None


def queues(store: Store, now: datetime) -> list[Queue]:
    """Return what waits at a moment."""
    return store.records(Queue, "services/queues:queues", now=now)
