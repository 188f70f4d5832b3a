"""Stores: make one, look at it, bring it to this version, go on after a loss."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive import export
from cardoffers_cli.archive.archive import TABLES, archive_of
from cardoffers_cli.kernel.store import journal
from cardoffers_cli.kernel.store.layout import put_aside, snapshot_path
from cardoffers_cli.kernel.store.migrations import applied, newest_version
from cardoffers_cli.kernel.store.opening import (
    check_creation,
    check_known,
    connected,
    create_store,
    lacking,
    lock_for,
    migrate_store,
)
from cardoffers_cli.kernel.words.errors import Refused, StoreBusy
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.opening import Opening
    from cardoffers_cli.kernel.store.store import Store


class InitResult(Record):
    """A new store, empty and of this version."""

    store: str
    schema_version: int
    created: bool
    dry_run: bool


class MigratedStore(Record):
    """A store of this version, and the migrations that brought it there.

    `moved` and `left` are files that a version moved, or did not: this one moves none.
    """

    store: str
    schema_version: int
    applied: Sequence[str]
    moved: Sequence[str]
    left: Sequence[str]
    dry_run: bool


class TableSize(Record):
    """How many rows one table of the store file has, as the engine estimates it."""

    table_name: str
    row_count: int


class ArchivedTable(Record):
    """How many parts and rows the archive has of one table.

    `parts_left` counts those that were merged into others, whose folders are still there.
    """

    table_name: str = shown("table")
    parts: int
    row_count: int = shown("rows")
    parts_left: int = shown("parts left", gives_way=1)


class ArchiveInfo(Record):
    """Where the archive of a store is, and what it has of each table."""

    root: str
    tables: Sequence[ArchivedTable]


class StoreInfo(Record):
    """What a store file is; `history` is None where there is none."""

    store: str
    size_bytes: int
    schema_version: int
    engine_version: str
    migrations: Sequence[Mapping[str, Any]]
    history: ArchiveInfo | None
    tables: Sequence[TableSize]


class LostCommits(Record):
    """So many runs that the journal knows and the store has `lost`, with their nights.

    `next` are the commands that run these nights again, `replaced_by` the file that is the store in
    this one's place, if any.
    """

    lost: int
    replaced_by: str | None
    lost_runs: Sequence[Mapping[str, Any]]
    nights: Sequence[str]
    next: Sequence[str]
    accepted: bool


def init(job: Job, *, rehearsal: bool = False, dry_run: bool = False) -> InitResult:
    """Make a new store, a rehearsal if wanted; raises `Refused` where a file is already."""
    if dry_run:
        check_creation(job.path)
    else:
        create_store(job.opening(), rehearsal=rehearsal)
    return InitResult(
        store=str(job.path), schema_version=newest_version(), created=not dry_run, dry_run=dry_run
    )


def migrate(job: Job, *, dry_run: bool = False) -> MigratedStore:
    """Apply the migrations this store lacks; one of this version is left as it is.

    With `dry_run`, what is told is what would be.
    """
    opening = job.opening(read_only=dry_run)
    migrations = lacking(opening) if dry_run else migrate_store(opening)
    return MigratedStore(
        store=str(job.path),
        schema_version=newest_version(),
        applied=[f"{migration.version:04} {migration.name}" for migration in migrations],
        moved=[],
        left=[],
        dry_run=dry_run,
    )


def info(job: Job) -> StoreInfo:
    """Return what the store file is: versions, migrations, sizes."""
    with job.store(read_only=True) as store:
        migrations = applied(store)
        return StoreInfo(
            store=str(job.path),
            size_bytes=job.path.stat().st_size,
            schema_version=migrations[-1]["version"],
            engine_version=store.value("kernel/store/info:engine"),
            migrations=migrations,
            history=_archive(store),
            tables=store.records(TableSize, "kernel/store/info:sizes"),
        )


def _archive(store: Store) -> ArchiveInfo | None:
    archive = archive_of(store)
    if archive is None:
        return None
    parts, old_parts = archive.parts(), export.left(store)
    by_table = {
        table: [part.row_count for part in parts if part.table_name == table] for table in TABLES
    }
    return ArchiveInfo(
        root=str(archive.root),
        tables=[
            ArchivedTable(
                table_name=table,
                parts=len(rows),
                row_count=sum(rows),
                parts_left=old_parts.get(table, 0),
            )
            for table, rows in by_table.items()
        ],
    )


def is_free(job: Job) -> bool:
    """Open the store for a moment; return whether nobody holds it, raise what is wrong with it."""
    hurried = replace(job, settings=replace(job.settings, lock_wait_s=1))
    try:
        with hurried.store(read_only=True):
            return True
    except StoreBusy:
        return False


def lost_commits(job: Job) -> LostCommits:
    """Return the runs that the journal knows and the store has lost, and their nights."""
    with _with_runs(job.opening(read_only=True)) as store:
        return _loss(store, job)


def accept_loss(job: Job) -> LostCommits:
    """Go on without what was lost: the journal starts again from what the store has.

    A snapshot, which may show what was lost, is kept under another name.
    So it does for a file in the place of which another one is the store, which is then one of its
    own. Raises `Refused` where there is nothing to accept.
    """
    with _with_runs(job.opening()) as store:
        loss = _loss(store, job)
        if not (loss.lost or loss.replaced_by):
            raise Refused.from_table("storage", "nothing_lost")
        # First the snapshot: once the journal knows of no loss, nobody would put it aside any more.
        put_aside(snapshot_path(job.path), job.opening().since or job.now)
        journal.reset(job.path, journal.newest(store), kind="loss_accepted", now=job.now)
    return replace(loss, accepted=True)


@contextmanager
def _with_runs(opening: Opening) -> Iterator[Store]:
    """Open a store of this version or one before, whatever its journal says.

    Every version has runs, and none is migrated before its loss is accepted.
    """
    where = opening.path, opening.settings
    with lock_for(opening), connected(*where, read_only=opening.read_only) as store:
        check_known(store, opening.path)
        yield store


def _loss(store: Store, job: Job) -> LostCommits:
    lost = journal.lost(store, job.path)
    return LostCommits(
        lost=len(lost),
        replaced_by=journal.replaced_by(job.path),
        **journal.loss(job.path, lost),
        accepted=False,
    )
