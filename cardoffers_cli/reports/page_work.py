"""What the pages of reports are made of: the rows of a report, and what is counted beside them.

Everything on a page is read in one opening of the store, so that its figures agree; all but the
rows themselves is added up there, so that a page is quick and small however much there is.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.reports import funnel, work
from cardoffers_cli.reports import questions as reports
from cardoffers_cli.reports.work import PeopleFunnel, before, filters_of, window_of
from cardoffers_cli.reports.work import people_funnel as count_people
from cardoffers_cli.river import settlements
from cardoffers_cli.river.stored_imports import RejectedCode, rejects_by_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.reports.funnel import Window
    from cardoffers_cli.reports.questions import Filters
    from cardoffers_cli.river.settlements import DueEntries, ListedSettlement, SettlementDue

LATELY = timedelta(days=30)
"""How far back a page looks where nobody says from when."""
MOST_MERCHANTS = 10
MOST_ROWS = 50
"""Rows in each order of a list of offers or merchants."""
MOST_ENDING = 1000
"""Offers that are looked at for those whose budgets end soon."""
_MOST_OWED = 200


class RedemptionsPage(Record):
    """The newest redemptions, and what they come to by day and by merchant."""

    rows: Sequence[Record]
    days: Sequence[reports.RedemptionCount]
    merchants: Sequence[reports.RedemptionCount]


class SettlementsPage(Record):
    """What is `owed` and `due`, the newest and the `largest` settlements, and the newest entries.

    The entries are `rows`; `totals` is what all of them come to, by state.
    """

    owed: Sequence[SettlementDue]
    due: Sequence[DueEntries]
    settlements: Sequence[ListedSettlement]
    largest: Sequence[ListedSettlement]
    rows: Sequence[Record]
    totals: Sequence[reports.EntryTotal]


class UnknownMerchants(Record):
    """Merchants that nobody knows: `totals` by currency, `rows` by currency and order."""

    totals: Sequence[reports.UnknownTotal]
    rows: dict[str, dict[str, list[reports.UnknownMerchant]]]


class UnresolvedPage(UnknownMerchants):
    """Merchants that nobody knows, and why rows were not taken, by code."""

    rejects: Sequence[RejectedCode]


class FunnelComparison(PeopleFunnel):
    """A funnel with its people, and that of the time of the same length before."""

    previous: PeopleFunnel


class FunnelPage(FunnelComparison):
    """A funnel with its people, the time before, and its rows by day, offer and merchant."""

    days: Sequence[funnel.FunnelRow]
    offers: Sequence[funnel.FunnelRow]
    merchants: Sequence[funnel.FunnelRow]


def redemptions_page(
    store: Store, chosen: Filters, *, limit: int, cursor: str | None = None
) -> RedemptionsPage:
    """Return the rows of a page, and what it shows beside them."""
    return RedemptionsPage(
        rows=reports.exported_redemptions(store, chosen, limit=limit, cursor=cursor).rows,
        days=reports.count_redemptions(store, chosen, "day"),
        merchants=reports.count_redemptions(store, chosen, "merchant", limit=MOST_MERCHANTS),
    )


def settlements_page(
    store: Store, chosen: Filters, *, limit: int, cursor: str | None = None
) -> SettlementsPage:
    """Return what is owed and due, settlements and entries."""
    entries = reports.exported_settlements(
        store, chosen, limit=min(limit, MOST_ROWS), cursor=cursor
    )
    window = chosen.window
    return SettlementsPage(
        owed=settlements.owed(store, **window, limit=_MOST_OWED),
        due=settlements.due(store, institution_id=chosen.institution_id, limit=MOST_ROWS),
        settlements=settlements.list_settlements(store, **window, limit=limit),
        largest=settlements.list_settlements(store, **window, limit=limit, order="largest"),
        rows=entries.rows,
        totals=reports.settlement_totals(store, chosen),
    )


def unresolved_page(store: Store, chosen: Filters, *, limit: int) -> UnresolvedPage:
    """Return the merchants that nobody knows, and what was rejected."""
    rejects = rejects_by_code(store, **chosen.window)
    return UnresolvedPage(**unknown(store, chosen, limit), rejects=rejects)


def unknown(
    store: Store,
    chosen: Filters,
    limit: int,
    of: Sequence[reports.UnresolvedOrder] = get_args(reports.UnresolvedOrder),
) -> UnknownMerchants:
    """Return the merchants that nobody knows, the first of each currency in each order."""
    totals = store.records(
        reports.UnknownTotal, "reports/questions:unresolved_totals", **chosen.window
    )
    rows: dict[str, dict[str, list[reports.UnknownMerchant]]] = {
        total.currency: {order: [] for order in of} for total in totals
    }
    for order in of if totals else ():
        unresolved = reports.unresolved(store, chosen, limit=limit, order=order, each_currency=True)
        for row in without_cards(unresolved):
            rows[row.currency][order].append(row)
    return UnknownMerchants(totals=totals, rows=rows)


def results_page(name: str, job: Job, **filters: Any) -> Mapping[str, Sequence[work.Result]]:
    """Return the rows of offers or merchants in each order, and the first of the time `before`."""
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        earlier = _before(chosen, job.now)
        return {
            **in_orders(name, store, job.now, chosen, limit=MOST_ROWS),
            "before": work.results(name, store, job.now, **earlier.window, limit=1)
            if earlier
            else [],
        }


def in_orders(
    name: str, store: Store, now: datetime, chosen: Filters, *, limit: int, of: Sequence[str] = ()
) -> Mapping[str, Sequence[work.Result]]:
    """Return the rows of offers or merchants in each of their orders.

    Of budgets those that end first, as many as count.
    """
    return {
        order: work.results(
            name,
            store,
            now,
            **chosen.window,
            order=order,
            limit=MOST_ENDING if order == "ends" else limit,
        )
        for order in of or work.ORDERS[name]
    }


def funnel_page(
    job: Job, institution: str, *, merchants: bool = False, **window: Any
) -> FunnelPage:
    """Return a funnel with its days and offers; `merchants` adds those too."""
    span = window_of(job.now, **window)
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution).id
        return FunnelPage(
            **funnel_beside(store, owner, span),
            days=funnel.count_by(store, owner, span, "day"),
            offers=funnel.count_by(store, owner, span, "offer"),
            merchants=funnel.count_by(store, owner, span, "merchant") if merchants else [],
        )


def funnel_beside(store: Store, institution_id: UUID, window: Window) -> FunnelComparison:
    """Return a funnel with its people, and that of the window before."""
    return FunnelComparison(
        **count_people(store, institution_id, window),
        previous=count_people(store, institution_id, before(window)),
    )


def _before(chosen: Filters, now: datetime) -> Filters | None:
    """Return the same filters for the time of the same length that ends where this one begins.

    None if that time would begin before the calendar does.
    """
    try:
        window = before(window_of(now, chosen.from_at, chosen.to_at))
    except UsageError:
        return None
    return replace(chosen, from_at=window.from_at, to_at=window.to_at)
