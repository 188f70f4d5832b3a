"""Compact: an archive of fewer parts, and the store as a new, smaller file in the place of the old.

The small parts of the archive are merged first, as `merge.py` has it.
What was deleted or updated leaves room in the file that is not given back. The copy is made beside
the store, compared with it table by table, and takes its place in one step; killed before that, the
store is as it was and a draft is left, which the next time removes. The file before has no name
then, as a store has one (`kernel/store/identity.py`), so nothing can go on with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.archive.archive import archive_of
from cardoffers_cli.archive.merge import MergeResult, merge, mergeable, sweep
from cardoffers_cli.archive.parts import small
from cardoffers_cli.kernel.disk.disks import check_room
from cardoffers_cli.kernel.store import copying, erasures
from cardoffers_cli.kernel.store.layout import draft_path
from cardoffers_cli.kernel.store.lock import engine_lock
from cardoffers_cli.kernel.store.old_files import put_logs_aside
from cardoffers_cli.kernel.store.opening import lock_for, must_exist, open_copy, opened
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cardoffers_cli.kernel.store.job import Job

STEPS = ("merge", "copy", "compare", "swap")


def _nobody(step: str) -> None:
    """Tell nobody."""


class Compacted(Record, sheet="store size_bytes_before size_bytes"):
    """A store that was written anew, and the parts of its archive that were merged before.

    How small it would be, a dry run does not know.
    """

    store: str
    size_bytes_before: int = shown("bytes before")
    size_bytes: int | None = shown("bytes")
    merged: Sequence[MergeResult]
    dry_run: bool


def compact(job: Job, *, dry_run: bool = False, tell: Callable[[str], None] = _nobody) -> Compacted:
    """Merge the archive and write the store anew, under its lock; return what each was and is.

    With `dry_run` nothing is written. Raises
    `NoSpace` before anything is begun, `StoreBusy` while another writes to the archive, and
    `StoreDamaged` if what was written is not what was read.
    """
    must_exist(job.path)
    with lock_for(job.opening()):
        before = copying.size_with_log(job.path)
        check_room(job.path.parent, before, "The new file")
        tell("merge")
        merged = _merge(job, dry_run=dry_run)
        if not dry_run:
            _write_anew(job, tell)
        return Compacted(
            store=str(job.path),
            size_bytes_before=before,
            size_bytes=None if dry_run else job.path.stat().st_size,
            merged=merged,
            dry_run=dry_run,
        )


def _merge(job: Job, *, dry_run: bool) -> list[MergeResult]:
    with opened(job.opening(read_only=dry_run)) as store:
        archive = archive_of(store)
        if dry_run or archive is None:
            return mergeable(store, small)
        with engine_lock(job.path):
            sweep(store, job, archive.root)
            return merge(store, job, small)


def _write_anew(job: Job, tell: Callable[[str], None]) -> None:
    draft = draft_path(job.path, "compact")
    with opened(job.opening()) as store:
        original = copying.contents(store)
        store.execute("kernel/store/copying:checkpoint")
    put_logs_aside(job.path, job.opening().since or job.now)
    try:
        tell("copy")
        copying.copy_store(job.path, draft, job.settings)
        with open_copy(draft, job.settings) as store:
            tell("compare")
            copying.check_copy(original, copying.contents(store))
        tell("swap")
        copying.put_in_place(draft, job.path)
        erasures.unmark(job.path)
    finally:
        copying.discard(draft)
