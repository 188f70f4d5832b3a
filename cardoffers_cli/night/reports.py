"""Reports: what the night came to, per institution, in `reports/<date>/` beside the store.

Redemptions made and ledger entries settled since the reports of the night before, by run number, so
that each is in the reports of one night only, and the funnel of the last 30 days. The bytes depend
on the store and the night's clock alone. Each file appears whole; written again, it is the same.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import tee
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.drop.drop import clear_drafts
from cardoffers_cli.kernel.disk.folders import make_folder
from cardoffers_cli.kernel.sheets.exports import csv_lines, replacing, write_parquet
from cardoffers_cli.kernel.sheets.sheets import Sheet
from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.store.institutions import list_institutions
from cardoffers_cli.night import questions as nights
from cardoffers_cli.night.options import StepResult
from cardoffers_cli.reports.funnel import FunnelStep, conversions
from cardoffers_cli.reports.questions import ExportedEntry, ExportedRedemption, Filters
from cardoffers_cli.reports.work import REPORTS, count_window, window_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.records import Record
    from cardoffers_cli.night.options import NightContext
    from cardoffers_cli.reports.questions import ReportPage

_AT_A_TIME = 50_000
"""Rows of a page, which is all of a report on most nights."""

_SHAPES: Mapping[str, type[Record]] = {
    "redemptions": ExportedRedemption,
    "settlements": ExportedEntry,
    "funnel": FunnelStep,
}


def reports_folder(store: Path, name: str) -> Path:
    """Return the folder of the reports of a night."""
    return layout.reports_folder(store) / name


def report_files(slug: str) -> list[str]:
    """Return the names of the files of an institution's reports."""
    return [f"{slug}-{report}.{form}" for report in _SHAPES for form in ("csv", "parquet")]


def write_reports(work: NightContext) -> StepResult:
    """Write the reports of the night."""
    with work.job.store() as store, store.transaction():
        night_no = work.night.night_no
        store.execute("night/questions:cover", night_no=night_no)  # the first time holds
        work.night = nights.get(store, night_no)
        institutions = sorted(list_institutions(store), key=lambda institution: institution.slug)
    folder = reports_folder(work.job.path, work.night.name)
    make_folder(folder)
    clear_drafts(folder)
    files = 0
    for number, institution in enumerate(institutions):
        slug = institution.slug
        work.onlooker.moves(slug, number, len(institutions))
        by_report = _read(work, institution.id)
        for report, shape in _SHAPES.items():
            sheet = Sheet.of(shape, f"{slug}-{report}", by_report[report])
            files += _write(folder, sheet, work.job.settings.mode)
    return StepResult(counts={"folder": str(folder), "files": files})


def _read(work: NightContext, institution_id: UUID) -> dict[str, Iterable[Mapping[str, Any]]]:
    """Return the rows of every report of an institution, for when the store is closed again.

    It is opened once more for each page after the first, and what is written is not kept: the first
    night of a large store reports all that was ever redeemed.
    """
    night = work.night
    filters = Filters(
        institution_id=institution_id, after_run_no=night.after_run_no, to_run_no=night.to_run_no
    )
    window = window_of(work.job.now, None, None)
    with work.job.store(read_only=True) as store:
        pages = {
            name: report(store, filters, limit=_AT_A_TIME, cursor=None)
            for name, report in REPORTS.items()
        }
        counted = count_window(store, institution_id, window)
    by_report = {name: _rows(work.job, name, filters, page) for name, page in pages.items()}
    return {**by_report, "funnel": list(conversions(counted.data))}


def _rows(job: Job, report: str, filters: Filters, page: ReportPage) -> Iterator[Record]:
    yield from page.rows
    while (cursor := page.next_cursor) is not None:
        with job.store(read_only=True) as store:
            page = REPORTS[report](store, filters, limit=_AT_A_TIME, cursor=cursor)
        yield from page.rows


def _write(folder: Path, sheet: Sheet, mode: int) -> int:
    """Write a sheet in both of its forms, in one pass; return how many files that makes."""
    csv, parquet = (folder / f"{sheet.name}.{form}" for form in ("csv", "parquet"))
    with replacing(csv, mode=mode) as lines, replacing(parquet, mode=mode) as table:
        write_parquet(replace(sheet, rows=_written(sheet, lines)), table)
    return 2


def _written(sheet: Sheet, out: BinaryIO) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a sheet, each of which is written as a line of CSV by then."""
    rows, passed = tee(sheet.rows)
    lines = csv_lines(replace(sheet, rows=rows))
    out.write(next(lines).encode("utf-8", "backslashreplace"))
    for row, line in zip(passed, lines, strict=True):
        out.write(line.encode("utf-8", "backslashreplace"))
        yield row
