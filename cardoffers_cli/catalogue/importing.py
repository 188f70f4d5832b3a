"""Import catalogue files into the store and export them again (rules.md#catalogue-files).

One import is one transaction and one run, whatever number of files it reads. A file says everything
about its rows: an empty optional cell clears the value (an institution's id, webhook_url and
require_marker are kept). A row that is gone from a file stays in the store.

Where offers changed, the report says how many purchases that wait for a match this concerns
(`waiting_purchases`): what was decided stands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.archive.duck import DuckEngine
from cardoffers_cli.catalogue import questions as catalogue
from cardoffers_cli.catalogue import taking as catalogue_taking
from cardoffers_cli.catalogue.files import KINDS, REWARD_COLUMNS, catalogue_files
from cardoffers_cli.catalogue.questions import CodeFindings
from cardoffers_cli.catalogue.writing import CatalogueOutput, write_catalogue, write_report
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval, who_decides
from cardoffers_cli.kernel.store.runs import Run, finish_run, start_run
from cardoffers_cli.kernel.words.errors import FileUnusable
from cardoffers_cli.kernel.words.findings import CATALOGUE_CODES
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river.counts import keep_counts
from cardoffers_cli.river.resolve import find_all_waiting, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from uuid import UUID

    import polars as pl

    from cardoffers_cli.catalogue.files import CatalogueFile
    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

_ROWS_AT_ONCE = 1_000_000

COUNTS = ("received", "new", "changed", "same", "rejected")

_STREAMED = {"links": catalogue_taking.take_links, "engagement": catalogue_taking.take_engagement}
"""Kinds that come by the million, and hold the tokens of cardholders."""

_SELDOM = (
    *("net_days", "credit_days", "tax_id", "tax_note", "address", "country", "accepts_percent"),
    *REWARD_COLUMNS,
)
"""Columns that a file has only where a row of it says something there."""


class CatalogueFinding(CodeFindings, sheet="level code rows lines"):
    """The findings of one code in one file of the catalogue, and how to fix them."""

    fix: str = shown(gives_way=1)


class FileImport(Record, sheet="file received new changed same rejected"):
    """What one file of the catalogue came to, in rows, and its findings.

    `waiting_purchases` is of a file of offers: how many its changes concern.
    """

    file: str
    kind: str
    received: int
    new: int
    changed: int
    same: int
    rejected: int
    findings: Sequence[CatalogueFinding]
    waiting_purchases: int | None = if_any()


class CatalogueImport(Record):
    """What an import of the catalogue came to, file by file and in all, in rows."""

    run_id: UUID
    files: Sequence[FileImport]
    received: int
    new: int
    changed: int
    same: int
    rejected: int
    approval: str | None = if_any()
    dry_run: bool


def import_catalogue(
    job: Job,
    path: Path,
    *,
    dry_run: bool = False,
    errors: Path | None = None,
    advance: Callable[[int], None] = lambda _rows: None,
) -> CatalogueImport:
    """Import a catalogue file, or every one of a folder.

    `errors` gets the report, one line per finding. `advance` hears of rows as they are read. Raises
    `ApprovalNeeded` where offers come to cost more.
    """
    files = catalogue_files(path, allow_insecure=job.settings.allow_insecure_webhooks)
    _check_headers(files)
    with approvable(job, dry_run=dry_run) as store:
        run = start_run(store, kind="catalog_import", now=job.now, actor=job.actor)
        findings = store.make("catalogue/questions:findings")
        results = [_import_file(store, file, findings, run, advance) for file in files]
        results = [_with_concerned(store, run, result) for result in results]
        approval = _approve_growth(store, run, dry_run=dry_run)
        if errors:
            report_rows = [
                (
                    file.name,
                    store.frame("catalogue/questions:report", findings, kind=file.kind.name),
                )
                for file in files
            ]
            write_report(errors, report_rows, mode=job.settings.mode)
        totals = {name: sum(result[name] for result in results) for name in COUNTS}
        finish_run(store, run, totals)
        if not dry_run:
            keep_counts(store)
    return CatalogueImport.of(
        {"run_id": run.run_id, "files": results, **totals, "approval": approval, "dry_run": dry_run}
    )


def _approve_growth(store: Store, run: Run, *, dry_run: bool) -> str | None:
    """Use up the approval of offers that come to cost more, if one is needed; return its state."""
    grown = store.rows("catalogue/taking:offers_grown", run_no=run.run_no)
    if not grown:
        return None
    amounts = [row["amount"] for row in grown]
    is_bounded = None not in amounts and len({row["currency"] for row in grown}) == 1
    return require_approval(
        *(store, run, who_decides(store)),
        action="offer_terms",
        subject=counted(len(grown), "offer"),
        details={
            row["offer_id"]: ", ".join(
                f"{name} {row['before'][name]} -> {value}"
                for name, value in row["since"].items()
                if value != row["before"][name] and name not in {"run_no", "known_at"}
            )
            for row in grown
        },
        amount=sum(amounts) if is_bounded else None,
        currency=grown[0]["currency"] if is_bounded else None,
        dry_run=dry_run,
    )


def _check_headers(files: list[CatalogueFile]) -> None:
    """Raise `FileUnusable` with what is wrong with the header of any file, of all at once."""
    faults: dict[str, FileUnusable] = {}
    for file in files:
        try:
            next(file.pages())
        except FileUnusable as error:
            faults[file.name] = error
    if not faults:
        return
    first = next(iter(faults.values()))
    hints = dict.fromkeys(error.hint for error in faults.values() if error.hint)
    raise FileUnusable(
        " ".join(error.message for error in faults.values()),
        code=first.code,
        hint=" ".join(hints),
        **{**first.details, "files": list(faults)},
    )


def export_catalogue(
    job: Job,
    folder: Path,
    *,
    suffix: str = "csv",
    masked_links: bool = False,
    dry_run: bool = False,
) -> list[CatalogueOutput]:
    """Write every catalogue file to a folder.

    Full tokens do not leave the store (rules.md#masking), so links come masked or not at all, and
    under a name that import leaves alone. Engagement never comes: without whole tokens its rows
    say no more than the funnel does.
    """
    if not dry_run:
        make_folder(folder)
    written = []
    with job.store(read_only=True) as store:
        for name, kind, rows in _exported(store, masked_links=masked_links):
            path = folder / f"{name}.{suffix}"
            if not dry_run:
                write_catalogue(path, kind, rows, mode=job.settings.mode)
            written.append(
                CatalogueOutput(file=path.name, kind=kind, rows=rows.height, dry_run=dry_run)
            )
    return written


def _exported(store: Store, *, masked_links: bool) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield the name, the kind and the rows of each file."""
    for kind in KINDS:
        if kind not in _STREAMED:
            rows = store.frame(f"catalogue/catalogue_export:{kind}")
            seldom = [name for name in _SELDOM if name in rows.columns]
            yield kind, kind, rows.drop(name for name in seldom if rows[name].is_null().all())
    if masked_links:
        yield "links_masked", "links", store.frame("catalogue/catalogue_export:masked_links")


def _import_file(
    store: Store, file: CatalogueFile, findings: Table, run: Run, advance: Callable[[int], None]
) -> FileImport:
    kind = file.kind.name
    changes = store.make("catalogue/questions:changes")
    pages = _rows(store, file, findings, advance)
    new, changed = take(store, kind, pages, run, findings=findings, changes=changes)
    subject = kind.removesuffix("s")
    store.execute("catalogue/questions:audit", changes, subject=subject, **run.by)
    rejected = catalogue.rejected(store, findings, kind)
    return FileImport(
        file=file.name,
        kind=kind,
        received=file.received,
        new=new,
        changed=changed,
        same=file.received - new - changed - rejected,
        rejected=rejected,
        findings=[
            CatalogueFinding(**row, fix=CATALOGUE_CODES[row.code].fix)
            for row in store.records(
                CodeFindings, "catalogue/questions:summary", findings, kind=kind
            )
        ],
    )


def _with_concerned(store: Store, run: Run, result: FileImport) -> FileImport:
    """Say of a file of offers how many waiting purchases its changes concern."""
    if result.kind != "offers":
        return result
    if not result.changed:
        return replace(result, waiting_purchases=0)
    with store.guarded():
        engine = DuckEngine(store.connection, store.tables)
        waiting = resolve(engine, find_all_waiting(store))
    concerned = catalogue_taking.concerned(store, waiting.rows, run.run_no)
    return replace(result, waiting_purchases=concerned)


def _rows(
    store: Store, file: CatalogueFile, findings: Table, advance: Callable[[int], None]
) -> Iterator[pl.DataFrame]:
    """Read a file; keep its findings and pass its well-formed rows on."""
    for page in file.pages():
        store.load("catalogue/questions:add_findings", page.findings, findings, kind=file.kind.name)
        advance(page.rows.height)
        yield page.rows


def take(
    store: Store,
    kind: str,
    pages: Iterator[pl.DataFrame],
    run: Run,
    *,
    findings: Table,
    changes: Table,
) -> tuple[int, int]:
    """Write the rows of one file; return how many are new and how many changed.

    What comes by the million is taken in batches, to bound the memory: a key that comes twice is
    then found in the store. Other kinds are staged whole, so that it is seen within the file.
    """
    if streamed := _STREAMED.get(kind):
        batches = _batches(pages, _ROWS_AT_ONCE)
        return sum(streamed(store, batch, findings, run.run_no) for batch in batches), 0
    return catalogue_taking.take(
        store, kind, pages, findings, changes, run_no=run.run_no, now=run.as_of, new_id=uuid4
    )


def _batches(pages: Iterator[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Join pages to frames of some `rows` rows."""
    for first in pages:
        batch = first
        while batch.height < rows and (page := next(pages, None)) is not None:
            batch = batch.vstack(page)
        yield batch.rechunk()
