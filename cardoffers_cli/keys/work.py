"""API keys: make, list, rotate, revoke and check them (rules.md#rotation).

The text of a key exists in this process only: it is handed to whoever asked, or to a file of theirs
that is written before the key is, and nothing else ever holds it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID, uuid4

from cardoffers_cli.kernel.disk.outputs import new_private_file
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.institutions import find_institution, list_institutions
from cardoffers_cli.kernel.store.snapshot import withdraw
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import a_year_after, format_minute, format_moment
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.keys import questions as keys
from cardoffers_cli.keys.questions import ApiKey, Grant
from cardoffers_cli.keys.rules import (
    checked_name,
    checked_scopes,
    is_well_formed,
    new_key,
    prefix_of,
)
from cardoffers_cli.keys.security import catch_up

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

Expiry = datetime | Literal["never"] | None
"""When a new key ends; None is the usual: after a year, or after as long as the key before it."""


@dataclass(frozen=True, kw_only=True)
class KeyRequest:
    """What key is asked for."""

    institution: str
    name: str
    scopes: tuple[str, ...]
    expires: Expiry = None


class NewApiKey(Record):
    """A new key for its owner, and what it may do until when (None: without an end).

    There is its text, or the file that has it; of a dry run there is none.
    """

    key_id: UUID | None
    key: str | None
    key_file: str | None
    institution: str
    name: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None


class CreatedKey(NewApiKey):
    """A new key that follows no other."""

    dry_run: bool


class RotatedKey(NewApiKey):
    """A new key, the one that it follows, and when that one ends by itself, if ever."""

    replaces: UUID
    old_key_ends_at: datetime | None
    dry_run: bool


class ApiKeyRow(
    Record, sheet="* expires_at rotated_at replaced_by revoked_at key_id -is_legacy -dry_run"
):
    """What is known of one key, which is never the key: it is shown masked.

    `dry_run` is there of a key that was ended.
    """

    key_id: UUID
    institution: str
    name: str
    key_masked: str = shown("key")
    scopes: Sequence[str] = shown(gives_way=1)
    is_legacy: bool
    state: str
    created_at: datetime = shown(gives_way=5)
    expires_at: datetime | None = shown(gives_way=6)
    ends_at: datetime | None = shown(gives_way=2)
    last_used_at: datetime | None = shown(gives_way=3)
    rotated_at: datetime | None = shown(gives_way=7)
    replaced_by: UUID | None = shown(kind="text", gives_way=8)
    revoked_at: datetime | None = shown(gives_way=7)
    dry_run: bool | None = if_any()


def create_key(
    request: KeyRequest, job: Job, *, key_file: Path | None = None, dry_run: bool = False
) -> CreatedKey:
    """Make a key; what is returned, or the file, is the only place where its text is."""
    name, scopes = checked_name(request.name), checked_scopes(request.scopes)
    expires_at = _end(request.expires, a_year_after(job.now), job.now)
    issued_key = _NewKey(key_file, dry_run=dry_run)
    with job.store() as store, issued_key.file(), store.transaction(keep=not dry_run):
        owner = find_institution(store, request.institution)
        grant = Grant(institution_id=owner.id, name=name, scopes=scopes, expires_at=expires_at)
        _issue(store, issued_key, grant, job)
    return CreatedKey(**issued_key.granted(grant, owner.slug, job), dry_run=dry_run)


def rotate_key(
    key_id: str,
    job: Job,
    *,
    overlap: timedelta | None = None,
    expires: Expiry = None,
    key_file: Path | None = None,
    dry_run: bool = False,
) -> RotatedKey:
    """Make a key's successor; the old key goes on until it is revoked, or for the overlap.

    Raises `Refused` for a key that is revoked, expired or replaced already.
    """
    issued_key = _NewKey(key_file, dry_run=dry_run)
    retires_at = None if overlap is None else job.now + overlap
    with job.store() as store, issued_key.file(), store.transaction(keep=not dry_run):
        old = keys.get_key(store, whole_id(store, "key", key_id))
        state = "replaced" if old.standing(job.now) == "retiring" else old.state(job.now)
        if state != "valid":
            raise Refused(
                f"The key {old.name} is {state} already.",
                code=f"key_{state}",
                hint="Rotate its successor, or make another with `cardoffers key create`.",
            )
        grant = Grant(
            institution_id=old.institution_id,
            name=old.name,
            scopes=old.scopes,
            expires_at=_end(expires, _after_as_long(old, job.now), job.now),
        )
        _issue(store, issued_key, grant, job)
        store.execute(
            "keys/questions:replace",
            key_id=old.key_id,
            replaced_by=issued_key.key_id,
            rotated_at=job.now,
            retires_at=retires_at,
        )
        details = {"replaced_by": issued_key.key_id, "retires_at": retires_at}
        _log(store, job, "key_rotated", old, details)
        slug = _slugs(store)[old.institution_id]
        ends_at = keys.get_key(store, str(old.key_id)).ends_at
        if retires_at is not None and not dry_run:
            withdraw(job.path)  # before the commit: no copy may still know the key as valid
    return RotatedKey(
        **issued_key.granted(grant, slug, job),
        replaces=old.key_id,
        old_key_ends_at=ends_at,
        dry_run=dry_run,
    )


def revoke_key(key_id: str, job: Job, *, dry_run: bool = False) -> ApiKeyRow:
    """End a key at once and for good; raise `Refused` the second time."""
    with job.store() as store, store.transaction(keep=not dry_run):
        key = keys.get_key(store, whole_id(store, "key", key_id))
        if key.revoked_at is not None:
            raise Refused.from_table(
                "keys", "already_revoked", revoked_at=format_minute(key.revoked_at)
            )
        store.execute("keys/questions:revoke", key_id=key.key_id, revoked_at=job.now)
        _log(store, job, "key_revoked", key, {})
        slug = _slugs(store)[key.institution_id]
        row = _shown(keys.get_key(store, str(key.key_id)), slug, job.now)
        if not dry_run:
            withdraw(job.path)  # before the commit: no copy may still know the key as valid
    return replace(row, dry_run=dry_run)


def list_keys(job: Job, institution: str | None = None) -> list[ApiKeyRow]:
    """Return the keys of an institution, or of all, the newest first; never the keys' text."""
    with job.store() as store:
        owner = find_institution(store, institution) if institution else None
        catch_up(store, job)  # it knows when keys were last used
        slugs = _slugs(store)
        rows = keys.list_keys(store, owner.id if owner else None)
    return [_shown(key, slugs[key.institution_id], job.now) for key in rows]


def show_key(key_id: str, job: Job) -> ApiKeyRow:
    """Return one key, never its text; raise `NotFound`."""
    with job.store() as store:
        catch_up(store, job)
        key = keys.get_key(store, whole_id(store, "key", key_id))
        return _shown(key, _slugs(store)[key.institution_id], job.now)


def check_key(text: str, job: Job) -> ApiKeyRow:
    """Return what a key may do and until when.

    Raises `UsageError` key_mistyped, without a look-up; `NotFound` key_unknown; `Refused`
    token_revoked or token_expired, which carry what is known of the key.
    """
    if not is_well_formed(text):
        raise UsageError.from_table("keys", "key_mistyped")
    with job.store(read_only=True) as store:
        key = keys.find_key(store, text)
        if key is None:
            raise NotFound.from_table("keys", "key_unknown", text=prefix_of(text))
        row = _shown(key, _slugs(store)[key.institution_id], job.now)
    if (state := key.state(job.now)) != "valid":
        raise Refused(
            f"The key {key.name} of {row.institution} is {state}.",
            code=f"token_{state}",
            hint="Calls with it are refused: make another with `cardoffers key create`.",
            **row,
        )
    return row


class _NewKey:
    """A key that is being made, and the file that it goes to, if any."""

    def __init__(self, key_file: Path | None, *, dry_run: bool) -> None:
        self.key_id, self.text = uuid4(), new_key()
        self._key_file, self._dry_run = key_file, dry_run

    def file(self) -> AbstractContextManager[None]:
        """Keep the key in its file, unless what follows fails."""
        if self._key_file is None or self._dry_run:
            return nullcontext()
        return new_private_file(self._key_file, f"{self.text}\n")

    def granted(self, grant: Grant, slug: str, job: Job) -> NewApiKey:
        """Return the key for its owner: here, or where it is."""
        file = self._key_file
        return NewApiKey(
            key_id=None if self._dry_run else self.key_id,
            key=None if self._dry_run or file else self.text,
            key_file=str(file) if file and not self._dry_run else None,
            institution=slug,
            name=grant.name,
            scopes=sorted(grant.scopes),
            created_at=job.now,
            expires_at=grant.expires_at,
        )


def _issue(store: Store, issued_key: _NewKey, grant: Grant, job: Job) -> None:
    keys.add_key(store, issued_key.text, grant, issued_key.key_id, now=job.now)
    details = {"name": grant.name, "scopes": sorted(grant.scopes), "expires_at": grant.expires_at}
    _log(store, job, "key_created", keys.get_key(store, str(issued_key.key_id)), details)


def _log(store: Store, job: Job, event: str, key: ApiKey, details: Mapping[str, Any]) -> None:
    acts.append(
        store,
        event,
        job,
        subject=key.key_id,
        institution_id=key.institution_id,
        key_id=key.key_id,
        details=details,
    )


def _slugs(store: Store) -> dict[UUID, str]:
    return {institution.id: institution.slug for institution in list_institutions(store)}


def _shown(key: ApiKey, slug: str, now: datetime) -> ApiKeyRow:
    return ApiKeyRow(
        key_id=key.key_id,
        institution=slug,
        name=key.name,
        key_masked=f"{key.prefix}…{key.last_four}",
        scopes=sorted(key.scopes),
        is_legacy=key.is_legacy,
        state=key.standing(now),
        created_at=key.created_at,
        expires_at=key.expires_at,
        ends_at=key.ends_at,
        last_used_at=key.last_used_at,
        rotated_at=key.rotated_at,
        replaced_by=key.replaced_by,
        revoked_at=key.revoked_at,
    )


def _end(expires: Expiry, usual: datetime | None, now: datetime) -> datetime | None:
    if expires is None:
        return usual
    if expires == "never":
        return None
    if expires <= now:
        raise UsageError.from_table("keys", "expires_in_past", expires=format_moment(expires))
    return expires


def _after_as_long(old: ApiKey, now: datetime) -> datetime | None:
    """Return when a successor ends that lives as long as the key before it was to live."""
    if old.expires_at is None:
        return None
    if old.expires_at == a_year_after(old.created_at):  # which is not always the same time
        return a_year_after(now)
    return now + (old.expires_at - old.created_at)
