"""Reports: pages of redemptions and ledger entries, and what could not be resolved.

The store is opened for one page at a time and never while rows are written out, so that a slow
reader of a long report keeps no nightly waiting; the cursors keep the pages stable meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.services import reports
from cardoffers_cli.services.institutions import find_institution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.store import Store

ROWS_AT_A_TIME = 10_000

REPORTS: dict[str, Callable[..., reports.Page]] = {
    "redemptions": reports.redemptions,
    "settlements": reports.settlements,
}
"""The reports that come in pages."""


def report_page(
    report: str,
    job: Job,
    *,
    institution: str | None,
    limit: int,
    cursor: str | None = None,
    status: str | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
) -> reports.Page:
    """Return one page of a report; `institution` is a slug or an id, None is all of them."""
    with job.store(read_only=True) as store:
        filters = reports.Filters(
            institution_id=_institution_id(store, institution),
            status=status,
            from_at=from_at,
            to_at=to_at,
        )
        return REPORTS[report](store, filters, limit=limit, cursor=cursor)


def report_rows(report: str, job: Job, **filters: Any) -> Iterator[dict[str, Any]]:
    """Yield every row of a report, page by page."""
    cursor = None
    while True:
        page = report_page(report, job, limit=ROWS_AT_A_TIME, cursor=cursor, **filters)
        yield from page.rows
        cursor = page.next_cursor
        if cursor is None:
            return


def unresolved_rows(
    job: Job,
    *,
    institution: str | None,
    limit: int,
    from_at: datetime | None,
    to_at: datetime | None,
) -> list[dict[str, Any]]:
    """Return the merchant identifiers that resolve to nothing, most purchases first."""
    with job.store(read_only=True) as store:
        filters = reports.Filters(
            institution_id=_institution_id(store, institution), from_at=from_at, to_at=to_at
        )
        return reports.unresolved(store, filters, limit=limit)


def _institution_id(store: Store, institution: str | None) -> Any:
    return find_institution(store, institution).id if institution else None
