"""Jobs of tests: a clock that stands still, and settings that keep to one core."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.job import Job
from cardoffers_cli.jobs.stores import init
from cardoffers_cli.settings import Settings
from tables import NOON

if TYPE_CHECKING:
    from datetime import datetime


def settings(**changes: Any) -> Settings:
    return Settings(**{"threads": 1, "memory_limit": "256MiB", "lock_wait_s": 5, **changes})


def job(path: Path | str = ":memory:", now: datetime = NOON, **changes: Any) -> Job:
    """Return a job on the store at `path`, run by `tester` at `now`."""
    return Job(
        path=Path(path), settings=settings(**changes), now=now, actor="tester", command="test"
    )


def new_store(folder: Path, name: str = "store.duckdb") -> Job:
    """Make a store in a folder and return a job on it."""
    made = job(folder / name)
    init(made)
    return made
