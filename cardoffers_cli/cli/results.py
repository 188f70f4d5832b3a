"""`cardoffers report offers` and `merchants`: which offers work, and what each merchant funded."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from cardoffers_cli.cli.kernel import options
from cardoffers_cli.cli.kernel.commands import Format
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.options import option
from cardoffers_cli.cli.kernel.show import Sheet, columns_of
from cardoffers_cli.domain.records import Record


def offers(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    from_at: options.From = None,
    to_at: options.To = None,
    order: Annotated[
        Literal["spend", "redemptions", "ends"],
        option("What comes first: most spend, most redeemed, first to end."),
    ] = "spend",
    limit: options.Limit = 50,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """Show which offers work, and which end when."""
    from cardoffers_cli.jobs.reports.reports import offer_rows
    from cardoffers_cli.services.offer_results import OfferResult

    desk = Desk.of(ctx)
    extent = options.Extent(limit=limit, all_rows=all_rows, raw=raw)
    filters, is_usual = _window(desk, institution, from_at, to_at)
    if desk.format is Format.html:
        from cardoffers_cli.cli.report_pages import show_offers

        show_offers(desk, filters, is_usual=is_usual)
        return
    found = offer_rows(desk.job, order=order, limit=extent.most, **filters)
    _show(desk, "offers", OfferResult, found, extent)


def merchants(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    from_at: options.From = None,
    to_at: options.To = None,
    order: Annotated[
        Literal["funded", "redemptions"], option("What comes first: most funded, most redeemed.")
    ] = "funded",
    limit: options.Limit = 50,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """Show what each merchant funded."""
    from cardoffers_cli.jobs.reports.reports import merchant_rows
    from cardoffers_cli.services.merchant_results import MerchantResult

    desk = Desk.of(ctx)
    extent = options.Extent(limit=limit, all_rows=all_rows, raw=raw)
    filters, is_usual = _window(desk, institution, from_at, to_at)
    if desk.format is Format.html:
        from cardoffers_cli.cli.report_pages import show_merchants

        show_merchants(desk, filters, is_usual=is_usual)
        return
    found = merchant_rows(desk.job, order=order, limit=extent.most, **filters)
    _show(desk, "merchants", MerchantResult, found, extent)


def _window(
    desk: Desk, institution: str | None, from_at: Any, to_at: Any
) -> tuple[Mapping[str, Any], bool]:
    """Return the filters, and whether nobody chose the window: then it is the last 30 days."""
    from cardoffers_cli.jobs.reports.funnel import window_of

    window = window_of(desk.now, from_at, to_at)
    filters = {"institution": institution, "from_at": window.from_at, "to_at": to_at}
    return filters, from_at is None and to_at is None


def _show(
    desk: Desk,
    name: str,
    shape: type[Record],
    found: Sequence[Record],
    extent: options.Extent,
) -> None:
    """Show what the columns have of the rows, and say if there are more of them."""
    names = {column.name for column in columns_of(shape)}
    rows = [{key: value for key, value in row.items() if key in names} for row in found]
    sheet = Sheet.of(shape, name, rows, totals_by=("currency",))
    desk.show({"data": rows}, sheet, raw=extent.raw)
    if any(row[name] > extent.most for row in found):
        desk.note("There is more: --all for every row.")
