"""A store that begins with a program of one offer."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cardoffers_cli.catalogue.importing import CatalogueImport, import_catalogue
from cardoffers_cli.catalogue.writing import write_templates
from cardoffers_cli.storage.stores import InitResult, init

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


class ExampleStore(InitResult):
    """A new store with the example: what the import of its files told, None of a dry run."""

    example: CatalogueImport | None


def init_with_example(job: Job, *, rehearsal: bool = False, dry_run: bool = False) -> ExampleStore:
    """Make a new store with the example in it; raises `Refused` where a file is already."""
    made = init(job, rehearsal=rehearsal, dry_run=dry_run)
    if dry_run:
        return ExampleStore(**made, example=None)
    with TemporaryDirectory(prefix="cardoffers-example-") as folder:
        write_templates(Path(folder))
        return ExampleStore(**made, example=import_catalogue(job, Path(folder)))
