"""Drill: restore a point into a draft that is thrown away, with a clock, and say what it showed."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cardoffers_cli.copies.points import unpacked
from cardoffers_cli.copies.work import POINT, entries, repository_of
from cardoffers_cli.kernel.store import acts, copying, layout
from cardoffers_cli.kernel.store.erasures import ErasureList
from cardoffers_cli.kernel.store.opening import open_copy
from cardoffers_cli.kernel.store.runs import write_run
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.privacy.erasures import erase_again
from cardoffers_cli.storage.doctor import Audit, examine
from cardoffers_cli.storage.restore import chosen_point, list_of, newest_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.kernel.store.job import Job


class DrillResult(Record, sheet="point rpo_s runs_since rto_s erased_again ok"):
    """What would be lost with the disk (`rpo_s`), and how long the store takes to stand (`rto_s`).

    `damaged` are points that are not whole, `faults` audits that the restored store fails.
    """

    point: str
    rpo_s: float = shown("lost (s)")
    runs_since: int = shown("runs lost")
    rto_s: float = shown("restored in (s)")
    steps: Sequence[Mapping[str, Any]]
    erased_again: int
    damaged: Sequence[str]
    history: str | None
    faults: Sequence[Audit]
    ok: bool
    dry_run: bool | None = if_any()


def drill(
    job: Job, named: str | None = None, *, keeps: bool = False, dry_run: bool = False
) -> DrillResult:
    """Restore a point for trial, which is kept as a run, or else read the whole repository too."""
    repository, faults, erased_again = repository_of(job), list[Audit](), 0
    is_whole, marks = False, [("", time.monotonic())]
    damaged = [] if keeps else repository.faults(entries(job, repository, POINT))
    layout.make_folder(job.path)
    draft = layout.own_draft(job.path, "drill")
    try:
        marks.append(("verify", time.monotonic()))
        point = chosen_point(job, repository, named)
        files = unpacked(repository.get(point, draft))
        marks.append(("restore", time.monotonic()))
        with open_copy(draft, job.settings, read_only=False) as store:
            is_whole = acts.head(store) == point.security_head
            listed = list_of(files).joined(newest_list(job, point) or ErasureList())
            erased_again = erase_again(store, job, listed)
            marks.append(("erase", time.monotonic()))
            faults = [audit for audit in examine(store, None) if not audit.ok]
            marks.append(("audit", time.monotonic()))
    except FileUnusable:
        damaged = damaged or [point.point]
    finally:
        copying.discard(draft)
    steps = [
        {"name": name, "s": round(at - before, 3)} for (_, before), (name, at) in pairwise(marks)
    ][1:]
    with job.store(read_only=dry_run or not keeps) as store:
        newest = store.row("kernel/store/journal:newest") or {"run_no": 0}
        result = DrillResult.part(
            point,
            rpo_s=(job.now - point.taken_at).total_seconds(),
            runs_since=newest["run_no"] - point.run_no,
            rto_s=round(marks[-1][1] - marks[1][1], 3),
            steps=steps,
            erased_again=erased_again,
            damaged=damaged,
            faults=faults,
            ok=is_whole and not (damaged or faults),
            dry_run=dry_run if keeps else None,
        )
        if keeps and not dry_run:
            with store.transaction():
                write_run(store, kind="drill", now=job.now, actor=job.actor, counts=result)
    return result
