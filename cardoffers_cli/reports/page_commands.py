"""Reports as pages to look at: the answer first, then pictures, then the first of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.sheets.pages import MOST_ROWS, ReportScope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.kernel.cli.context import CommandContext
    from cardoffers_cli.kernel.cli.options import By, Extent

    Filters = Mapping[str, Any]


def show_redemptions(context: CommandContext, filters: Filters, extent: Extent) -> None:
    """Show redemptions by day, the merchants they were of, and the rows."""
    from cardoffers_cli.reports import page_work as report_pages
    from cardoffers_cli.reports.pages import redemptions_page

    most = MOST_ROWS if extent.all_rows else extent.limit
    data = report_pages.redemptions_page(context.job, limit=most, cursor=extent.cursor, **filters)
    context.show_page(redemptions_page(data, _asked(context, filters)))


def show_counts(
    context: CommandContext, by: By, filters: Filters, rows: Sequence[Any], *, is_all: bool
) -> None:
    """Show redemptions by day, offer or merchant."""
    from cardoffers_cli.reports.pages import counts_page

    scope = _asked(context, filters)
    more = scope.command("redemptions", f"--by {by}", file=f"{by}.csv")
    context.show_page(counts_page(by, rows, scope, is_all=is_all, more=more))


def show_settlements(context: CommandContext, filters: Filters, extent: Extent) -> None:
    """Show what is owed to whom, settlements with their sums, and entries."""
    from cardoffers_cli.reports import page_work as report_pages
    from cardoffers_cli.reports.pages import settlements_page

    most = MOST_ROWS if extent.all_rows else extent.limit
    data = report_pages.settlements_page(context.job, limit=most, cursor=extent.cursor, **filters)
    context.show_page(settlements_page(data, _asked(context, filters)))


PAGES = {"redemptions": show_redemptions, "settlements": show_settlements}
"""The reports that come in pages."""


def show_unresolved(context: CommandContext, filters: Filters, extent: Extent) -> None:
    """Show the identifiers that nobody knows, and why rows were not accepted."""
    from cardoffers_cli.merchants.page import unknown_page
    from cardoffers_cli.reports import page_work as report_pages

    most = MOST_ROWS if extent.all_rows else min(extent.limit, report_pages.MOST_ROWS)
    data = report_pages.unresolved_page(context.job, limit=most, **filters)
    context.show_page(unknown_page(data, _asked(context, filters)))


def show_funnel(
    context: CommandContext, institution: str, window: Mapping[str, Any], by: By | None
) -> None:
    """Show a funnel of cardholders, what happened beside it, and both by day and by offer."""
    from cardoffers_cli.reports import page_work as report_pages
    from cardoffers_cli.reports.funnel_page import funnel_page

    merchants = by == "merchant"
    funnel = report_pages.funnel_page(context.job, institution, merchants=merchants, **window)
    is_usual = not any(window.values())
    scope = ReportScope(
        as_of=context.now,
        institution=institution,
        from_at=funnel.window["from"],
        to_at=window["to_at"],
        is_usual=is_usual,
    )
    context.show_page(funnel_page(funnel, scope))


def show_offers(context: CommandContext, filters: Filters, *, is_usual: bool) -> None:
    """Show what offers bring, and when their budgets end."""
    from cardoffers_cli.reports import page_work as report_pages
    from cardoffers_cli.reports.page import offers_page

    data = report_pages.offers_page(context.job, **filters)
    context.show_page(offers_page(data, _asked(context, filters, is_usual=is_usual)))


def show_merchants(context: CommandContext, filters: Filters, *, is_usual: bool) -> None:
    """Show what merchants fund."""
    from cardoffers_cli.reports import page_work as report_pages
    from cardoffers_cli.reports.page import merchants_page

    data = report_pages.merchants_page(context.job, **filters)
    context.show_page(merchants_page(data, _asked(context, filters, is_usual=is_usual)))


def _asked(context: CommandContext, filters: Filters, *, is_usual: bool = False) -> ReportScope:
    return ReportScope(
        as_of=context.now,
        institution=filters["institution"],
        status=filters.get("status"),
        from_at=filters["from_at"],
        to_at=filters["to_at"],
        is_usual=is_usual,
    )
