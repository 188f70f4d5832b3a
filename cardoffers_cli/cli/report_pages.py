"""Reports as pages to look at: the answer first, then pictures, then the first of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.files.html.asked import Asked
from cardoffers_cli.files.html.pages import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.cli.kernel.desk import Desk
    from cardoffers_cli.cli.kernel.options import By, Extent

    Filters = Mapping[str, Any]


def show_redemptions(desk: Desk, filters: Filters, extent: Extent) -> None:
    """Show redemptions by day, the merchants they were of, and the rows."""
    from cardoffers_cli.files.html.redemptions import redemptions_page
    from cardoffers_cli.jobs.reports import pages as report_pages

    most = MOST_ROWS if extent.all_rows else extent.limit
    found = report_pages.redemptions_page(desk.job, limit=most, cursor=extent.cursor, **filters)
    desk.show_page(redemptions_page(found, _asked(desk, filters)))


def show_counts(desk: Desk, by: By, filters: Filters, rows: Sequence[Any], *, is_all: bool) -> None:
    """Show redemptions by day, offer or merchant."""
    from cardoffers_cli.files.html.redemptions import counts_page

    asked = _asked(desk, filters)
    more = asked.command("redemptions", f"--by {by}", file=f"{by}.csv")
    desk.show_page(counts_page(by, rows, asked, is_all=is_all, more=more))


def show_settlements(desk: Desk, filters: Filters, extent: Extent) -> None:
    """Show what is owed to whom, settlements with their sums, and entries."""
    from cardoffers_cli.files.html.settlements import settlements_page
    from cardoffers_cli.jobs.reports import pages as report_pages

    most = MOST_ROWS if extent.all_rows else extent.limit
    found = report_pages.settlements_page(desk.job, limit=most, cursor=extent.cursor, **filters)
    desk.show_page(settlements_page(found, _asked(desk, filters)))


PAGES = {"redemptions": show_redemptions, "settlements": show_settlements}
"""The reports that come in pages."""


def show_unresolved(desk: Desk, filters: Filters, extent: Extent) -> None:
    """Show the identifiers that nobody knows, and why rows were not accepted."""
    from cardoffers_cli.files.html.unknown import unknown_page
    from cardoffers_cli.jobs.reports import pages as report_pages

    most = MOST_ROWS if extent.all_rows else min(extent.limit, report_pages.MOST_ROWS)
    found = report_pages.unresolved_page(desk.job, limit=most, **filters)
    desk.show_page(unknown_page(found, _asked(desk, filters)))


def show_funnel(desk: Desk, institution: str, window: Mapping[str, Any], by: By | None) -> None:
    """Show a funnel of cardholders, what happened beside it, and both by day and by offer."""
    from cardoffers_cli.files.html.funnel import funnel_page
    from cardoffers_cli.jobs.reports import pages as report_pages

    merchants = by == "merchant"
    found = report_pages.funnel_page(desk.job, institution, merchants=merchants, **window)
    is_usual = not any(window.values())
    asked = Asked(
        as_of=desk.now,
        institution=institution,
        from_at=found.window["from"],
        to_at=window["to_at"],
        is_usual=is_usual,
    )
    desk.show_page(funnel_page(found, asked))


def show_offers(desk: Desk, filters: Filters, *, is_usual: bool) -> None:
    """Show what offers bring, and when their budgets end."""
    from cardoffers_cli.files.html.offers import offers_page
    from cardoffers_cli.jobs.reports import pages as report_pages

    found = report_pages.offers_page(desk.job, **filters)
    desk.show_page(offers_page(found, _asked(desk, filters, is_usual=is_usual)))


def show_merchants(desk: Desk, filters: Filters, *, is_usual: bool) -> None:
    """Show what merchants fund."""
    from cardoffers_cli.files.html.merchants import merchants_page
    from cardoffers_cli.jobs.reports import pages as report_pages

    found = report_pages.merchants_page(desk.job, **filters)
    desk.show_page(merchants_page(found, _asked(desk, filters, is_usual=is_usual)))


def _asked(desk: Desk, filters: Filters, *, is_usual: bool = False) -> Asked:
    return Asked(
        as_of=desk.now,
        institution=filters["institution"],
        status=filters.get("status"),
        from_at=filters["from_at"],
        to_at=filters["to_at"],
        is_usual=is_usual,
    )
