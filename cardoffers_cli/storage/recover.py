"""Recover: go on with a store that does not open because the log of its engine was damaged.

A log that was being written when the power went may keep a store from opening, though the file is
whole and so is the log up to there. A private copy is opened, with the longest beginning of the log
that it takes. What goes with the rest is told by the journal, and nothing is done before somebody
has agreed to it. A block over which the engine was writing is mended first, by which nothing is
lost. The log is kept under a dated name; killed at any moment, it can be run again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.disk.folders import check_room
from cardoffers_cli.kernel.store import blocks, copying, journal, layout
from cardoffers_cli.kernel.store.opening import connected, current, lock_for, must_exist, open_copy
from cardoffers_cli.kernel.words.errors import Refused, StoreDamaged
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.storage.restore import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cardoffers_cli.kernel.store.blocks import Checksums
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.storage.doctor import Audit
    from cardoffers_cli.storage.restore import DraftState


PUT_ASIDE = "log_put_aside"
"""The kind of the line that the journal gets where commits went with the log."""


class Recovered(Record, sheet="store blocks_mended log_bytes log_bytes_used run_no lost"):
    """A store that was mended, and what is lost by it.

    So many blocks were mended, and so many bytes of the log, which is kept in `kept_logs`, could be
    read; the newest run is then `run_no`. `next` are the commands that run the lost nights again,
    `faults` are audits that the store fails.
    """

    store: str
    blocks_mended: int = shown("blocks fixed", gives_way=1)
    log_bytes: int = shown("bytes of log")
    log_bytes_used: int = shown("of these read")
    kept_logs: Sequence[str]
    run_no: int = shown("at run")
    lost: int = shown("runs lost")
    lost_runs: Sequence[Mapping[str, Any]]
    nights: Sequence[str]
    next: Sequence[str]
    faults: Sequence[Audit]
    dry_run: bool


def recover(job: Job, *, agree: Callable[[Recovered], None], dry_run: bool = False) -> Recovered:
    """Mend torn blocks, and put the log aside, all but what can be read; return what is lost by it.

    `agree` hears what is to come before anything is done, and raises to leave it at that; with
    `dry_run` it is left at that in any case. Raises `Refused` where the store opens and has
    everything, and `StoreDamaged` where the file itself is damaged, or is no store.
    """
    must_exist(job.path)
    draft = layout.draft_path(job.path, "recover")
    with lock_for(job.opening()):
        journal.check_not_replaced(job.path)
        check_room(job.path.parent, copying.size_with_log(job.path), "The copy that is looked at")
        try:
            for file, copy in zip(layout.with_logs(job.path), layout.with_logs(draft), strict=True):
                if file.exists():
                    copying.copy_file(file, copy)
            look = _looked_at(job, draft)
            report = _report(job, look, dry_run=dry_run)
            if dry_run:
                return report
            agree(report)
            logs = _put_aside(job, draft, look)
        finally:
            copying.discard(draft)
    return replace(report, kept_logs=[str(log) for log in logs])


@dataclass(frozen=True, kw_only=True)
class _Remains:
    """A store with the beginning of its log: how much that is, and what the store is with it.

    It may be the whole log, where only blocks were torn.
    """

    mended: Checksums
    is_log_whole: bool
    log_bytes_used: int
    state: DraftState


def _looked_at(job: Job, draft: Path) -> _Remains:
    """Find the most of the log that the copy opens with, and leave it at that."""
    is_logged = any(log.exists() for log in layout.log_paths(draft))
    mended = blocks.mend(draft, job.settings)
    refusal = _refusal(job, draft)
    if not mended and (refusal is None or not is_logged):
        raise refusal or Refused.from_table("storage", "nothing_to_recover")
    used = _longest_beginning(job, draft) if refusal else layout.log_path(draft).stat().st_size
    return _Remains(
        mended=mended,
        is_log_whole=refusal is None,
        log_bytes_used=used,
        state=state_of(job, draft, {}),
    )


def _refusal(job: Job, draft: Path) -> StoreDamaged | None:
    """Return why the copy does not open, or has lost commits; None if it is well."""
    try:
        with open_copy(draft, job.settings) as store:
            journal.check(store, job.path)
    except StoreDamaged as error:
        return error
    return None


def _longest_beginning(job: Job, draft: Path) -> int:
    """Leave the copy with as much of the log as it opens with; return how much that is.

    It opens with any part of what it opens with. Raises `StoreDamaged` if it does not without.
    """
    log, *others = layout.log_paths(draft)
    for other in others:
        other.unlink(missing_ok=True)
    log.unlink(missing_ok=True)
    if error := _not_opened(job, draft):
        raise StoreDamaged(
            f"{job.path} is damaged, and not by its log alone.",
            hint="Put a backup in its place with `cardoffers store restore FILE`; nothing was "
            "changed.",
            file=str(job.path),
        ) from error
    full_log = layout.log_path(job.path)
    opens, fails = 0, full_log.stat().st_size + 1 if full_log.exists() else 1
    while fails - opens > 1:
        length = (opens + fails) // 2
        copying.copy_beginning(full_log, log, length)
        opens, fails = (opens, length) if _not_opened(job, draft) else (length, fails)
    if opens:
        copying.copy_beginning(full_log, log, opens)
    else:
        log.unlink(missing_ok=True)
    return opens


def _not_opened(job: Job, draft: Path) -> StoreDamaged | None:
    try:
        with connected(draft, job.settings, read_only=True):
            return None
    except StoreDamaged as error:
        return error


def _put_aside(job: Job, draft: Path, look: _Remains) -> list[Path]:
    """Keep the logs under dated names, and write what was read of them into the store.

    The journal is told where commits went with them. A log that is whole stays until it is written.
    """
    since = job.opening().since or job.now
    blocks.write(job.path, look.mended)
    is_whole = look.is_log_whole
    logs = [] if is_whole else copying.replace_logs(job.path, layout.log_path(draft), since)
    with current(job.opening()) as store:
        if look.state.lost:
            layout.put_aside(layout.snapshot_path(job.path), since)  # it may show what was lost
            journal.reset(job.path, journal.newest(store), kind=PUT_ASIDE, now=job.now)
        else:
            journal.keep_up(store, job.path)
        store.execute("kernel/store/copying:checkpoint")
    layout.log_path(job.path).unlink(missing_ok=True)  # what the engine found nothing in, it leaves
    return logs


def _report(job: Job, look: _Remains, *, dry_run: bool) -> Recovered:
    sizes = [log.stat().st_size for log in layout.log_paths(job.path) if log.exists()]
    return Recovered(
        store=str(job.path),
        blocks_mended=len(look.mended),
        log_bytes=sum(sizes),
        log_bytes_used=look.log_bytes_used,
        kept_logs=[],
        run_no=newest.run_no if (newest := look.state.newest) else 0,
        lost=len(look.state.lost),
        **look.state.loss,
        faults=look.state.faults,
        dry_run=dry_run,
    )
