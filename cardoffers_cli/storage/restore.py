"""Restore: a backup in the place of the store.

Only a whole backup of this version is taken, which its checksum tells. The store of before is kept
under another name, with a journal which says that it is a store no more, and the journal is told
that the store is at an earlier run on purpose. Signing secrets come from the file beside the
backup, and those that were here stay; where that file is gone, the report says whose webhooks
cannot be signed. Nothing is ever overwritten or deleted. Cardholders who were erased since the
backup was made are erased in it again, before anything else is done with it (rules.md#erasure): by
the list beside the store that was here, the one beside the backup, and one that is named. Whether
that is all of them, the first knows, or a person; otherwise the report says since when it is not
known.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.disk.folders import check_room, copy_with_digest, digest_of
from cardoffers_cli.kernel.store import copying, journal, layout
from cardoffers_cli.kernel.store.erasures import ErasureList, keep, own_list, read_list
from cardoffers_cli.kernel.store.layout import put_aside, put_logs_aside
from cardoffers_cli.kernel.store.migrations import newest_version
from cardoffers_cli.kernel.store.opening import lock_for, open_copy, opened, too_old
from cardoffers_cli.kernel.store.signing_secrets import (
    add_secrets,
    missing,
    read_secrets,
    texts_in,
    write_secrets,
)
from cardoffers_cli.kernel.words.errors import CardoffersError, FileUnusable, Refused, StoreVersion
from cardoffers_cli.kernel.words.moments import parse_moment
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.privacy.erasures import erase_again, missing_erasures
from cardoffers_cli.storage.backup import (
    FORM,
    OLD_FORM,
    Checksum,
    archive_place,
    checksum_path,
    faults_of,
    must_be_folder,
)
from cardoffers_cli.storage.doctor import Audit, examine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.journal_file import JournalLine

STEPS = ("copy", "erase", "audit", "swap")


class Restored(Record, sheet="store backup run_no kept_aside"):
    """A store that a backup took the place of, up to its run `run_no`, and what is lost by it.

    `next` are the commands that run the lost nights again, `kept_aside` is the store of before.
    `history` is the folder that the backup reads and does not hold, `secrets_missing` are the
    institutions whose signing secrets are neither here nor beside it, `faults` audits it fails.
    `erased_again` are cardholders who were erased since, and are now in this store too; who was
    erased after `erasures_unknown_since` may be back.
    """

    store: str
    backup: str
    run_no: int = shown("at run")
    kept_aside: str | None = shown("before it")
    lost_runs: Sequence[Mapping[str, Any]]
    nights: Sequence[str]
    next: Sequence[str]
    history: str | None
    secrets_missing: Sequence[str]
    faults: Sequence[Audit]
    erased_again: int | None = if_any()
    erasures_unknown_since: datetime | None = if_any()
    dry_run: bool


def restore(
    job: Job,
    file: Path,
    *,
    erasures: Path | None = None,
    accept_loss: bool = False,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Restored:
    """Put a backup in the place of the store; return what it is, and what is lost by it.

    `erasures` is the newest list of erasures, where the store's own is lost. With `dry_run` the
    backup is looked at all the same. Raises `FileUnusable` for what is no whole
    backup of this product, `StoreVersion` for one of another version, `NoSpace`, and `Refused` for
    one that is older than the journal, unless the loss is accepted.
    """
    checksum = _read_checksum(file)
    secrets = _read_secrets(file, checksum)
    if job.path.exists() and file.samefile(job.path):
        raise Refused("This file is the store itself.", code="is_store", hint="Name a backup.")
    must_be_folder(job.path.parent)
    draft = layout.draft_path(job.path, "restore")
    with lock_for(job.opening()):
        check_room(job.path.parent, checksum.size_bytes, "The restored store")
        try:
            tell("copy")
            if copy_with_digest(file, draft) != checksum.sha256:
                raise _damaged(file)
            tell("erase")
            with open_copy(draft, job.settings, read_only=False) as store:
                newest = journal.newest(store)  # as it came: the journal then finds it behind
            listed = _known_erasures(job, newest, file, checksum, erasures)
            erased_again = _erase_again(job, draft, listed)
            tell("audit")
            look = _looked_at(job, draft, newest, secrets)
            if look.lost and not (accept_loss or dry_run):
                raise _older(job.path, file, look)
            tell("swap")
            old_store = None if dry_run else _swap(job, draft, look.newest, secrets, listed)
        finally:
            copying.discard(draft)
    return Restored(
        store=str(job.path),
        backup=str(file),
        run_no=checksum.run_no,
        kept_aside=str(old_store) if old_store else None,
        **look.loss,
        history=look.history,
        secrets_missing=look.secrets_missing,
        faults=look.faults,
        erased_again=erased_again or None,
        erasures_unknown_since=listed.unknown_since,
        dry_run=dry_run,
    )


def _known_erasures(
    job: Job, newest: JournalLine | None, file: Path, checksum: Checksum, list_path: Path | None
) -> ErasureList:
    """Join the lists there are, and say since when there may be more erasures.

    The list of the store that was here is the newest, if its journal knows the backup's run, and
    the one that somebody put here before there was a store.
    """
    own, beside = own_list(job.path), read_list(path := layout.backup_erasures_path(file))
    listed, run_ids = own.joined(beside), journal.all_ids(job.path) - {None}
    is_here = newest is not None and newest.run_id in run_ids if run_ids else own.key is not None
    since = own.unknown_since
    if not is_here or len(listed.erasures) > len(own.erasures):
        until = beside.unknown_since or parse_moment(checksum.made_at)
        since = max(until, since or until)
    if list_path:
        listed = listed.joined(read_list(list_path))
    if newest is None or (list_path and not (path.exists() and list_path.samefile(path))):
        since = None
    return replace(listed, unknown_since=since)


def _erase_again(job: Job, draft: Path, listed: ErasureList) -> int:
    """Erase in a copy of a backup whom a list names; return how many.

    The copy is written anew then, as freed blocks would hold what was erased.
    """
    with open_copy(draft, job.settings) as store:
        if not missing_erasures(store, listed):
            return 0
    clean = layout.draft_path(job.path, "erased")
    try:
        with open_copy(draft, job.settings, read_only=False) as store:
            count = erase_again(store, job, listed)
            original = copying.contents(store)
        copying.copy_store(draft, clean, job.settings)
        with open_copy(clean, job.settings) as store:
            copying.check_copy(original, copying.contents(store))
        copying.put_in_place(clean, draft)
    finally:
        copying.discard(clean)
    return count


@dataclass(frozen=True, kw_only=True)
class _Look:
    """What a backup brings: its newest run, what the journal knows beyond it, audits it fails.

    `loss` is what is said of `lost`, as long as the journal knows these runs.
    `history` is the folder that it reads and does not hold, `secrets_missing` are the institutions
    whose signing secrets are neither here nor beside it.
    """

    newest: JournalLine | None
    lost: list[JournalLine]
    loss: Mapping[str, Any]
    history: str | None
    secrets_missing: list[str]
    faults: list[Audit]


def _looked_at(
    job: Job, draft: Path, newest: JournalLine | None, secrets: Mapping[str, str]
) -> _Look:
    if job.path.exists():
        with suppress(CardoffersError), opened(job.opening()):
            pass  # its journal is caught up with, and its log written into it, if that can be
    with open_copy(draft, job.settings) as store:
        lost = journal.lost(store, job.path)
        return _Look(
            newest=newest,
            lost=lost,
            loss=journal.loss(job.path, lost),
            history=archive_place(store),
            secrets_missing=missing(store, {**read_secrets(job.path), **secrets}),
            faults=faults_of(examine(store, None)),
        )


def _swap(
    job: Job,
    draft: Path,
    newest: JournalLine | None,
    secrets: Mapping[str, str],
    listed: ErasureList,
) -> Path | None:
    """Keep the store of before aside and put the draft in its place; return where it is kept.

    The journal comes first: killed before the last step, the store is ahead of it, or noticed. The
    second name is taken back then by whoever takes the lock next (`kernel/store/identity.py`). The
    secrets and the list of erasures come before the store that needs them.
    """
    since = job.opening().since or job.now
    old_store = layout.kept_name(job.path, since) if job.path.exists() else None
    if old_store:
        copying.keep_aside(job.path, old_store)
        if before := read_secrets(job.path):
            write_secrets(old_store, before)
        keep(old_store, own_list(job.path))
        journal.mark_replaced(old_store, job.path, now=job.now)
    put_logs_aside(job.path, since)
    # It may show what will be lost, and nobody knew then.
    put_aside(layout.snapshot_path(job.path), since)
    add_secrets(job.path, secrets.values())
    keep(job.path, listed)
    journal.reset(job.path, newest, kind="store_restored", now=job.now)
    copying.put_in_place(draft, job.path)
    return old_store


def _read_checksum(file: Path) -> Checksum:
    """Return the checksum of a whole backup of this version; refuse everything else."""
    if not file.is_file():
        raise FileUnusable(
            f"There is no backup at {file}.", code="backup_missing", hint="Name another file."
        )
    try:
        checksum = Checksum(**json.loads(checksum_path(file).read_bytes()))
    except FileNotFoundError:
        raise FileUnusable(
            f"{file} has no {checksum_path(file).name} beside it, so nobody can tell whether it is "
            "whole: a store that is copied while it is in use may be torn or stale.",
            code="backup_unchecked",
            hint="Restore a file that `cardoffers store backup` made, with its checksum.",
        ) from None
    except (ValueError, TypeError):
        raise _foreign(file) from None
    if checksum.form == OLD_FORM:
        raise too_old(file)
    if checksum.form != FORM:
        raise _foreign(file)
    if checksum.schema_version != newest_version():
        raise StoreVersion(
            f"{file} has schema {checksum.schema_version}; this program works with "
            f"{newest_version()}.",
            code="backup_version",
            hint="Restore it with the version that made it, then run `cardoffers store migrate`.",
            found=checksum.schema_version,
            expected=newest_version(),
        )
    if file.stat().st_size != checksum.size_bytes or layout.log_path(file).exists():
        raise _damaged(file)
    return checksum


def _read_secrets(file: Path, checksum: Checksum) -> dict[str, str]:
    """Return the signing secrets of a backup; none where it has none, or their file is gone."""
    beside = layout.backup_secrets_path(file)
    if checksum.secrets_sha256 is None or not beside.exists():
        return {}
    if digest_of(beside) != checksum.secrets_sha256:
        raise _damaged(beside)
    return texts_in(beside)


def _foreign(file: Path) -> FileUnusable:
    return FileUnusable(
        f"{checksum_path(file)} is no checksum of `cardoffers store backup`.",
        code="backup_foreign",
        hint="Restore a file that `cardoffers store backup` made, with its checksum.",
    )


def _damaged(file: Path) -> FileUnusable:
    return FileUnusable(
        f"{file} is not what its checksum says: it was changed, or cut off.",
        code="backup_damaged",
        hint="Restore another backup; nothing was changed.",
    )


def _older(path: Path, file: Path, look: _Look) -> Refused:
    first, last = look.lost[0], look.lost[-1]
    return Refused(
        f"{file} is older than the journal of {path}: {counted(len(look.lost), 'run')} would be "
        f"lost, from {first.run_no} ({first.kind}, {first.as_of:%Y-%m-%d}) to "
        f"{last.run_no} ({last.kind}, {last.as_of:%Y-%m-%d}).",
        code="backup_older",
        hint="Add --yes if that is what you want; the present store is kept under another name.",
        **look.loss,
    )
