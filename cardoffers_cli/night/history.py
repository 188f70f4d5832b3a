"""The nights that were, and the runs of every kind.

A night is `finished`, `running`, or `broken off`: it has not ended and nobody runs it, so that it
waits for `run resume`, or for the next night.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.layout import reports_folder
from cardoffers_cli.kernel.store.lock import night_holder
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.result import result_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.night.questions import ListedNight, NightFinding, NightInHistory, RunRecord
    from cardoffers_cli.night.result import NightResult

_PAGE = "index.html"


class NightHistory(Record):
    """The newest nights, and how many there are in all."""

    nights: list[NightInHistory]
    in_all: int


def list_nights(job: Job, limit: int) -> list[ListedNight]:
    """Return the newest nights, one row each."""
    state_of = partial(_state, night_holder(job.path))
    with reading(job) as source:
        return nights.list_nights(source.store, limit, state_of)


class LastNight(Record):
    """The newest night: its files, the rows they had, its findings, and its page if it has one."""

    night: str
    state: str
    run_id: UUID
    as_of: datetime
    files: int
    imported_files: int
    failed_files: int
    received: int
    invalid: int
    findings: list[NightFinding]
    page: str | None


class UnfinishedNight(Record):
    """A night that has not ended: running, or broken off."""

    run_id: UUID
    night: str
    state: str


def last_night(store: Store, path: Path) -> LastNight | None:
    """Return the newest night, if there was one."""
    newest = nights.newest(store, 1)
    if not newest:
        return None
    (row,) = newest
    page = page_of(path, row.name)
    return LastNight.part(
        row,
        night=row.name,
        state=_state(night_holder(path), row.run_id, row.has_ended),
        page=str(page) if page.exists() else None,
    )


def left_nights(store: Store, path: Path) -> list[UnfinishedNight]:
    """Return the nights that have not ended, the oldest first: running, or broken off."""
    holder = night_holder(path)
    return [
        UnfinishedNight(
            run_id=night.run_id, night=night.name, state=_state(holder, night.run_id, False)
        )
        for night in nights.unfinished(store)
    ]


def page_of(path: Path, night: str) -> Path:
    """Return where the page of a night is; `path` is the store's."""
    return reports_folder(path) / night / _PAGE


def _state(holder: Mapping[str, Any] | None, run_id: UUID, has_ended: bool) -> str:
    """Return whether a night is finished, running or broken off."""
    if has_ended:
        return "finished"
    is_held = holder is not None and holder.get("run_id") in {None, str(run_id)}
    return "running" if is_held else "broken off"


def night_history(job: Job, limit: int) -> NightHistory:
    """Return the newest nights with what they came to."""
    with reading(job) as source:
        rows = nights.history(source.store, limit)
        return NightHistory(nights=rows, in_all=nights.count(source.store))


def list_runs(job: Job, limit: int) -> list[RunRecord]:
    """Return the newest runs of any kind, one row each."""
    with reading(job) as source:
        return nights.list_runs(source.store, limit)


def untold_nights(job: Job) -> list[NightResult]:
    """Return the results of nights that have ended, with the findings of which nobody was told."""
    with job.store(read_only=True) as store:
        return [
            result_of(store, job.path, night, status="finished", is_untold=True)
            for night in nights.untold(store)
        ]


def tell_nights(job: Job, results: Sequence[NightResult]) -> None:
    """Keep that the findings of nights were told, so that nobody is told of them again."""
    if not results:
        return
    with job.store() as store, store.transaction():
        rows = (nights.find(store, str(result.run_id)) for result in results)
        nights.tell(store, [night for night in rows if night])


def show_run(job: Job, run_id: str) -> NightResult | RunRecord:
    """Return the result of a night so far, or the record of another run; raise `NotFound`."""
    with reading(job) as source:
        run_id = whole_id(source.store, "run", run_id)
        if night := nights.find(source.store, run_id):
            status = "finished" if night.ended_at else "unfinished"
            return result_of(source.store, job.path, night, status=status)
        if record := nights.find_run(source.store, run_id):
            return record
        raise NotFound(
            "There is no such run.",
            code="run_not_found",
            hint="`cardoffers run list` shows the nightly runs, with --all every run.",
        )
