"""What is done with points: put one into a file, or show it to readers as the snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.copies import plain
from cardoffers_cli.copies.points import point_of, take
from cardoffers_cli.kernel.disk.folders import check_room
from cardoffers_cli.kernel.store import copying
from cardoffers_cli.kernel.store.layout import backup_name, make_folder, own_draft, snapshot_path
from cardoffers_cli.kernel.store.opening import must_exist
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job


class BackupResult(Record, sheet="backup size_bytes run_no schema_version sha256"):
    """A point in files: the store at `backup`, what it is at `checksum`, the rest in `secrets`.

    `history` is the folder that is not in it. Of a dry run the digest is not known, and the size is
    the most that it can have.
    """

    backup: str
    checksum: str
    secrets: str
    sha256: str | None = shown(gives_way=2)
    size_bytes: int = shown("bytes")
    schema_version: int = shown("schema", gives_way=1)
    run_no: int = shown("up to run")
    run_id: str | None
    security_head: str
    taken_at: datetime
    history: str | None
    dry_run: bool


class PublishResult(Record):
    """A snapshot of the store: where, of when and how large."""

    snapshot: str
    taken_at: datetime
    size_bytes: int
    dry_run: bool


def backup(job: Job, target: Path, *, dry_run: bool = False) -> BackupResult:
    """Put a point into new files, or into a folder under a name with the time.

    Raises `Refused` where a file is already, and `NoSpace`.
    """
    must_exist(job.path)
    file = target / backup_name(job.path, job.now) if target.is_dir() else target
    plain.check_free(file)
    check_room(file.parent, copying.size_with_log(job.path), "The backup")
    if dry_run:
        with job.store(read_only=True) as store:
            point = point_of(store, job)
    else:
        with plain.placing(file):
            point, packed = take(job, file)
            plain.finish(file, point, packed)
    return BackupResult.part(
        point,
        backup=str(file),
        checksum=str(plain.checksum_path(file)),
        secrets=str(plain.secrets_path(file)),
        dry_run=dry_run,
    )


def publish(job: Job, *, dry_run: bool = False) -> PublishResult:
    """Take a point, and let readers have it as the snapshot; a dry run tells the store's size."""
    snapshot, draft = snapshot_path(job.path), own_draft(job.path, "point")
    if dry_run:
        with job.store(read_only=True):
            size = job.path.stat().st_size
    else:
        make_folder(job.path)
        try:
            take(job, draft, publishes=True)
        finally:
            draft.unlink(missing_ok=True)
        size = snapshot.stat().st_size
    return PublishResult(snapshot=str(snapshot), taken_at=job.now, size_bytes=size, dry_run=dry_run)
