"""Notices that a key is about to end (rules.md#key-notices): which are owed, and given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store


def due(store: Store, now: datetime) -> list[dict[str, Any]]:
    """Return the notices that are owed and not given, one a key: the one that ends first first.

    A row has key_id, institution_id, institution (slug), name, prefix, replaced_by, ends_at and
    notice: `14_days`, `3_days` or `day_of`.
    """
    return store.rows("services/key_notices:due", now=now)


def give(store: Store, key_id: UUID, *, ends_at: datetime, notice: str, now: datetime) -> None:
    """Write down that a notice was given."""
    store.execute(
        "services/key_notices:give", key_id=key_id, ends_at=ends_at, notice=notice, given_at=now
    )
