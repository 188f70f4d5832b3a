"""Stores: make one, look at it, bring it to this version, show the state of what is in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import StoreBusy
from cardoffers_cli.services.overview import overview
from cardoffers_cli.store.migrations import applied, newest_version
from cardoffers_cli.store.opening import create_store, migrate_store

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def init(job: Job) -> dict[str, Any]:
    """Make a new store; raises `Refused` where a file is already."""
    create_store(job.opening())
    return {"store": str(job.path), "schema_version": newest_version(), "created": True}


def migrate(job: Job) -> dict[str, Any]:
    """Apply the migrations this store lacks; a current store is left as it is."""
    done = migrate_store(job.opening())
    return {
        "store": str(job.path),
        "schema_version": newest_version(),
        "applied": [f"{migration.version:04} {migration.name}" for migration in done],
    }


def info(job: Job) -> dict[str, Any]:
    """Return what the store file is: versions, migrations, sizes."""
    with job.store(read_only=True) as store:
        migrations = applied(store)
        return {
            "store": str(job.path),
            "size_bytes": job.path.stat().st_size,
            "schema_version": migrations[-1]["version"],
            "engine_version": store.value("store/info:engine"),
            "migrations": migrations,
            "tables": store.rows("store/info:sizes"),
        }


def is_free(job: Job) -> bool:
    """Open the store for a moment; return whether nobody holds it, raise what is wrong with it."""
    hurried = replace(job, settings=job.settings.model_copy(update={"lock_wait_s": 1}))
    try:
        with hurried.store(read_only=True):
            return True
    except StoreBusy:
        return False


def status(job: Job) -> dict[str, Any]:
    """Return the state of everything, as `services/overview.py` finds it."""
    with job.store(read_only=True) as store:
        return {"store": str(job.path), "as_of": job.now, **overview(store, job.now)}
