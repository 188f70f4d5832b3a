"""The nights that were, and the runs of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import NotFound
from cardoffers_cli.jobs.night.result import result_of
from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.services import nights
from cardoffers_cli.services.ids import whole_id

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def list_nights(job: Job, limit: int) -> list[dict[str, Any]]:
    """Return the newest nights, one row each."""
    with reading(job) as source:
        return nights.list_nights(source.store, limit)


def night_history(job: Job, limit: int) -> dict[str, Any]:
    """Return the newest `nights` with what they came to, and how many there are `in_all`."""
    with reading(job) as source:
        return {
            "nights": nights.history(source.store, limit),
            "in_all": nights.count(source.store),
        }


def list_runs(job: Job, limit: int) -> list[dict[str, Any]]:
    """Return the newest runs of any kind, one row each."""
    with reading(job) as source:
        return nights.list_runs(source.store, limit)


def show_run(job: Job, run_id: str) -> dict[str, Any]:
    """Return the result of a night so far, or the record of another run; raise `NotFound`."""
    with reading(job) as source:
        run_id = whole_id(source.store, "run", run_id)
        if night := nights.find(source.store, run_id):
            status = "finished" if night.ended_at else "unfinished"
            return result_of(source.store, job.path, night, status=status)
        if found := nights.find_run(source.store, run_id):
            return found
        raise NotFound(
            "There is no such run.",
            code="run_not_found",
            hint="`cardoffers run list` shows the nights, with --all every run.",
        )
