"""A night: begin it or go on with it, step by step, and end it; or only rehearse it.

A night belongs to a date. What is recorded of it in the store says how far it is, so that running
it again goes on where it stopped, by the clock it had; a night that never ended is finished before
another one begins. A date whose night has ended has another night when there is something new:
files, or runs that came after it. Hooks are told of it, and its metrics are written.

A rehearsal reads and judges files, matches and settles as the night would, in one transaction that
is undone; nothing is moved, sent or kept.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.copies.work import check_current
from cardoffers_cli.drop.file_changes import ProcessedFolder
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.sheets.exports import replacing
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.store.layout import runs_folder, sweep
from cardoffers_cli.kernel.store.lock import Lock, night_lock
from cardoffers_cli.kernel.store.opening import lock_for, must_exist
from cardoffers_cli.kernel.store.runs import Run, finish_run, start_run
from cardoffers_cli.kernel.words.errors import CardoffersError, NotFound, Refused, StoreDamaged
from cardoffers_cli.night import checks, metrics
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.hooks import EVENTS, HookOutcome, Notice, hooks_of, tell, would_tell
from cardoffers_cli.night.options import (
    NOTHING_NEW,
    RESULT,
    WITHOUT_CONSEQUENCE,
    NightContext,
    NightObserver,
    NightOptions,
    exit_code_of,
    finding,
    result_of,
    write_result,
)
from cardoffers_cli.night.page import write_night_page, write_runs_page
from cardoffers_cli.night.questions import NewNight
from cardoffers_cli.night.steps import STEPS, do
from cardoffers_cli.night.steps import rehearse as rehearse_step
from cardoffers_cli.night.watching import is_file_news
from cardoffers_cli.storage.recover import recover

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from cardoffers_cli.drop.drop import DropFile
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.options import NightResult
    from cardoffers_cli.night.questions import Night, NightFinding
    from cardoffers_cli.storage.recover import Recovered


KIND = "nightly"


def run_night(job: Job, order: NightOptions, onlooker: NightObserver | None = None) -> NightResult:
    """Run the night of the job's date, or what is left of it; return its result.

    `status` is `finished`, or `nothing_new` for a night that had ended and has nothing to add.
    Raises `ConfigurationError` hook_unusable, `StoreBusy` night_busy, `NoSpace`, and `Refused`
    clock_backwards or read_only.
    """
    onlooker = onlooker or NightObserver()
    with WatchedRun(job, onlooker, order.metrics_file) as watched:
        must_exist(job.path)
        check_current(job)
        remarks = checks.check_places(job, order)
        with night_lock(job.path, since=real_now(), wait_s=order.wait_s) as lock:
            remarks += recovered(job, onlooker)
            return _Nights(job, order, onlooker, lock, remarks, watched).run()


def resume_night(
    job: Job,
    run_id: str | None,
    *,
    wait_s: float = 0,
    webhook_time_s: float = 600,
    onlooker: NightObserver | None = None,
    metrics_file: Path | None = None,
) -> NightResult:
    """Go on with a night that has not ended, or the oldest such; raises `NotFound` without one."""
    onlooker = onlooker or NightObserver()
    watched = WatchedRun(job, onlooker, metrics_file)
    night = unfinished_night(job, run_id)
    with watched:
        check_current(job)
        order = NightOptions(
            drop=Path(night.drop_folder), webhook_time_s=webhook_time_s, wait_s=wait_s
        )
        remarks = checks.check_places(job, order)
        with night_lock(job.path, since=real_now(), wait_s=order.wait_s) as lock:
            return _Nights(job, order, onlooker, lock, remarks, watched).go_on(night)


def recovered(job: Job, onlooker: NightObserver) -> list[NightFinding]:
    """Recover a store that a killed process left unreadable, if that loses nothing; return it told.

    Raises what opening the store raises where a run of the journal would be lost, or audits fail.
    """
    try:
        with job.store(read_only=True):
            return []
    except StoreDamaged as error:
        damage = error

    def agree(recovery: Recovered) -> None:
        if recovery.lost or recovery.faults:
            raise damage

    try:
        recovery = recover(job, agree=agree)
    except (Refused, StoreDamaged):
        raise damage from None
    suffix = f" The log is kept: {', '.join(recovery.kept_logs)}." if recovery.kept_logs else ""
    message = (
        "The store could not be read: a process was killed while it wrote to it. It was recovered,"
        f" and nothing is lost: every run of the journal is there.{suffix}"
    )
    onlooker.warn(message)
    return [finding("store_recovered", message, level="warning")]


def unfinished_night(job: Job, run_id: str | None) -> Night:
    """Return the night of an id that has not ended, or the oldest such; raise `NotFound`."""
    must_exist(job.path)
    with job.store(read_only=True) as store:
        wanted = run_id and whole_id(store, "unfinished_night", run_id)
        rows = [night for night in nights.unfinished(store) if wanted in {None, str(night.run_id)}]
    if not rows:
        raise NotFound.from_table("night", "night_missing")
    return rows[0]


@dataclass(eq=False, repr=False)
class _Nights:
    """The nights of one command, under the lock: those left unfinished, and the one of today."""

    job: Job
    order: NightOptions
    onlooker: NightObserver
    lock: Lock
    remarks: list[NightFinding]
    watched: WatchedRun

    def run(self) -> NightResult:
        """Finish what was left, then run the night of the date, if it has not just been that."""
        with self.job.store(read_only=True) as store:
            unfinished = nights.unfinished(store)
        for night in unfinished:
            self.onlooker.warn(
                f"The nightly run of {night.name} did not come to its end, and goes on now:"
                f" `cardoffers run show {night.run_id}` says how far it was."
            )
            result = self.go_on(night)
            if night.as_of.date() >= self.job.now.date():
                return result
        picked = checks.picked_up(self.job, self.order.drop)
        selection = checks.look_twice(self.job, self.order.drop)
        with self.job.store(read_only=True) as store:
            newest, newest_run_no = nights.newest_finished(store)
            is_of_date = newest is not None and newest.as_of.date() == self.job.now.date()
            is_told = any(item.level != WITHOUT_CONSEQUENCE for item in picked)
            is_new = selection.files or is_told or not newest or newest.last_run_no != newest_run_no
            over = None
            if newest and is_of_date and not is_new and not is_file_news(store, self.job.now):
                over = result_of(store, self.job.path, newest, status=NOTHING_NEW)
        if over is not None:
            return self.watched.ends(over)
        checks.check_clock(self.job, self.order, newest)
        checks.check_space(self.job)
        self.remarks = [*self.remarks, *picked, *selection.remarks]
        with self.job.store() as store, store.transaction():
            night = begin(store, self.job, self.order, selection.files)
        return self.go_on(night)

    def go_on(self, night: Night) -> NightResult:
        """Do the steps of a night that are not recorded, and end it."""
        # What a killed process left beside the store, an audit would tell of.
        with lock_for(self.job.opening()):
            sweep(self.job.path)
        self.lock.tell(run_id=str(night.run_id))
        self.watched.begins(night)
        work = work_of(self.job, night, self.order, self.onlooker)
        work.remarks = self.remarks
        with work.job.store(read_only=True) as store:
            recorded = {step.name for step in nights.steps(store, night)}
        for position, step in enumerate(STEPS, start=1):
            if step.name in recorded:
                continue
            self.lock.tell(step=step.name)
            self.onlooker.begins(step.name, position, len(STEPS))
            self.onlooker.ends(do(step, position, work))
        self.lock.tell(step="end")
        # The result is kept first: a night that has ended has its result.
        ended_at = real_now()
        with work.job.store() as store:
            result = result_of(store, work.job.path, work.night, status="finished")
        result = replace(result, ended_at=ended_at)
        write_night_page(work, result)
        write_runs_page(work)
        with work.job.store() as store:
            write_result(work.job.path, result, mode=work.job.settings.mode)
            with store.transaction():
                counts = {step.name: step.counts for step in result.steps}
                finish_run(store, _run(work), counts)
                store.execute(
                    "night/questions:end", night_no=work.night.night_no, ended_at=ended_at
                )
        return self.watched.ends(result)


def work_of(job: Job, night: Night, order: NightOptions, onlooker: NightObserver) -> NightContext:
    """Return the work of a night, by the night's clock, and where it keeps what it takes."""
    return NightContext(
        job=replace(job, now=night.as_of),
        night=night,
        order=order,
        onlooker=onlooker,
        clock=job.now,
        processed=ProcessedFolder(Path(night.processed_folder)),
    )


def begin(store: Store, job: Job, order: NightOptions, files: Sequence[DropFile]) -> Night:
    """Write a new night with its files, in the caller's transaction."""
    processed = ProcessedFolder(checks.processed_root(job))
    new = store.records(NewNight, "night/questions:next", as_of=job.now, store=job.path.name)[0]
    run = start_run(store, kind=KIND, now=job.now, actor=job.actor, run_id=new.run_id)
    return nights.begin(
        store,
        checks.file_rows(processed, files),
        **new,
        run_no=run.run_no,
        as_of=job.now,
        drop_folder=str(order.drop.resolve()),
        processed_folder=str(processed.root),
        began_at=real_now(),
    )


def _run(work: NightContext) -> Run:
    night = work.night
    return Run(
        run_no=night.run_no, run_id=night.run_id, kind=KIND, as_of=night.as_of, actor=work.job.actor
    )


def rehearse(job: Job, order: NightOptions) -> NightResult:
    """Return the result that the night would have, as far as the store decides it."""
    watched = WatchedRun(job, NightObserver(), order.metrics_file)
    remarks = checks.check_places(job, order)
    with job.store(read_only=True) as store:
        checks.check_clock(job, order, nights.newest_finished(store)[0])
    picked = checks.picked_up(job, order.drop, dry_run=True)
    selection = checks.look_twice(job, order.drop)
    checks.check_space(job)
    with job.store() as store, store.transaction(keep=False):
        work = work_of(job, begin(store, job, order, selection.files), order, NightObserver())
        work.remarks = [*remarks, *picked, *selection.remarks]
        return _rehearsed(store, work, watched)


def rehearse_rest(job: Job, run_id: str | None) -> NightResult:
    """Return the result that a night would have if it went on; raise as `resume_night` does."""
    watched = WatchedRun(job, NightObserver())
    night = unfinished_night(job, run_id)
    order = NightOptions(drop=Path(night.drop_folder))
    remarks = checks.check_places(job, order)
    with job.store() as store, store.transaction(keep=False):
        work = work_of(job, night, order, NightObserver())
        work.remarks = remarks
        return _rehearsed(store, work, watched)


def _rehearsed(store: Store, work: NightContext, watched: WatchedRun) -> NightResult:
    """Rehearse the steps that are not recorded, in the caller's transaction."""
    recorded = {step.name for step in nights.steps(store, work.night)}
    for position, step in enumerate(STEPS, start=1):
        if step.name not in recorded:
            rehearse_step(step, position, work, store)
    result = result_of(store, work.job.path, work.night, status="rehearsed")
    return replace(result, dry_run=True, hooks=watched.would_tell())


ON_START, ON_SUCCESS, ON_FAILURE, ON_FINDINGS = EVENTS


class WatchedRun:
    """Tells of the nights of one command, from `begins` to `ends`; what raises in between failed.

    `metrics_file` is in place of that of the settings. Raises `ConfigurationError` where a hook
    cannot be told, or metrics not be written.
    """

    def __init__(self, job: Job, onlooker: NightObserver, metrics_file: Path | None = None) -> None:
        self._job = job
        self._onlooker = onlooker
        self._hooks = hooks_of(job.settings)
        self._metrics_file = metrics_file or job.settings.metrics_file
        if self._metrics_file is not None:
            metrics.check_metrics_file(self._metrics_file)
        self._night: Night | None = None
        self._told: list[HookOutcome] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if error is not None:
            exit_code, code = self._onlooker.ending(error)
            self._measure(exit_code, None, str(self._night.run_id) if self._night else None)
            self._tell(replace(self._notice(ON_FAILURE, "failed"), exit_code=exit_code, error=code))

    def begins(self, night: Night) -> None:
        """Tell that a night begins, or goes on."""
        self._night, self._told = night, []
        self._tell(self._notice(ON_START, "running"))

    def ends(self, result: NightResult) -> NightResult:
        """Tell what a night came to; return the result with what came of the hooks, kept so too."""
        is_new = result.status != NOTHING_NEW
        self._night = None
        self._measure(exit_code_of(result), result, str(result.run_id) if is_new else None)
        path = runs_folder(self._job.path) / str(result.run_id) / RESULT
        document = path.read_bytes() if self._hooks and path.exists() else None
        if exit_code_of(result):
            self._tell(_of_result(ON_FINDINGS, result), document)
        self._tell(_of_result(ON_SUCCESS, result), document)
        if not self._told:
            return result
        result = replace(result, hooks=self._told)
        if is_new:
            with suppress(OSError, CardoffersError):  # it is kept already, without the hooks
                write_result(self._job.path, result, mode=self._job.settings.mode)
        return result

    def would_tell(self) -> list[HookOutcome] | None:
        """Return what a rehearsal says of hooks; None where there are none."""
        return would_tell(self._hooks) or None

    def _measure(self, exit_code: int, result: NightResult | None, run_id: str | None) -> None:
        """Write the metrics of a run; that they cannot be written changes nothing of it."""
        job, settings = self._job, self._job.settings
        files = [] if self._metrics_file is None else [(self._metrics_file, settings.metrics_mode)]
        if run_id is not None:
            files += [(runs_folder(job.path) / run_id / metrics.METRICS, settings.file_mode)]
        if not files:
            return
        try:
            measured = metrics.measure(
                job,
                ended_at=real_now(),
                exit_code=exit_code,
                result=result,
                before=self._metrics_file,
                folders={"store": job.path.parent, "processed": checks.processed_root(job)},
            )
            for path, mode in files:
                make_folder(path.parent)
                with replacing(path, mode=int(mode, 8)) as out:  # nobody reads half of them
                    out.write(metrics.exposition(metrics.night_families(measured)).encode())
        except Exception as fault:  # noqa: BLE001  whatever it is, the run is not to hear of it
            why = getattr(fault, "strerror", None) or type(fault).__name__
            self._onlooker.warn(f"The metrics of the nightly run were not written: {why}.")

    def _tell(self, notice: Notice, document: bytes | None = None) -> None:
        for hook in self._hooks:
            if hook.event == notice.event:
                outcome = tell(hook, notice, document, self._job.settings)
                self._told.append(outcome)
                self._onlooker.told(outcome)

    def _notice(self, event: str, status: str) -> Notice:
        night = self._night
        return Notice(
            event=event,
            run_id=str(night.run_id) if night else None,
            night=night.name if night else None,
            as_of=night.as_of if night else self._job.now,
            status=status,
            exit_code=None,
            error=None,
            files=0,
            failed_files=0,
            findings={},
        )


def _of_result(event: str, result: NightResult) -> Notice:
    return Notice(
        event=event,
        run_id=str(result.run_id),
        night=result.night,
        as_of=result.as_of,
        status=result.status,
        exit_code=exit_code_of(result),
        error=None,
        files=len(result.imports),
        failed_files=sum(file.status == "failed" for file in result.imports),
        findings=Counter(finding.code for finding in result.findings),
    )
