"""API keys: find the one that is presented, make, replace and end one (rules.md#keys)."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.nearest import did_you_mean, nearest
from cardoffers_cli.keys.rules import SCOPES, is_well_formed, key_hash, last_four, prefix_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store

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

    def standing(self, now: datetime) -> str:
        """Return the state as people are told it: a key that has a successor is retiring."""
        is_retiring = self.replaced_by is not None and self.state(now) == "valid"
        return "retiring" if is_retiring else self.state(now)


@dataclass(frozen=True, kw_only=True)
class KeyHash:
    """What tells one key from others, whose it is, and when it stops by itself."""

    prefix: str
    key_hash: str = field(repr=False)
    institution_id: UUID
    ends_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a new key is to be: whose, called what, for what, until when (None: without an end)."""

    institution_id: UUID
    name: str
    scopes: frozenset[str]
    expires_at: datetime | None


def find_key(store: Store, text: str) -> ApiKey | None:
    """Return the key that this is the text of, or None; in a time that tells nothing of others."""
    if not is_well_formed(text):
        return None
    digest, match = key_hash(text), None
    prefix = prefix_of(text)
    address = "keys/questions:candidates"

    def read() -> list[tuple[str, ApiKey]]:
        rows = store.rows(address, prefix=prefix)
        return [(row.pop("key_hash"), _api_key(row)) for row in rows]

    for stored_hash, key in store.memory.recall((address, prefix), (address,), read):
        if hmac.compare_digest(stored_hash, digest):
            match = key
    return match


def list_hashes(store: Store) -> list[KeyHash]:
    """Return what tells the keys that are not revoked."""
    return [KeyHash(**row) for row in store.rows("keys/questions:hashes")]


def list_keys(store: Store, institution_id: UUID | None = None) -> list[ApiKey]:
    """Return the keys of an institution, or with None of all, the newest first."""
    rows = store.rows("keys/questions:known", institution_id=institution_id, key_id=None)
    return [_api_key(row) for row in rows]


def get_key(store: Store, key_id: str) -> ApiKey:
    """Return one key by its id; raise `NotFound`."""
    row = store.row("keys/questions:known", institution_id=None, key_id=key_id)
    if row is None:
        # Often the name of a key was given in place of its id. Ids are not compared: all look
        # alike, and a guess must not lead to another key's end.
        named = {key.name: str(key.key_id) for key in reversed(list_keys(store))}
        near = [named[name] for name in nearest(key_id, named)]
        raise NotFound(
            "There is no key with this id.",
            code="key_not_found",
            hint=did_you_mean(near) or "`cardoffers key list` shows the keys with their ids.",
        )
    return _api_key(row)


def add_key(store: Store, text: str, grant: Grant, key_id: UUID, *, now: datetime) -> None:
    """Write a new key; its text is hashed here and goes no further."""
    store.execute(
        "keys/questions:add",
        key_id=key_id,
        institution_id=grant.institution_id,
        name=grant.name,
        prefix=prefix_of(text),
        last_four=last_four(text),
        key_hash=key_hash(text),
        scopes="|".join(sorted(grant.scopes)),
        created_at=now,
        expires_at=grant.expires_at,
    )


def _api_key(row: Mapping[str, Any]) -> ApiKey:
    stored = row["scopes"]
    scopes = SCOPES if stored is None else stored.split("|")
    return ApiKey(**{**row, "scopes": frozenset(scopes), "is_legacy": stored is None})
