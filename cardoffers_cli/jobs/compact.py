"""Compact: the store as a new, smaller file, in the place of the old one.

What was deleted or updated leaves room in the file that is not given back. The copy is made beside
the store, compared with it table by table, and takes its place in one step; killed before that, the
store is as it was and a draft is left, which the next time removes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.backup import check_room
from cardoffers_cli.store import copying
from cardoffers_cli.store.opening import lock_for, must_exist, open_copy, opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from cardoffers_cli.jobs.job import Job

STEPS = ("copy", "compare", "swap")


def _nobody(step: str) -> None:
    """Tell nobody."""


def compact(job: Job, *, tell: Callable[[str], None] = _nobody) -> dict[str, Any]:
    """Write the store anew under its lock; return its size before and after.

    Raises `NoSpace` before anything is begun, and `StoreDamaged` if the copy is not the store.
    """
    must_exist(job.path)
    draft = job.path.with_name(f".{job.path.name}.compact.new")
    with lock_for(job.opening()):
        before = copying.size_with_log(job.path)
        check_room(job.path.parent, before, "The new file")
        with opened(job.opening()) as store:
            original = copying.contents(store)
        try:
            tell("copy")
            copying.copy_store(job.path, draft, job.settings)
            with open_copy(draft, job.settings) as store:
                tell("compare")
                copying.check_copy(original, copying.contents(store))
            tell("swap")
            copying.put_in_place(draft, job.path)
        finally:
            copying.discard(draft)
        after = job.path.stat().st_size
    return {"store": str(job.path), "size_bytes_before": before, "size_bytes": after}
