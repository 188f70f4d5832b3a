"""In which layout a file is read: our own, or that of a profile, which an institution may keep.

A profile describes purchases. A file of another kind of rows that lies among those of an
institution with a profile has the header of our own layout whole, and is read as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.intake.headers import is_of_other_kind
from cardoffers_cli.intake.sources import open_source
from cardoffers_cli.intake.transactions import TransactionFile, open_transactions
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.intake.chunks import FileReading
    from cardoffers_cli.intake.layout_model import Profile
    from cardoffers_cli.intake.sources import Source
    from cardoffers_cli.kernel.store.store import Store


def open_layout(source: str | Source, how: FileReading) -> TransactionFile:
    """Open a file as `open_transactions` does; with a profile in `how`, by that."""
    if how.profile is None:
        return open_transactions(source, how)
    opened = open_source(source) if isinstance(source, str) else source
    try:
        if _is_in_our_layout(opened):
            return TransactionFile(opened, how)
        from cardoffers_cli.intake.profiles.reading import ProfiledFile  # noqa: PLC0415 - heavy

        return ProfiledFile(opened, how, how.profile)
    except BaseException:
        opened.close()
        raise


def _is_in_our_layout(source: Source) -> bool:
    try:
        return is_of_other_kind(source.head())
    except FileUnusable:  # what no text of ours is, its profile may read
        return False


class StoredProfile(Record):
    """The profile of an institution: as TOML, as it was given, and the digest of what it says."""

    institution: str
    toml: str
    digest: str
    set_at: datetime


def find_profile(store: Store, institution_id: UUID) -> StoredProfile | None:
    """Return the profile of an institution, if it has one."""
    profiles = store.records(StoredProfile, "intake/layouts:find", institution_id=institution_id)
    return profiles[0] if profiles else None


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
    current = find_profile(store, institution_id)
    old = current.digest if current else None
    if old == digest:
        return old
    store.execute("intake/layouts:forget", institution_id=institution_id)
    if toml is not None:
        store.execute(
            "intake/layouts:keep",
            institution_id=institution_id,
            toml=toml,
            digest=digest,
            set_at=now,
        )
    store.execute(
        "intake/layouts:audit",
        institution_id=institution_id,
        slug=slug,
        old_digest=old,
        new_digest=digest,
        run_no=run_no,
        happened_at=now,
        actor=actor,
    )
    return old


def kept_layout(store: Store, institution: str) -> Profile | None:
    """Return the profile that an institution keeps, if it keeps one."""
    owner = find_institution(store, institution)
    profile = find_profile(store, owner.id)
    if profile is None:
        return None
    from cardoffers_cli.intake.layout_model import parse_profile  # noqa: PLC0415 - few keep one

    return parse_profile(profile.toml, f"The profile of {owner.slug}")
