"""Backup and restore: a whole copy with its checksum beside it, and the way back.

A backup is copied through the engine, opened, compared with the store table by table, audited, and
only then given its name; what tells it from any other file stands in `FILE.checksum`. A restore
takes nothing else. It keeps the store of before under another name, and tells the journal that the
store is at an earlier run on purpose. Nothing is ever overwritten or deleted.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import (
    CardoffersError,
    FileUnusable,
    NoSpace,
    Refused,
    StoreVersion,
    UsageError,
)
from cardoffers_cli.domain.moments import format_moment
from cardoffers_cli.files.digests import copy_with_digest, digest_of
from cardoffers_cli.files.disks import free_bytes
from cardoffers_cli.files.private import new_private_file
from cardoffers_cli.jobs.doctor import Audit, examine
from cardoffers_cli.services import security_log
from cardoffers_cli.store import copying, journal
from cardoffers_cli.store.aside import STAMP, kept_name, put_aside
from cardoffers_cli.store.migrations import newest_version
from cardoffers_cli.store.opening import (
    check_version,
    connected,
    lock_for,
    must_exist,
    opened,
)
from cardoffers_cli.store.snapshot import snapshot_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.journal import Line
    from cardoffers_cli.store.store import Store

FORM = "cardoffers backup 1"
"""By which a checksum is known to be one of ours."""

BACKUP_STEPS = ("copy", "compare", "audit", "checksum")
RESTORE_STEPS = ("copy", "audit", "swap")
_SPARE_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Checksum:
    """What is written beside a backup: which bytes it has, and which state of which store it is."""

    form: str
    sha256: str
    size_bytes: int
    schema_version: int
    run_no: int
    run_id: str | None
    security_head: str
    made_at: str


def checksum_path(backup: Path) -> Path:
    """Return the path of the checksum of a backup."""
    return backup.with_name(backup.name + ".checksum")


def _nobody(step: str) -> None:
    """Tell nobody."""


def backup(job: Job, target: Path, *, tell: Callable[[str], None] = _nobody) -> dict[str, Any]:
    """Copy the store into a new file, or into a folder under a name with the time.

    `faults` of the report are audits that the copy fails, as the store does. Raises `Refused` where
    a file is already, `NoSpace`, and `StoreDamaged` if the copy is not the store.
    """
    must_exist(job.path)
    file = _named(job, target)
    check_room(file.parent, copying.size_with_log(job.path), "The backup")
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        found = _copied(job, draft, tell)
        tell("checksum")
        checksum = _checksum(draft, **found.head, made_at=job.now)
        with new_private_file(checksum_path(file), f"{json.dumps(asdict(checksum), indent=1)}\n"):
            _give_name(draft, file)
    finally:
        copying.discard(draft)
    return {"backup": str(file), **asdict(checksum), "faults": found.faults}


@dataclass(frozen=True, kw_only=True)
class _Copied:
    head: dict[str, Any]
    faults: list[dict[str, Any]]


def _copied(job: Job, draft: Path, tell: Callable[[str], None]) -> _Copied:
    """Copy the store under its lock, and look at the copy without it."""
    opening = job.opening(read_only=True)
    with lock_for(opening):
        tell("copy")
        with opened(opening) as store:
            original, head = copying.contents(store), _head(store)
        copying.copy_store(job.path, draft, job.settings)
    with connected(draft, job.settings, read_only=True) as store:
        check_version(store, draft)
        tell("compare")
        copying.check_copy(original, copying.contents(store))
        tell("audit")
        return _Copied(head=head, faults=_faults(examine(store, None)))


def restore(
    job: Job,
    file: Path,
    *,
    accept_loss: bool = False,
    dry_run: bool = False,
    tell: Callable[[str], None] = _nobody,
) -> dict[str, Any]:
    """Put a backup in the place of the store; return what it is, and what is lost by it.

    With `dry_run` the backup is looked at all the same. Raises `FileUnusable` for what is no whole
    backup of this product, `StoreVersion` for one of another version, `NoSpace`, and `Refused` for
    one that is older than the journal, unless the loss is accepted.
    """
    checksum = _read_checksum(file)
    if job.path.exists() and file.samefile(job.path):
        raise Refused("This file is the store itself.", code="is_store", hint="Name a backup.")
    _must_be_folder(job.path.parent)
    draft = job.path.with_name(f".{job.path.name}.restore.new")
    with lock_for(job.opening()):
        check_room(job.path.parent, checksum.size_bytes, "The restored store")
        try:
            tell("copy")
            if copy_with_digest(file, draft) != checksum.sha256:
                raise _damaged(file)
            tell("audit")
            look = _looked_at(job, draft)
            if look.lost and not (accept_loss or dry_run):
                raise _older(job.path, file, look)
            tell("swap")
            aside = None if dry_run else _swap(job, draft, look.newest)
        finally:
            copying.discard(draft)
    return {
        "store": str(job.path),
        "backup": str(file),
        "run_no": checksum.run_no,
        "kept_aside": aside and str(aside),
        **_loss(look),
        "faults": look.faults,
        "dry_run": dry_run,
    }


@dataclass(frozen=True, kw_only=True)
class _Look:
    """What a backup brings: its newest run, what the journal knows beyond it, audits it fails."""

    newest: Line | None
    lost: list[Line]
    nights: list[str]
    faults: list[dict[str, Any]]


def _looked_at(job: Job, draft: Path) -> _Look:
    if job.path.exists():
        with suppress(CardoffersError), opened(job.opening()):
            pass  # its journal is caught up with, and its log written into it, if that can be
    with connected(draft, job.settings, read_only=True) as store:
        check_version(store, draft)
        lost = journal.lost(store, job.path)
        return _Look(
            newest=journal.newest(store),
            lost=lost,
            nights=journal.nights(job.path, lost),
            faults=_faults(examine(store, None)),
        )


def _swap(job: Job, draft: Path, newest: Line | None) -> Path | None:
    """Keep the store of before aside and put the draft in its place; return where it is kept.

    The journal comes first: killed before the last step, the store is ahead of it, or noticed.
    """
    since = job.opening().since or job.now
    aside = kept_name(job.path, since) if job.path.exists() else None
    if aside:
        copying.keep_aside(job.path, aside)
    journal.reset(job.path, newest, kind="store_restored", now=job.now)
    copying.put_in_place(draft, job.path)
    put_aside(snapshot_path(job.path), since)  # it may show what was lost
    return aside


def check_room(folder: Path, needed: int, what: str) -> None:
    """Raise `NoSpace`, with the bytes, where something does not fit on the disk of a folder."""
    free = free_bytes(folder)
    if free < needed + _SPARE_BYTES:
        raise NoSpace(
            f"{what} needs {needed + _SPARE_BYTES:,} bytes in {folder}, and {free:,} are free.",
            hint="Free some space there and run it again: nothing was begun.",
            needed_bytes=needed + _SPARE_BYTES,
            free_bytes=free,
        )


def _named(job: Job, target: Path) -> Path:
    """Return the file of a backup that is not there yet."""
    file = target / f"{job.path.stem}-{job.now:{STAMP}}.duckdb" if target.is_dir() else target
    for each in (file, checksum_path(file)):
        if each.exists():
            raise _taken(each)
    _must_be_folder(file.parent)
    return file


def _must_be_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {folder}.", code="folder_missing", hint="Make it first."
        )


def _give_name(draft: Path, file: Path) -> None:
    try:
        os.link(draft, file)  # which never takes the place of another
    except FileExistsError:
        raise _taken(file) from None
    journal.sync_folder(file.parent)


def _head(store: Store) -> dict[str, Any]:
    newest = journal.newest(store)
    return {
        "run_no": newest.run_no if newest else 0,
        "run_id": str(newest.run_id) if newest else None,
        "security_head": security_log.head(store),
    }


def _checksum(draft: Path, *, made_at: datetime, **head: Any) -> Checksum:
    return Checksum(
        form=FORM,
        sha256=digest_of(draft),
        size_bytes=draft.stat().st_size,
        schema_version=newest_version(),
        made_at=format_moment(made_at),
        **head,
    )


def _faults(audits: list[Audit]) -> list[dict[str, Any]]:
    return [asdict(audit) for audit in audits if not audit.ok]


def _loss(look: _Look) -> dict[str, Any]:
    return {
        "lost_runs": [line.document() for line in look.lost],
        "nights": look.nights,
        "next": [f"cardoffers nightly DROP_DIR --as-of {date}" for date in look.nights],
    }


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
    if file.stat().st_size != checksum.size_bytes or copying.log_path(file).exists():
        raise _damaged(file)
    return checksum


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


def _taken(file: Path) -> Refused:
    return Refused(
        f"There is a file already at {file}.",
        code="file_exists",
        hint="Name a new one, or a folder: there the file is named by the time.",
    )


def _older(path: Path, file: Path, look: _Look) -> Refused:
    first, last = look.lost[0], look.lost[-1]
    return Refused(
        f"{file} is older than the journal of {path}: {len(look.lost)} runs would be lost, from "
        f"{first.run_no} ({first.kind}, {first.as_of:%Y-%m-%d}) to {last.run_no} ({last.kind}, "
        f"{last.as_of:%Y-%m-%d}).",
        code="backup_older",
        hint="Add --yes if that is what you want; the present store is kept under another name.",
        **_loss(look),
    )
