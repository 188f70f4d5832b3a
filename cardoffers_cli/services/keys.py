"""API keys: find the one that is presented, make, replace and end one (decisions, Keys)."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.keys import SCOPES, is_well_formed, key_hash, prefix_of

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

State = Literal["valid", "expired", "revoked"]


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """What is known of a key, which is never the key. `ends_at` is when it stops by itself.

    A legacy key was made before there were scopes, and holds them all.
    """

    key_id: UUID
    institution_id: UUID
    name: str
    prefix: str
    last_four: str
    scopes: frozenset[str]
    is_legacy: bool
    created_at: datetime
    expires_at: datetime | None
    ends_at: datetime | None
    replaced_by: UUID | None
    rotated_at: datetime | None
    retires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    def state(self, now: datetime) -> State:
        """Return whether the key works; of two reasons why not, revocation is the one told."""
        if self.revoked_at is not None:
            return "revoked"
        if self.ends_at is not None and self.ends_at <= now:
            return "expired"
        return "valid"


def find_key(store: Store, text: str) -> ApiKey | None:
    """Return the key that this is the text of, or None; in a time that tells nothing of others."""
    if not is_well_formed(text):
        return None
    digest, found = key_hash(text), None
    for row in store.rows("services/keys:candidates", prefix=prefix_of(text)):
        if hmac.compare_digest(row.pop("key_hash"), digest):
            found = _api_key(row)
    return found


def _api_key(row: dict[str, Any]) -> ApiKey:
    stored = row["scopes"]
    scopes = SCOPES if stored is None else stored.split("|")
    return ApiKey(**{**row, "scopes": frozenset(scopes), "is_legacy": stored is None})
