"""`cardoffers report offers` and `merchants`: which offers work, and what each merchant funded."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.cli.show import Sheet, columns_of
from cardoffers_cli.kernel.words.records import Record


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
    from cardoffers_cli.reports.offer_results import OfferResult
    from cardoffers_cli.reports.work import offer_rows

    context = CommandContext.of(ctx)
    extent = options.Extent(limit=limit, all_rows=all_rows, raw=raw)
    filters, is_usual = _window(context, institution, from_at, to_at)
    if context.format is Format.html:
        from cardoffers_cli.reports.page_commands import show_offers

        show_offers(context, filters, is_usual=is_usual)
        return
    found = offer_rows(context.job, order=order, limit=extent.most, **filters)
    _show(context, "offers", OfferResult, found, extent)


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
    from cardoffers_cli.reports.merchant_results import MerchantResult
    from cardoffers_cli.reports.work import merchant_rows

    context = CommandContext.of(ctx)
    extent = options.Extent(limit=limit, all_rows=all_rows, raw=raw)
    filters, is_usual = _window(context, institution, from_at, to_at)
    if context.format is Format.html:
        from cardoffers_cli.reports.page_commands import show_merchants

        show_merchants(context, filters, is_usual=is_usual)
        return
    found = merchant_rows(context.job, order=order, limit=extent.most, **filters)
    _show(context, "merchants", MerchantResult, found, extent)


def _window(
    context: CommandContext, institution: str | None, from_at: Any, to_at: Any
) -> tuple[Mapping[str, Any], bool]:
    """Return the filters, and whether nobody chose the window: then it is the last 30 days."""
    from cardoffers_cli.reports.funnel_work import window_of

    window = window_of(context.now, from_at, to_at)
    filters = {"institution": institution, "from_at": window.from_at, "to_at": to_at}
    return filters, from_at is None and to_at is None


def _show(
    context: CommandContext,
    name: str,
    shape: type[Record],
    found: Sequence[Record],
    extent: options.Extent,
) -> None:
    """Show what the columns have of the rows, and say if there are more of them."""
    names = {column.name for column in columns_of(shape)}
    rows = [{key: value for key, value in row.items() if key in names} for row in found]
    sheet = Sheet.of(shape, name, rows, totals_by=("currency",))
    context.show({"data": rows}, sheet, raw=extent.raw)
    if any(row[name] > extent.most for row in found):
        context.note("There is more: --all for every row.")
