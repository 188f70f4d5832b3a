"""What the pages of reports are made of: the rows of a report, and what is counted beside them.

Everything on a page is read in one opening of the store, so that its figures agree; all but the
rows themselves is added up there, so that a page is quick and small however much there is.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.jobs.funnel import before, count_window, window_of
from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.jobs.reports import filters_of
from cardoffers_cli.jobs.shown import without_cards
from cardoffers_cli.services import (
    funnel,
    merchant_results,
    offer_results,
    reports,
    settlements,
)
from cardoffers_cli.services.imports import rejects_by_code
from cardoffers_cli.services.institutions import find_institution

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.services.funnel import Window
    from cardoffers_cli.services.reports import Filters
    from cardoffers_cli.store.store import Store

LATELY = timedelta(days=30)
"""How far back a page looks where nobody says from when."""
MOST_MERCHANTS = 10
MOST_ROWS = 50
"""Rows in each order of a list of offers or merchants."""
MOST_ENDING = 1000
"""Offers that are looked at for those whose budgets end soon."""
_MOST_OWED = 200


def redemptions_page(
    job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> dict[str, Any]:
    """Return `rows`, and what a page shows beside them: `days` and `merchants`."""
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        return {
            "rows": reports.exported_redemptions(store, chosen, limit=limit, cursor=cursor).rows,
            "days": reports.count_redemptions(store, chosen, "day"),
            "merchants": reports.count_redemptions(store, chosen, "merchant", limit=MOST_MERCHANTS),
        }


def settlements_page(
    job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> dict[str, Any]:
    """Return what is `owed` and `due`, `settlements` and the `largest` of them, and the entries.

    The entries are `rows`; `totals` is what they come to, by state.
    """
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        window = chosen.window
        return {
            "owed": settlements.owed(store, **window, limit=_MOST_OWED),
            "due": settlements.due(store, institution_id=chosen.institution_id, limit=MOST_ROWS),
            "settlements": settlements.list_settlements(store, **window, limit=limit),
            "largest": settlements.list_settlements(store, **window, limit=limit, order="largest"),
            "rows": reports.exported_settlements(
                store, chosen, limit=min(limit, MOST_ROWS), cursor=cursor
            ).rows,
            "totals": reports.settlement_totals(store, chosen),
        }


def unresolved_page(job: Job, *, limit: int, **filters: Any) -> dict[str, Any]:
    """Return `totals` by currency, `rows` by currency and order, and the `rejects`, by code."""
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        return {
            **unknown(store, chosen, limit),
            "rejects": rejects_by_code(store, **chosen.window),
        }


def unknown(
    store: Store,
    chosen: Filters,
    limit: int,
    of: Sequence[reports.UnresolvedOrder] = get_args(reports.UnresolvedOrder),
) -> dict[str, Any]:
    """Return `totals` of unknown merchants by currency, and `rows` by currency and order."""
    totals = reports.unresolved_totals(store, chosen)
    rows: dict[str, Any] = {total["currency"]: {order: [] for order in of} for total in totals}
    for order in of if totals else ():
        found = reports.unresolved(store, chosen, limit=limit, order=order, each_currency=True)
        for row in without_cards(found):
            rows[row["currency"]][order].append(row)
    return {"totals": totals, "rows": rows}


def offers_page(job: Job, **filters: Any) -> dict[str, Any]:
    """Return the rows of offers in each of their orders, and the first of the time `before`."""
    with reading(job) as source:
        chosen = filters_of(source.store, **filters)
        earlier = _before(chosen, job.now)
        return {
            **offers(source.store, job.now, chosen, MOST_ROWS),
            "before": offer_results.offer_results(source.store, job.now, **earlier.window, limit=1)
            if earlier
            else [],
        }


def offers(
    store: Store,
    now: datetime,
    chosen: Filters,
    limit: int,
    of: Sequence[offer_results.Order] = get_args(offer_results.Order),
) -> dict[str, Any]:
    """Return the rows of offers in each of their orders; those that end first, as many as count."""
    return {
        order: offer_results.offer_results(
            store,
            now,
            **chosen.window,
            order=order,
            limit=MOST_ENDING if order == "ends" else limit,
        )
        for order in of
    }


def merchants_page(job: Job, **filters: Any) -> dict[str, Any]:
    """Return the rows of merchants in each of their orders, and the first of the time `before`."""
    with reading(job) as source:
        chosen = filters_of(source.store, **filters)
        earlier = _before(chosen, job.now)
        return {
            **merchants(source.store, chosen, MOST_ROWS),
            "before": merchant_results.merchant_results(source.store, **earlier.window, limit=1)
            if earlier
            else [],
        }


def merchants(
    store: Store,
    chosen: Filters,
    limit: int,
    of: Sequence[merchant_results.Order] = get_args(merchant_results.Order),
) -> dict[str, Any]:
    """Return the rows of merchants in each of their orders."""
    return {
        order: merchant_results.merchant_results(store, **chosen.window, order=order, limit=limit)
        for order in of
    }


def funnel_page(
    job: Job, institution: str, *, merchants: bool = False, **window: Any
) -> dict[str, Any]:
    """Return the document of a funnel with its people, `previous`, `days` and `offers`.

    `merchants` adds those too.
    """
    asked = window_of(job.now, **window)
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution).id
        return {
            **funnel_beside(store, owner, asked),
            "days": funnel.count_by(store, owner, asked, "day"),
            "offers": funnel.count_by(store, owner, asked, "offer"),
            "merchants": funnel.count_by(store, owner, asked, "merchant") if merchants else [],
        }


def funnel_beside(store: Store, institution_id: UUID, window: Window) -> dict[str, Any]:
    """Return the document of a funnel with its people, and of the window before as `previous`."""
    now, then = (
        {
            **count_window(store, institution_id, each),
            "people": funnel.count_people(store, institution_id, each),
        }
        for each in (window, before(window))
    )
    return {**now, "previous": then}


def _before(chosen: Filters, now: datetime) -> Filters | None:
    """Return the same filters for the time of the same length that ends where this one begins.

    None if that time would begin before the calendar does.
    """
    try:
        window = before(window_of(now, chosen.from_at, chosen.to_at))
    except UsageError:
        return None
    return replace(chosen, from_at=window.from_at, to_at=window.to_at)
