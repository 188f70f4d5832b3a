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
from cardoffers_cli.files.catalogue_kinds import KINDS
from cardoffers_cli.files.catalogue_writing import write_catalogue, write_report
from cardoffers_cli.jobs.runs import Run, finish_run, start_run
from cardoffers_cli.services import (
    catalogue,
    catalogue_export,
    catalogue_institutions,
    catalogue_links,
    catalogue_merchant_identifiers,
    catalogue_merchants,
    catalogue_offers,
    catalogue_program_offers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import polars as pl

    from cardoffers_cli.files.catalogue import CatalogueFile, CataloguePage
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.store import Store

_BATCH_ROWS = 1_000_000

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
    errors: Path | None = None,
    advance: Callable[[int], None] = lambda _rows: None,
) -> dict[str, Any]:
    """Import a catalogue file, or every one of a folder; return the counts and findings per file.

    `errors` gets the report, one line per finding. `advance` hears of rows as they are read.
    """
    files, notes = catalogue_files(path)
    with job.store() as store, store.transaction(keep=not dry_run):
        run = start_run(store, kind="catalog_import", now=job.now, actor=job.actor)
        catalogue.begin(store)
        results = [_import_file(store, file, run, advance) for file in files]
        if errors:
            found = [(file.name, catalogue.report(store, file.kind.name)) for file in files]
            write_report(errors, found)
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


def export_catalogue(
    job: Job, folder: Path, *, suffix: str = "csv", masked_links: bool = False
) -> list[dict[str, Any]]:
    """Write every catalogue file to a folder; return the names of the files and their rows.

    Full tokens do not leave the store (decisions, Privacy), so links come masked or not at all, and
    under a name that import leaves alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with job.store(read_only=True) as store:
        for kind in KINDS:
            if kind != "links":
                rows = catalogue_export.export_kind(store, kind)
                written.append(_write(folder / f"{kind}.{suffix}", kind, rows))
        if masked_links:
            rows = catalogue_export.export_masked_links(store)
            written.append(_write(folder / f"links_masked.{suffix}", "links", rows))
    return written


def _write(path: Path, kind: str, rows: pl.DataFrame) -> dict[str, Any]:
    write_catalogue(path, kind, rows)
    return {"file": path.name, "kind": kind, "rows": rows.height}


def _import_file(
    store: Store, file: CatalogueFile, run: Run, advance: Callable[[int], None]
) -> dict[str, Any]:
    kind = file.kind.name
    catalogue.begin_file(store)
    new = changed = 0
    for batch in _batches(file):
        _SERVICES[kind].stage(store)
        for page in batch:
            _SERVICES[kind].load(store, page.rows)
            catalogue.add_findings(store, kind, page.findings)
            advance(page.rows.height)
        taken = _take(store, kind, run)
        new, changed = new + taken[0], changed + taken[1]
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


def _batches(file: CatalogueFile) -> Iterator[Iterator[CataloguePage]]:
    """Part a file into what is taken at once: links by the million, to bound the memory.

    Other kinds are taken whole, so that a key that comes twice is seen. Of links it is seen in the
    store, where the batch before is already.
    """
    pages = file.pages()
    if file.kind.name != "links":
        yield pages
        return
    for first in pages:
        yield _up_to(_BATCH_ROWS, first, pages)


def _up_to(
    rows: int, first: CataloguePage, others: Iterator[CataloguePage]
) -> Iterator[CataloguePage]:
    yield first
    taken = first.rows.height
    while taken < rows and (page := next(others, None)):
        yield page
        taken += page.rows.height


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
