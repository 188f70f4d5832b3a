"""Import catalogue files into the store and export them again.

One import is one transaction and one run, whatever number of files it reads. A file says
everything about its rows: an empty optional cell clears the value (an institution's id and
webhook_url are kept). A row that is gone from a file stays in the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cardoffers_cli.domain.catalogue_findings import CATALOGUE_CODES
from cardoffers_cli.files.catalogue import catalogue_files
from cardoffers_cli.jobs.runs import Run, finish_run, start_run
from cardoffers_cli.services import (
    catalogue,
    catalogue_institutions,
    catalogue_links,
    catalogue_merchant_identifiers,
    catalogue_merchants,
    catalogue_offers,
    catalogue_program_offers,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cardoffers_cli.files.catalogue import CatalogueFile
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.store import Store

COUNTS = ("received", "new", "changed", "same", "rejected")

_SERVICES: dict[str, Any] = {
    "institutions": catalogue_institutions,
    "merchants": catalogue_merchants,
    "merchant_identifiers": catalogue_merchant_identifiers,
    "offers": catalogue_offers,
    "program_offers": catalogue_program_offers,
    "links": catalogue_links,
}


def import_catalogue(
    job: Job,
    path: Path,
    *,
    dry_run: bool = False,
    tell: Callable[[str, int], None] = lambda _file, _rows: None,
) -> dict[str, Any]:
    """Import a catalogue file, or every one of a folder; return the counts and findings per file.

    `tell` hears the file's name and how many of its rows have been read, now and then.
    """
    files, notes = catalogue_files(path)
    with job.store() as store, store.transaction(keep=not dry_run):
        run = start_run(store, kind="catalog_import", now=job.now, actor=job.actor)
        catalogue.begin(store)
        results = [_import_file(store, file, run, tell) for file in files]
        catalogue.end(store)
        totals = _sum(results)
        finish_run(store, run, totals)
    return {
        "run_id": run.run_id,
        "files": results,
        **totals,
        "notes": [f"{file.name} is not taken yet and was left alone" for file in notes],
        "dry_run": dry_run,
    }


def _import_file(
    store: Store, file: CatalogueFile, run: Run, tell: Callable[[str, int], None]
) -> dict[str, Any]:
    kind = file.kind.name
    service = _SERVICES[kind]
    catalogue.begin_file(store)
    service.stage(store)
    for page in file.pages():
        service.load(store, page.rows)
        catalogue.add_findings(store, kind, page.findings)
        tell(file.name, file.received)
    new, changed = _take(store, kind, run)
    service.drop(store)
    subject = kind.removesuffix("s")
    catalogue.audit(store, subject, run_no=run.run_no, now=run.as_of, actor=run.actor)
    rejected = catalogue.rejected(store, kind)
    return {
        "file": file.name,
        "kind": kind,
        "received": file.received,
        "new": new,
        "changed": changed,
        "same": file.received - new - changed - rejected,
        "rejected": rejected,
        "findings": [_with_fix(row) for row in catalogue.summary(store, kind)],
    }


def _take(store: Store, kind: str, run: Run) -> tuple[int, int]:
    match kind:
        case "institutions":
            return catalogue_institutions.take(store, uuid4)
        case "offers":
            return catalogue_offers.take(store, run.run_no)
        case "links":
            return catalogue_links.take(store, run.run_no)
        case _:
            taken: tuple[int, int] = _SERVICES[kind].take(store)
            return taken


def _with_fix(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "code": row["code"],
        "level": row["level"],
        "rows": row["row_count"],
        "lines": row["lines"],
        "fix": CATALOGUE_CODES[row["code"]].fix,
    }


def _sum(results: list[dict[str, Any]]) -> dict[str, int]:
    return {name: sum(result[name] for result in results) for name in COUNTS}
