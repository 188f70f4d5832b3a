"""Reports: pages of redemptions and ledger entries, counts, and what could not be resolved.

The store is opened for one page at a time and never while rows are written out, so that a slow
reader of a long report keeps no nightly waiting; the cursors keep the pages stable meanwhile. A
report that begins in the snapshot, which nobody waits for, stays in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.reports import offer_results
from cardoffers_cli.reports import offer_results as merchant_results
from cardoffers_cli.reports import questions as reports
from cardoffers_cli.river import settlements
from cardoffers_cli.river.settlements import find_settlement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Record

SettledBy = Literal["settlement", "institution"]
ROWS_AT_A_TIME = 10_000

REPORTS: dict[str, Callable[..., reports.ReportPage]] = {
    "redemptions": reports.exported_redemptions,
    "settlements": reports.exported_settlements,
}
"""The reports that come in pages."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Every row of a report, which is read once; `is_reconciled` as a `ReportPage` is."""

    rows: Iterator[Record]
    is_reconciled: bool


def report_page(
    report: str, job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> reports.ReportPage:
    """Return a page of a report; filters are those of `Filters`, `institution` a slug or an id."""
    with reading(job) as source:
        return _page(report, source.store, limit=limit, cursor=cursor, **filters)


def whole_report(report: str, job: Job, **filters: Any) -> Report:
    """Return a report, its rows read page by page; the filters are those of `report_page`.

    The first page is read at once.
    """
    pages = _pages(report, job, **filters)
    first = next(pages)
    rows = chain(first.rows, (row for page in pages for row in page.rows))
    return Report(rows=rows, is_reconciled=first.is_reconciled)


def redemption_counts(
    job: Job, by: reports.By, *, limit: int, **filters: Any
) -> list[reports.RedemptionCount]:
    """Return the counts and the money of redemptions, by day, offer or merchant."""
    with reading(job) as source:
        wanted = filters_of(source.store, **filters)
        return reports.count_redemptions(source.store, wanted, by, limit=limit)


def settlement_rows(
    job: Job, by: SettledBy, *, limit: int, **filters: Any
) -> Sequence[settlements.Settlement | settlements.SettlementDue]:
    """Return settlements with their sums, the newest first, or what they come to by institution."""
    with reading(job) as source:
        wanted = filters_of(source.store, **filters).window
        if by == "institution":
            return settlements.owed(source.store, **wanted, limit=limit)
        rows = settlements.list_settlements(source.store, **wanted, limit=limit)
    return [settlements.Settlement.cut(row) for row in rows]


def offer_rows(
    job: Job, *, order: offer_results.Order, limit: int, **filters: Any
) -> list[offer_results.OfferResult]:
    """Return what offers brought: of each currency the first in an order."""
    with reading(job) as source:
        wanted = filters_of(source.store, **filters).window
        return offer_results.offer_results(
            source.store, job.now, **wanted, order=order, limit=limit
        )


def merchant_rows(
    job: Job, *, order: merchant_results.MerchantOrder, limit: int, **filters: Any
) -> list[merchant_results.MerchantResult]:
    """Return what merchants funded: of each currency the first in an order."""
    with reading(job) as source:
        wanted = filters_of(source.store, **filters).window
        return merchant_results.merchant_results(source.store, **wanted, order=order, limit=limit)


def _pages(report: str, job: Job, **filters: Any) -> Iterator[reports.ReportPage]:
    def read(store: Store, cursor: str | None = None) -> reports.ReportPage:
        return _page(report, store, limit=ROWS_AT_A_TIME, cursor=cursor, **filters)

    with reading(job) as source:
        page = read(source.store)
        if source.snapshot_at is not None:
            yield page
            while page.next_cursor is not None:
                page = read(source.store, page.next_cursor)
                yield page
            return
    yield page
    while page.next_cursor is not None:
        with job.store(read_only=True) as store:
            page = read(store, page.next_cursor)
        yield page


def _page(
    report: str, store: Store, *, limit: int, cursor: str | None = None, **filters: Any
) -> reports.ReportPage:
    return REPORTS[report](store, filters_of(store, **filters), limit=limit, cursor=cursor)


def filters_of(
    store: Store, *, institution: str | None = None, settlement: str | None = None, **others: Any
) -> reports.Filters:
    """Return the filters of a report; `institution` is a slug or an id.

    `settlement` is the id of one, or the beginning of it. Raises `NotFound` and `UsageError`.
    """
    owner = find_institution(store, institution).id if institution else None
    number = find_settlement(store, settlement) if settlement else None
    return reports.Filters(institution_id=owner, settlement_no=number, **others)
