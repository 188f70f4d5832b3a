"""What the pages of reports are made of: the rows of a report, and what is counted beside them.

Everything on a page is read in one opening of the store, so that its figures agree; all but the
rows themselves is added up there, so that a page is quick and small however much there is.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.jobs.reports import filters_of
from cardoffers_cli.jobs.shown import without_cards
from cardoffers_cli.services import reports, webhooks
from cardoffers_cli.services.budgets import budget_burn
from cardoffers_cli.services.imports import rejects_by_code

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.store.store import Store

LATELY = timedelta(days=30)
"""How far back a page looks where nobody says from when."""
MOST_BUDGETS = 50
MOST_MERCHANTS = 10


def redemptions_page(
    job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> dict[str, Any]:
    """Return `rows`, and what a page shows beside them: `days`, `merchants` and what runs."""
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        return {
            "rows": reports.redemptions(store, chosen, limit=limit, cursor=cursor).rows,
            "days": reports.count_redemptions(store, chosen, "day"),
            "merchants": reports.count_redemptions(store, chosen, "merchant", limit=MOST_MERCHANTS),
            **running(store, job.now, chosen.institution_id),
        }


def settlements_page(
    job: Job, *, limit: int, cursor: str | None = None, **filters: Any
) -> dict[str, Any]:
    """Return `rows` and their `totals`."""
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        return {
            "rows": reports.settlements(store, chosen, limit=limit, cursor=cursor).rows,
            "totals": reports.settlement_totals(store, chosen),
        }


def unresolved_page(job: Job, *, limit: int, **filters: Any) -> dict[str, Any]:
    """Return `rows`, how many there are `in_all`, and the `rejects`, by code."""
    with reading(job) as source:
        store = source.store
        chosen = filters_of(store, **filters)
        return {
            "rows": [without_cards(row) for row in reports.unresolved(store, chosen, limit=limit)],
            "in_all": reports.count_unresolved(store, chosen),
            "rejects": rejects_by_code(
                store,
                institution_id=chosen.institution_id,
                from_at=chosen.from_at,
                to_at=chosen.to_at,
            ),
        }


def running(store: Store, now: datetime, institution_id: UUID | None = None) -> dict[str, Any]:
    """Return `budgets` of the offers that run, and `webhooks` of the events of late, `now` too."""
    until = now + timedelta(microseconds=1)
    return {
        "budgets": budget_burn(store, now, institution_id=institution_id, limit=MOST_BUDGETS),
        "webhooks": webhooks.health(
            store, institution_id=institution_id, from_at=now - LATELY, to_at=until
        ),
    }
