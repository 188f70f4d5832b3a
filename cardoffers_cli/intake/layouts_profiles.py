"""The layout profiles that institutions keep in the store, by which their files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class StoredProfile(Record):
    """The profile of an institution: as TOML, as it was given, and the digest of what it says."""

    institution: str
    toml: str
    digest: str
    set_at: datetime


def find_profile(store: Store, institution_id: UUID) -> StoredProfile | None:
    """Return the profile of an institution, if it has one."""
    found = store.records(
        StoredProfile, "intake/layouts_profiles:find", institution_id=institution_id
    )
    return found[0] if found else None


def keep_profile(
    store: Store,
    institution_id: UUID,
    slug: str,
    *,
    toml: str | None,
    digest: str | None,
    run_no: int,
    now: datetime,
    actor: str,
) -> str | None:
    """Give an institution another profile, or none, and audit that; return the digest of before.

    One that says the same changes nothing.
    """
    found = find_profile(store, institution_id)
    old = found.digest if found else None
    if old == digest:
        return old
    store.execute("intake/layouts_profiles:forget", institution_id=institution_id)
    if toml is not None:
        store.execute(
            "intake/layouts_profiles:keep",
            institution_id=institution_id,
            toml=toml,
            digest=digest,
            set_at=now,
        )
    store.execute(
        "intake/layouts_profiles:audit",
        institution_id=institution_id,
        slug=slug,
        old_digest=old,
        new_digest=digest,
        run_no=run_no,
        happened_at=now,
        actor=actor,
    )
    return old
