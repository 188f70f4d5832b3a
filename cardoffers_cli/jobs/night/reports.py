"""Reports: what the night came to, per institution, in `reports/<date>/` beside the store.

Redemptions made and ledger entries settled since the reports of the night before, by run number, so
that each is in the reports of one night only, and the funnel of the last 30 days. The bytes depend
on the store and the night's clock alone. Each file appears whole; written again, it is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.funnel import conversions
from cardoffers_cli.files.drop import clear_drafts
from cardoffers_cli.files.exports import csv_lines, replacing, write_parquet
from cardoffers_cli.files.report_columns import FUNNEL, REDEMPTIONS, SETTLEMENTS
from cardoffers_cli.files.sheets import Sheet
from cardoffers_cli.jobs.night.order import Done
from cardoffers_cli.jobs.reports.funnel import count_window, window_of
from cardoffers_cli.jobs.reports.reports import REPORTS, ROWS_AT_A_TIME
from cardoffers_cli.lasting import make_folder
from cardoffers_cli.services import nights
from cardoffers_cli.services.institutions import list_institutions
from cardoffers_cli.services.reports import Filters
from cardoffers_cli.store import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.domain.records import Record
    from cardoffers_cli.jobs.night.order import Work
    from cardoffers_cli.services.reports import ReportPage
    from cardoffers_cli.store.store import Store

_COLUMNS = {"redemptions": REDEMPTIONS, "settlements": SETTLEMENTS, "funnel": FUNNEL}


def reports_folder(store: Path, name: str) -> Path:
    """Return the folder of the reports of a night."""
    return layout.reports_folder(store) / name


def report_files(slug: str) -> list[str]:
    """Return the names of the files of an institution's reports."""
    return [f"{slug}-{report}.{form}" for report in _COLUMNS for form in ("csv", "parquet")]


def write_reports(work: Work) -> Done:
    """Write the reports of the night."""
    with work.job.store() as store, store.transaction():
        work.night = nights.cover(store, work.night)
        institutions = sorted(list_institutions(store), key=lambda each: each.slug)
    folder = reports_folder(work.job.path, work.night.name)
    make_folder(folder)
    clear_drafts(folder)
    files = 0
    for number, institution in enumerate(institutions):
        slug = institution.slug
        work.onlooker.moves(slug, number, len(institutions))
        found = _read(work, institution.id)
        for report, columns in _COLUMNS.items():
            sheet = Sheet(f"{slug}-{report}", columns, found[report])
            files += _write(folder, sheet, work.job.settings.mode)
    return Done(counts={"folder": str(folder), "files": files})


def _read(work: Work, institution_id: UUID) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the rows of every report of an institution, for when the store is closed again."""
    night = work.night
    filters = Filters(
        institution_id=institution_id, after_run_no=night.after_run_no, to_run_no=night.to_run_no
    )
    window = window_of(work.job.now, None, None)
    with work.job.store(read_only=True) as store:
        found = {name: list(_rows(store, report, filters)) for name, report in REPORTS.items()}
        counted = count_window(store, institution_id, window)
    return {**found, "funnel": list(conversions(counted.data))}


def _rows(store: Store, report: Callable[..., ReportPage], filters: Filters) -> Iterator[Record]:
    page = report(store, filters, limit=ROWS_AT_A_TIME, cursor=None)
    yield from page.rows
    while page.next_cursor is not None:
        page = report(store, filters, limit=ROWS_AT_A_TIME, cursor=page.next_cursor)
        yield from page.rows


def _write(folder: Path, sheet: Sheet, mode: int) -> int:
    """Write a sheet in both of its forms; return how many files that makes."""
    with replacing(folder / f"{sheet.name}.csv", mode=mode) as out:
        out.writelines(line.encode("utf-8", "backslashreplace") for line in csv_lines(sheet))
    with replacing(folder / f"{sheet.name}.parquet", mode=mode) as out:
        write_parquet(sheet, out)
    return 2
