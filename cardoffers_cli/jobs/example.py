"""Example: a store that begins with a program of one offer, and templates to make one's own of."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cardoffers_cli.files.catalogue_examples import write_templates
from cardoffers_cli.jobs.catalogue import import_catalogue
from cardoffers_cli.jobs.stores import init

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def init_with_example(job: Job, *, dry_run: bool = False) -> dict[str, Any]:
    """Make a new store with the example in it; raises `Refused` where a file is already.

    `example` of the report is what an import of the templates tells; of a dry run there is none.
    """
    made = init(job, dry_run=dry_run)
    if dry_run:
        return {**made, "example": None}
    with TemporaryDirectory(prefix="cardoffers-example-") as folder:
        write_templates(Path(folder))
        return {**made, "example": import_catalogue(job, Path(folder))}


def make_templates(folder: Path, *, dry_run: bool = False) -> list[dict[str, Any]]:
    """Write a template of every file into a folder; return their names. Raises `Refused`."""
    return [
        {"file": path.name, "rows": 1, "dry_run": dry_run}
        for path in write_templates(folder, dry_run=dry_run)
    ]
