"""Reports: pages of redemptions and ledger entries, counts, and what could not be resolved.

The store is opened for one page at a time and never while rows are written out, so that a slow
reader of a long report keeps no nightly waiting; the cursors keep the pages stable meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.services import reports
from cardoffers_cli.services.institutions import find_institution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.store import Store

ROWS_AT_A_TIME = 10_000

REPORTS: dict[str, Callable[..., reports.Page]] = {
    "redemptions": reports.redemptions,
    "settlements": reports.settlements,
}
"""The reports that come in pages."""


def report_page(
    report: str, job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> reports.Page:
    """Return a page of a report; filters are those of `Filters`, `institution` a slug or an id."""
    with job.store(read_only=True) as store:
        return REPORTS[report](store, _filters(store, **filters), limit=limit, cursor=cursor)


def report_rows(report: str, job: Job, **filters: Any) -> Iterator[dict[str, Any]]:
    """Yield every row of a report, page by page; the filters are those of `report_page`."""
    cursor = None
    while True:
        page = report_page(report, job, limit=ROWS_AT_A_TIME, cursor=cursor, **filters)
        yield from page.rows
        cursor = page.next_cursor
        if cursor is None:
            return


def unresolved_rows(job: Job, *, limit: int, **filters: Any) -> list[dict[str, Any]]:
    """Return the merchant identifiers that resolve to nothing, most purchases first."""
    with job.store(read_only=True) as store:
        return reports.unresolved(store, _filters(store, **filters), limit=limit)


def redemption_counts(
    job: Job, by: reports.By, *, limit: int, **filters: Any
) -> list[dict[str, Any]]:
    """Return the counts and the money of redemptions, by day, offer or merchant."""
    with job.store(read_only=True) as store:
        return reports.count_redemptions(store, _filters(store, **filters), by, limit=limit)


def _filters(store: Store, *, institution: str | None = None, **others: Any) -> reports.Filters:
    owner = find_institution(store, institution).id if institution else None
    return reports.Filters(institution_id=owner, **others)
