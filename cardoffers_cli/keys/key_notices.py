"""Notices that a key is about to end (rules.md#key-notices): which are owed, and given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class DueNotice(Record):
    """The notice that is owed of one key: `14_days`, `3_days` or `day_of`."""

    key_id: UUID
    institution_id: UUID
    institution: str
    name: str
    prefix: str
    replaced_by: UUID | None
    ends_at: datetime
    notice: str


def due(store: Store, now: datetime) -> list[DueNotice]:
    """Return the notices that are owed and not given, one a key: the one that ends first first."""
    return store.records(DueNotice, "keys/key_notices:due", now=now)


def give(store: Store, key_id: UUID, *, ends_at: datetime, notice: str, now: datetime) -> None:
    """Write down that a notice was given."""
    store.execute(
        "keys/key_notices:give", key_id=key_id, ends_at=ends_at, notice=notice, given_at=now
    )
