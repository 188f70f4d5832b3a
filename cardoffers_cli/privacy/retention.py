"""Retention: delete what is older than its setting, and nothing that anything still keeps.

Nothing is deleted where no age is set. A legal hold wins over every age, and so does what is open
of an institution (`privacy/retention.py`; rules.md#retention). What goes is counted in the record
of the run before it is deleted; killed, the next one deletes the rest.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cardoffers_cli.drop.drop import MANIFEST, MARKER, REPORTS
from cardoffers_cli.drop.file_changes import DONE, FAILED, HELD, look_later, watched
from cardoffers_cli.institutions.holds import standing_holds
from cardoffers_cli.kernel.disk.folders import sync_folder_if_possible
from cardoffers_cli.kernel.store.layout import put_aside_before, runs_folder
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from cardoffers_cli.drop.file_changes import ProcessedFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


# What keeps files from going: everything of an institution that is still open.


# What is kept, for how long, and what is never deleted (rules.md#retention).
#
# To let another kind of file age away, add its line here, its setting, and in
# `privacy/retention.py` how it is found.


class Retained(NamedTuple):
    """Something that is kept: what it is, the setting of its age in days, what keeps it longer.

    Without a setting it is never deleted, and `kept_by` says why.
    """

    what: str
    setting: str | None
    kept_by: str


_OPEN = "legal hold; open money, events and findings of its institution; a change nobody answered"
_HOLD = "legal hold of any institution"

KINDS = {
    "processed": Retained("files that were imported", "retention_processed_days", _OPEN),
    "failed": Retained("files that could not be imported", "retention_failed_days", _OPEN),
    "runs": Retained(
        "folders of nightly runs",
        "retention_runs_days",
        f"{_HOLD}; the newest, and unfinished ones",
    ),
    "aside": Retained("files that were put aside", "retention_aside_days", _HOLD),
    "money": Retained(
        "purchases, redemptions, the ledger, statements, invoices", None, "it is money"
    ),
    "security_log": Retained("the security log", None, "its chain would break"),
    "journal": Retained("the journal of the store", None, "it is cut by itself at 16 MiB"),
    "request_log": Retained(
        "the log of requests", None, "it is not ours: serve writes it to stderr"
    ),
    "backups": Retained("backups", None, "whoever makes them keeps them"),
}
"""Everything that is kept, by name."""

AGING = tuple(name for name, kind in KINDS.items() if kind.setting)
"""What is deleted once it is old enough, if its age is set."""


_BESIDE = (MARKER, MANIFEST, *REPORTS)
_FOLDERS = {"imported": ("processed", DONE), "failed": ("failed", FAILED), "held": ("failed", HELD)}


class RetainedKind(Record):
    """One kind of what is kept: its age in days, how much there is, and how much of it may go.

    `days` is None where it is kept for ever. `kept` are items that are old enough and stay all the
    same, `because` the reasons; without a setting it is why nothing of the kind is ever deleted.
    """

    kind: str
    what: str = shown(gives_way=3)
    days: int | None
    there: int | None
    oldest_at: datetime | None = shown(gives_way=2)
    may_go: int
    bytes_may_go: int = shown("bytes", gives_way=1)
    kept: int
    because: str = shown(gives_way=4)


class RetentionRun(Record):
    """What was deleted, or with `dry_run` would be, by kind."""

    kinds: Sequence[RetainedKind]
    deleted: int
    bytes_deleted: int
    dry_run: bool


class _Item(Record):
    """Something that may age away: what is to be deleted, since when it is there, what keeps it."""

    kind: str
    paths: tuple[Path, ...]
    since_at: datetime
    kept_by: str | None


def show_retention(job: Job) -> list[RetainedKind]:
    """Return every kind of what is kept, with its age and what may go now."""
    with job.store(read_only=True) as store:
        items = [*_items(store, job)]
    return [_told(job, kind, items) for kind in KINDS]


def run_retention(job: Job, *, dry_run: bool = False) -> RetentionRun:
    """Delete what may go, under the lock of the store; return what that was."""
    with job.store(read_only=dry_run) as store:
        items = [*_items(store, job)]
        kinds = [_told(job, kind, items) for kind in AGING]
        going = [item for item in items if _may_go(job, item)]
        size = sum(kind.bytes_may_go for kind in kinds)
        if going and not dry_run:
            with (
                store.transaction(),
                run_record(store, kind="retention", now=job.now, actor=job.actor) as run,
            ):
                run.counts.update({kind.kind: kind.may_go for kind in kinds}, bytes=size)
            for item in going:
                # What lies beside a file goes before the file itself.
                for path in reversed(item.paths):
                    if path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink(missing_ok=True)
                sync_folder_if_possible(item.paths[0].parent)
    return RetentionRun(kinds=kinds, deleted=len(going), bytes_deleted=size, dry_run=dry_run)


def _told(job: Job, name: str, items: Sequence[_Item]) -> RetainedKind:
    kind = KINDS[name]
    days = _days(job, name)
    own = [item for item in items if item.kind == name]
    going = [item for item in own if _may_go(job, item)]
    protected = [item for item in own if _is_old(job, item) and item.kept_by]
    reasons = ", ".join(sorted({item.kept_by for item in protected if item.kept_by}))
    return RetainedKind(
        kind=name,
        what=kind.what,
        days=days,
        there=len(own) if kind.setting else None,
        oldest_at=min((item.since_at for item in own), default=None),
        may_go=len(going),
        bytes_may_go=sum(_size(path) for item in going for path in item.paths),
        kept=len(protected),
        because=reasons or kind.kept_by,
    )


def _days(job: Job, name: str) -> int | None:
    setting = KINDS[name].setting
    days: int | None = getattr(job.settings, setting) if setting else None
    return days


def _is_old(job: Job, item: _Item) -> bool:
    days = _days(job, item.kind)
    return days is not None and item.since_at <= job.now - timedelta(days=days)


def _may_go(job: Job, item: _Item) -> bool:
    return _is_old(job, item) and item.kept_by is None


def _items(store: Store, job: Job) -> Iterator[_Item]:
    """Yield everything that may age away, with what keeps it."""
    holds = standing_holds(store)
    on_hold = {hold.institution_id for hold in holds}
    since = [
        (row["institution_id"], row["since_at"], row["why"])
        for row in store.rows("privacy/retention:open_since")
    ]
    for file in watched(store):
        open_ = sorted(
            why for owner, at, why in since if owner == file.institution_id and at <= file.as_of
        )
        by = "legal_hold" if file.institution_id in on_hold else next(iter(open_), None)
        yield from _taken(job, file, by)
    any_hold = "legal_hold" if holds else None
    for run in store.rows("privacy/retention:runs"):
        folder = runs_folder(job.path) / str(run["run_id"])
        if folder.is_dir():
            yield _Item(kind="runs", paths=(folder,), since_at=run["as_of"], kept_by=any_hold)
    for path, at in put_aside_before(job.path):  # dated by their names
        yield _Item(kind="aside", paths=(path,), since_at=at, kept_by=any_hold)


def _taken(job: Job, file: ProcessedFile, kept_by: str | None) -> Iterator[_Item]:
    """Yield a file that a night took, with what lies beside it, if it is there.

    It is read only where it would go: whether it changed since.
    """
    kind, name = _FOLDERS[file.state]
    path = Path(file.processed_folder) / file.institution / name / file.taken_as
    if not path.is_file():
        return
    beside = (path.with_name(path.name + ending) for ending in _BESIDE)
    paths = (path, *(other for other in beside if other.is_file()))
    item = _Item(kind=kind, paths=paths, since_at=file.as_of, kept_by=kept_by)
    may_go = _may_go(job, item)
    later = look_later(path, file.taken_bytes, file.taken_sha256) if may_go else None
    is_changed = later is not None and later.what != "same" and later.mark != file.accepted_mark
    yield replace(item, kept_by="changed_since") if is_changed else item


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.lstat().st_size for file in files if file.is_file())
