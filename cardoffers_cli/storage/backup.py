"""Backup: a whole copy of the store, with a checksum beside it.

It is copied through the engine, opened, compared with the store table by table, audited, and only
then given its name; what tells it from any other file stands in `FILE.checksum`. Signing secrets,
which are in no copy of a store, are in `FILE.secrets` where there are any, and the list of erasures
is in `FILE.erasures`, to which later erasures are added. Nothing else is ever overwritten. Killed,
it leaves a draft in that folder, and what is to stand beside the name that it did not come to; the
next backup there removes both. The checksum comes first, and claims the name. `restore.py` is the
way back.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive.archive import archive_of
from cardoffers_cli.kernel.disk.folders import check_room, digest_of
from cardoffers_cli.kernel.disk.outputs import new_private_file
from cardoffers_cli.kernel.store import (
    acts,
    backup_places,
    copying,
    erasures,
    journal,
    signing_secrets,
)
from cardoffers_cli.kernel.store.layout import (
    backup_erasures_path,
    backup_name,
    backup_secrets_path,
    erasures_path,
    sync_folder,
)
from cardoffers_cli.kernel.store.migrations import newest_version
from cardoffers_cli.kernel.store.opening import lock_for, must_exist, open_copy, opened
from cardoffers_cli.kernel.words.errors import Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_moment
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.storage.doctor import Audit, examine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

FORM, OLD_FORM = "cardoffers backup 2", "cardoffers backup 1"
"""By which a checksum is known to be one of ours, and to be from before schema 1."""

STEPS = ("copy", "compare", "audit", "checksum")


@dataclass(frozen=True, kw_only=True)
class Checksum:
    """What is written beside a backup: which bytes it has, and which state of which store it is.

    `secrets_sha256` is of its file of signing secrets, and None where it has none.
    """

    form: str
    sha256: str | None
    size_bytes: int
    schema_version: int
    run_no: int
    run_id: str | None
    security_head: str
    made_at: str
    secrets_sha256: str | None = None


class BackupResult(Record, sheet="backup size_bytes run_no schema_version sha256"):
    """A backup, with what its checksum says of it (`Checksum`).

    `history` is the folder that is not in the copy, `secrets` the file with the signing secrets,
    which nobody else may read, and `erasures` that with the list of erasures. `faults` are audits
    that the copy fails, as the store does.
    """

    backup: str
    form: str
    sha256: str | None = shown(gives_way=2)
    size_bytes: int = shown("bytes")
    schema_version: int = shown("schema", gives_way=1)
    run_no: int = shown("up to run")
    run_id: str | None
    security_head: str
    made_at: str
    secrets_sha256: str | None
    history: str | None
    secrets: str | None
    erasures: str | None
    faults: Sequence[Audit]
    dry_run: bool


def checksum_path(backup: Path) -> Path:
    """Return the path of the checksum of a backup."""
    return backup.with_name(backup.name + ".checksum")


def backup(
    job: Job,
    target: Path,
    *,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> BackupResult:
    """Copy the store into a new file, or into a folder under a name with the time.

    With `dry_run` the store is looked at in the place of a copy, which is not made: its
    size is the most that a copy can have, and its digests are not known. Raises `Refused` where a
    file is already, `NoSpace`, and `StoreDamaged` if the copy is not the store.
    """
    must_exist(job.path)
    if not dry_run:
        for old_draft in backup_places.drafts_left(target if target.is_dir() else target.parent):
            _remove(old_draft)  # first, as it may be in the way
    file = _named(job, target)
    check_room(file.parent, copying.size_with_log(job.path), "The backup")
    if dry_run:
        return _looked_at(job, file, tell)
    backup_places.note(job.path, file.parent.absolute())
    draft = backup_places.draft_in(file.parent)
    try:
        copy = _copied(job, draft, tell)
        tell("checksum")
        secrets = signing_secrets.text_of(copy.secrets) if copy.secrets else None
        checksum = _checksum(draft, secrets, **copy.head, made_at=job.now)
        with ExitStack() as stack:
            stack.enter_context(_claimed(file, draft, checksum))  # erasures find the name by it
            erasures.copy_to(job.path, backup_erasures_path(file), checksum_path(draft))
            if secrets:
                stack.enter_context(new_private_file(backup_secrets_path(file), secrets))
            _give_name(draft, file)
    finally:
        copying.discard(draft)
    return _report(job, file, checksum, copy, dry_run=False)


def _report(
    job: Job, file: Path, checksum: Checksum, copy: _Copied, *, dry_run: bool
) -> BackupResult:
    has_list = erasures_path(job.path).exists()
    return BackupResult(
        backup=str(file),
        **asdict(checksum),
        history=copy.history,
        secrets=str(backup_secrets_path(file)) if copy.secrets else None,
        erasures=str(backup_erasures_path(file)) if has_list else None,
        faults=copy.faults,
        dry_run=dry_run,
    )


def _looked_at(job: Job, file: Path, tell: Callable[[str], None]) -> BackupResult:
    """Return what a backup would be, by the store itself."""
    tell("audit")
    with job.store(read_only=True) as store:
        copy = _Copied(
            head=_head(store),
            secrets=_secrets(store, job),
            history=archive_place(store),
            faults=faults_of(examine(store, None)),
        )
    checksum = Checksum(
        form=FORM,
        sha256=None,
        size_bytes=copying.size_with_log(job.path),
        schema_version=newest_version(),
        made_at=format_moment(job.now),
        **copy.head,
    )
    return _report(job, file, checksum, copy, dry_run=True)


@dataclass(frozen=True, kw_only=True)
class _Copied:
    head: Mapping[str, Any]
    secrets: dict[str, str] = field(repr=False)
    history: str | None
    faults: list[Audit]


def _copied(job: Job, draft: Path, tell: Callable[[str], None]) -> _Copied:
    """Copy the store under its lock, and look at the copy without it."""
    opening = job.opening(read_only=True)
    with lock_for(opening):
        tell("copy")
        with opened(opening) as store:
            original, head, secrets = copying.contents(store), _head(store), _secrets(store, job)
        copying.copy_store(job.path, draft, job.settings)
    with open_copy(draft, job.settings) as store:
        tell("compare")
        copying.check_copy(original, copying.contents(store))
        tell("audit")
        faults = faults_of(examine(store, None))
        return _Copied(head=head, secrets=secrets, history=archive_place(store), faults=faults)


@contextmanager
def _claimed(file: Path, draft: Path, checksum: Checksum) -> Iterator[None]:
    """Put the checksum beside the name that a draft is to have, whole at once; or gone again."""
    own, claim = checksum_path(draft), checksum_path(file)
    own.unlink(missing_ok=True)  # of a killed process that had our number
    try:
        with new_private_file(own, f"{json.dumps(asdict(checksum), indent=1)}\n"):
            _give_name(own, claim)
    finally:
        own.unlink(missing_ok=True)
    try:
        yield
    except BaseException:
        backup_erasures_path(file).unlink(missing_ok=True)
        claim.unlink(missing_ok=True)
        raise


def _remove(draft: Path) -> None:
    """Remove what a killed backup left: its draft and what is beside the name it did not come to.

    Whose a checksum without its file is, its digest tells: others stand for files that were moved,
    as one does of which the draft is a second name. What else is beside a checksum of ours was
    written after it.
    """
    checksum_path(draft).unlink(missing_ok=True)
    for path in draft.parent.glob("*.checksum"):
        file = path.with_suffix("")
        if not file.exists() and _is_of(path, draft):
            backup_secrets_path(file).unlink(missing_ok=True)
            backup_erasures_path(file).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    copying.discard(draft)


def _is_of(checksum: Path, draft: Path) -> bool:
    with suppress(OSError, ValueError, TypeError):
        sums = Checksum(**json.loads(checksum.read_bytes()))
        info = draft.stat()
        is_like = (info.st_nlink, sums.form, sums.size_bytes) == (1, FORM, info.st_size)
        return is_like and sums.sha256 == digest_of(draft)
    return False


def archive_place(store: Store) -> str | None:
    """Return where the archive is, which no backup holds; None for a store without one."""
    archive = archive_of(store)
    return str(archive.root) if archive else None


def _named(job: Job, target: Path) -> Path:
    """Return the file of a backup that is not there yet."""
    file = target / backup_name(job.path, job.now) if target.is_dir() else target
    beside = checksum_path(file), backup_secrets_path(file), backup_erasures_path(file)
    for path in (file, *beside):
        if path.exists():
            raise _taken(path)
    must_be_folder(file.parent)
    return file


def must_be_folder(folder: Path) -> None:
    """Raise `UsageError` where there is no folder."""
    if not folder.is_dir():
        raise UsageError(
            f"There is no folder {folder}.", code="folder_missing", hint="Make it first."
        )


def _give_name(draft: Path, file: Path) -> None:
    try:
        os.link(draft, file)  # which never takes the place of another
    except FileExistsError:
        raise _taken(file) from None
    sync_folder(file.parent)


def _head(store: Store) -> Mapping[str, Any]:
    newest = journal.newest(store)
    return {
        "run_no": newest.run_no if newest else 0,
        "run_id": str(newest.run_id) if newest else None,
        "security_head": acts.head(store),
    }


def _secrets(store: Store, job: Job) -> dict[str, str]:
    """Return the signing secrets that the store names, as far as they are there."""
    named = signing_secrets.named_in(store)
    stored = signing_secrets.read_secrets(job.path)
    return {key: text for key, text in stored.items() if key in named}


def _checksum(draft: Path, secrets: str | None, *, made_at: datetime, **head: Any) -> Checksum:
    return Checksum(
        form=FORM,
        sha256=digest_of(draft),
        size_bytes=draft.stat().st_size,
        schema_version=newest_version(),
        made_at=format_moment(made_at),
        secrets_sha256=sha256(secrets.encode()).hexdigest() if secrets else None,
        **head,
    )


def faults_of(audits: list[Audit]) -> list[Audit]:
    """Return the audits that found something."""
    return [audit for audit in audits if not audit.ok]


def _taken(file: Path) -> Refused:
    return Refused(
        f"There is a file already at {file}.",
        code="file_exists",
        hint="Name a new one, or a folder: there the file is named by the time.",
    )
