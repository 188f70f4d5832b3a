"""Read the funnel of an institution: the last 30 days unless another window is asked for."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.reports import funnel
from cardoffers_cli.reports.funnel import Window

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

USUAL_LENGTH = timedelta(days=30)


class WindowFunnel(Record):
    """The funnel of one window, `from` and `to` (rules.md#funnel)."""

    window: dict[str, datetime]
    data: funnel.FunnelCounts


class PeopleFunnel(WindowFunnel):
    """The funnel of one window, with its cardholders."""

    people: funnel.FunnelPeople


class Funnel(PeopleFunnel):
    """The funnel of a window, with what was asked for beside it.

    `previous` is the window of the same length before it, `by` the rows of days, offers or
    merchants.
    """

    previous: PeopleFunnel | None = if_any()
    by: Sequence[funnel.FunnelRow] | None = if_any()


def read_funnel(
    job: Job,
    institution: str,
    *,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    by: funnel.By | None = None,
    compare: bool = False,
) -> Funnel:
    """Return a funnel; raise `UsageError` for a window in which there is no time."""
    window = window_of(job.now, from_at, to_at)
    earlier = before(window) if compare else None
    with reading(job) as source:
        owner = find_institution(source.store, institution).id
        return Funnel(
            **count_people(source.store, owner, window),
            previous=count_people(source.store, owner, earlier) if earlier else None,
            by=funnel.count_by(source.store, owner, window, by) if by else None,
        )


def count_people(store: Store, institution_id: UUID, window: Window) -> PeopleFunnel:
    """Return the funnel of one window, with its cardholders."""
    return PeopleFunnel(
        **count_window(store, institution_id, window),
        people=funnel.count_people(store, institution_id, window),
    )


def count_window(store: Store, institution_id: UUID, window: Window) -> WindowFunnel:
    """Return the funnel of one window."""
    counts = funnel.count_funnel(store, institution_id, window)
    return WindowFunnel(window={"from": window.from_at, "to": window.to_at}, data=counts)


def window_of(now: datetime, from_at: datetime | None, to_at: datetime | None) -> Window:
    """Return the window of a funnel (rules.md#windows): until now, 30 days long, if not told.

    One that ends now includes what happened at this very moment, such as a night's own redemptions.
    Raises `UsageError` if there is no time in it.
    """
    end = to_at or now
    start = from_at or _earlier(end, USUAL_LENGTH)
    if start >= end:
        raise UsageError(
            "The window has no time in it: it starts when it has ended, or later.",
            code="window_empty",
            hint="--from must be before --to, which is now if you leave it out.",
        )
    return Window(from_at=start, to_at=end, ends_now=to_at is None)


def before(window: Window) -> Window:
    """Return the window of the same length that ends where this one begins."""
    length = window.to_at - window.from_at
    return Window(from_at=_earlier(window.from_at, length), to_at=window.from_at)


def _earlier(moment: datetime, length: timedelta) -> datetime:
    try:
        return moment - length
    except OverflowError:
        raise UsageError(
            "The window would begin before the calendar does.",
            code="window_too_early",
            hint="Give --from a later time.",
        ) from None
