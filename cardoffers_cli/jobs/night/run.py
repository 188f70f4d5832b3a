"""A night: begin it or go on with it, step by step, and end it.

A night belongs to a date. What is recorded of it in the store says how far it is, so that running
it again goes on where it stopped, by the clock it had; a night that never ended is finished before
another one begins. A date whose night has ended has another night when there is something new:
files, or runs that came after it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import NoStore, NotFound
from cardoffers_cli.files.drop import DONE as DONE_FOLDER
from cardoffers_cli.files.drop import Dropped, free_name, look, ready
from cardoffers_cli.jobs.night.checks import check_clock, check_places, check_space
from cardoffers_cli.jobs.night.order import (
    WITHOUT_CONSEQUENCE,
    Onlooker,
    Order,
    Work,
    finding,
    real_now,
)
from cardoffers_cli.jobs.night.page import write_night_page, write_runs_page
from cardoffers_cli.jobs.night.result import result_of, write_result
from cardoffers_cli.jobs.night.steps import STEPS, do
from cardoffers_cli.jobs.runs import Run, finish_run, start_run
from cardoffers_cli.services import nights
from cardoffers_cli.services.institutions import list_institutions
from cardoffers_cli.store.leftovers import sweep
from cardoffers_cli.store.night_lock import NightLock
from cardoffers_cli.store.opening import lock_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.services.nights import Night
    from cardoffers_cli.store.store import Store

KIND = "nightly"
LOOK_S = 1.0
"""How long after the first look at the drop folder the second one is."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What lies in the drop folder: files to take, and what to say of the others."""

    files: list[Dropped]
    remarks: list[dict[str, Any]]


def run_night(job: Job, order: Order, onlooker: Onlooker | None = None) -> dict[str, Any]:
    """Run the night of the job's date, or what is left of it; return its result.

    `status` is `finished`, or `nothing_new` for a night that had ended and has nothing to add.
    Raises `StoreBusy` night_busy, `NoSpace`, and `Refused` clock_backwards or read_only.
    """
    _must_exist(job)
    remarks = check_places(job, order)
    with _lock(job, order) as lock:
        return _Nights(job, order, onlooker or Onlooker(), lock, remarks).run()


def resume_night(
    job: Job,
    run_id: str | None,
    *,
    wait_s: float = 0,
    webhook_time_s: float = 600,
    onlooker: Onlooker | None = None,
) -> dict[str, Any]:
    """Go on with a night that has not ended, or the oldest such; raises `NotFound` without one."""
    _must_exist(job)
    with job.store(read_only=True) as store:
        left = [night for night in nights.unfinished(store) if run_id in {None, str(night.run_id)}]
    if not left:
        raise NotFound(
            "There is no night to go on with.",
            code="night_missing",
            hint="`cardoffers run list` shows the nights; all of them may have ended.",
        )
    order = Order(drop=Path(left[0].drop_folder), webhook_time_s=webhook_time_s, wait_s=wait_s)
    remarks = check_places(job, order)
    with _lock(job, order) as lock:
        found = _Nights(job, order, onlooker or Onlooker(), lock, remarks)
        return found.go_on(left[0])


def _must_exist(job: Job) -> None:
    if not job.path.exists():
        raise NoStore(
            f"There is no store at {job.path}.",
            hint="Make one with `cardoffers init`, or name another with --store.",
        )


def _lock(job: Job, order: Order) -> NightLock:
    return NightLock(job.path, since=real_now(), wait_s=order.wait_s)


class _Nights:
    """The nights of one command, under the lock: those left unfinished, and the one of today."""

    def __init__(
        self,
        job: Job,
        order: Order,
        onlooker: Onlooker,
        lock: NightLock,
        remarks: list[dict[str, Any]],
    ) -> None:
        self._job = job
        self._order = order
        self._onlooker = onlooker
        self._lock = lock
        self._remarks = remarks

    def run(self) -> dict[str, Any]:
        """Finish what was left, then run the night of the date, if it has not just been that."""
        with self._job.store(read_only=True) as store:
            left = nights.unfinished(store)
        for night in left:
            result = self.go_on(night)
            if night.as_of.date() >= self._job.now.date():
                return result
        return self._tonight()

    def go_on(self, night: Night) -> dict[str, Any]:
        """Do the steps of a night that are not recorded, and end it."""
        self._sweep()
        work = Work.of(self._job, night, self._order, self._onlooker)
        work.remarks = self._remarks
        with work.job.store(read_only=True) as store:
            done = {row["name"] for row in nights.steps(store, night)}
        for position, step in enumerate(STEPS, start=1):
            if step.name in done:
                continue
            self._lock.at(step.name)
            self._onlooker.begins(step.name, position, len(STEPS))
            self._onlooker.ends(do(step, position, work))
        self._lock.at("end")
        return _end(work)

    def _sweep(self) -> None:
        """Remove what a killed process left beside the store, which an audit would tell of."""
        with lock_for(self._job.opening()):
            sweep(self._job.path)

    def _tonight(self) -> dict[str, Any]:
        found = self._look()
        with self._job.store(read_only=True) as store:
            newest, newest_run_no = nights.newest_finished(store)
            is_of_date = newest is not None and newest.as_of.date() == self._job.now.date()
            is_new = found.files or newest is None or newest.last_run_no != newest_run_no
            if newest and is_of_date and not is_new:
                return result_of(store, self._job.path, newest, status="nothing_new")
        check_clock(self._job, self._order, newest)
        check_space(self._job, self._order.drop, found.files)
        self._remarks = [*self._remarks, *found.remarks]
        return self.go_on(self._begin(found))

    def _look(self) -> Found:
        with self._job.store(read_only=True) as store:
            known = {institution.slug for institution in list_institutions(store)}
        return look_twice(self._order.drop, known)

    def _begin(self, found: Found) -> Night:
        with self._job.store() as store, store.transaction():
            return begin(store, self._job, self._order, found)


def look_twice(drop: Path, known: set[str]) -> Found:
    """Return what is ready in the drop folder, and remarks on what is not to be taken."""
    first = look(drop)
    if any(not file.is_marked for file in first.files):
        time.sleep(LOOK_S)
    second = look(drop)
    taken, left = ready(first, second, now_s=time.time())
    files = [file for file in taken if file.institution in known]
    strangers = sorted({file.institution for file in [*taken, *left]} - known)
    return Found(
        files=files,
        remarks=[
            *(_stray(name) for name in second.strays),
            *(_stranger(name) for name in strangers),
            *(_unready(file) for file in left if file.institution in known),
        ],
    )


def begin(store: Store, job: Job, order: Order, found: Found) -> Night:
    """Write a new night with its files, in the caller's transaction."""
    new = nights.next_night(store, job.now, job.path.name)
    run = start_run(store, kind=KIND, now=job.now, actor=job.actor, run_id=new["run_id"])
    return nights.begin(
        store,
        _rows(found.files),
        **new,
        run_no=run.run_no,
        as_of=job.now,
        drop_folder=str(order.drop.resolve()),
        began_at=real_now(),
    )


def _rows(files: list[Dropped]) -> Iterator[dict[str, Any]]:
    """Yield the files as rows of `night_files`, each with the name it is to get in `done/`."""
    names: dict[str, set[str]] = {}
    for number, file in enumerate(files, start=1):
        taken = names.setdefault(file.institution, set())
        name = free_name(file.path.parent / DONE_FOLDER, file.name, taken)
        taken.add(name)
        yield {
            "file_no": number,
            "institution": file.institution,
            "file_name": file.name,
            "stamp": file.stamp,
            "taken_as": name,
        }


def _end(work: Work) -> dict[str, Any]:
    """Keep the result, then end the night: one that has ended has its result."""
    ended_at = real_now()
    with work.job.store() as store:
        result = result_of(store, work.job.path, work.night, status="finished")
        result |= {"ended_at": ended_at}
    write_night_page(work, result)
    write_runs_page(work)
    with work.job.store() as store:
        write_result(work.job.path, result)
        with store.transaction():
            counts = {step["name"]: step["counts"] for step in result["steps"]}
            finish_run(store, _run(work), counts)
            nights.end(store, work.night, ended_at)
    return result


def _run(work: Work) -> Run:
    night = work.night
    return Run(
        run_no=night.run_no,
        run_id=night.run_id,
        kind=KIND,
        as_of=night.as_of,
        actor=work.job.actor,
    )


def _stray(name: str) -> dict[str, Any]:
    return finding(
        "stray_file",
        f"{name} is not in the folder of an institution, or is no plain file: it was left alone.",
        level="warning",
        then="move it to DROP_DIR/<institution>/",
        file=name,
    )


def _stranger(name: str) -> dict[str, Any]:
    return finding(
        "institution_unknown",
        f"The folder {name} is no institution's: its files were left alone.",
        level="warning",
        then="cardoffers institution list",
        file=name,
    )


def _unready(file: Dropped) -> dict[str, Any]:
    name = f"{file.institution}/{file.name}"
    return finding(
        "file_not_ready",
        f"{name} may still be being written: it is left for the next night.",
        level=WITHOUT_CONSEQUENCE,
        institution=file.institution,
        file=name,
    )
