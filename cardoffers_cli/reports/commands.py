"""`cardoffers report`: redemptions, settlements, offers, merchants, refunds, and more."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.accounting.commands import receivables, trial_balance
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import Format, group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Column, Sheet, columns_of
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.refunds.commands import refunds
from cardoffers_cli.reports.questions import UnknownMerchant
from cardoffers_cli.reports.result_commands import funnel, merchants, offers, show_unresolved

if TYPE_CHECKING:
    from cardoffers_cli.reports.questions import RedemptionCount, ReportPage
    from cardoffers_cli.reports.work import Report

app = group("Show redemptions, settlements, offers, merchants, the funnel, and what is unresolved.")

Status = Literal["pending", "settled", "reversed"]
"""The states of a redemption and its ledger entry."""

Filters = dict[str, Any]
"""What a report is restricted to."""

SettledBy = Literal["settlement", "institution"]
"""What settlements are added up by."""


_SUMMED = ("status", "currency")
StatusFilter = Annotated[Status | None, option("Only this state.", "--status")]


@app.command()
def redemptions(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    status: StatusFilter = None,
    from_at: options.From = None,
    to_at: options.To = None,
    limit: options.Limit = 100,
    cursor: options.Cursor = None,
    all_rows: options.All = False,
    by: Annotated[options.By | None, option("Count for each of these instead.")] = None,
    raw: options.Raw = False,
) -> None:
    """Show redemptions, newest first, a page at a time."""
    context = CommandContext.of(ctx)
    filters = _filters(institution, status, from_at, to_at)
    extent = options.Extent(limit=limit, cursor=cursor, all_rows=all_rows, raw=raw)
    if by:
        show_counts(context, by, filters, extent)
    else:
        _show_pages(context, "redemptions", filters, extent)


@app.command()
def settlements(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    status: StatusFilter = None,
    from_at: options.From = None,
    to_at: options.To = None,
    limit: options.Limit = 100,
    cursor: options.Cursor = None,
    all_rows: options.All = False,
    by: Annotated[SettledBy | None, option("Show the sums of each of these instead.")] = None,
    settlement: Annotated[
        str | None, option("Only the entries of this one; its beginning will do.", metavar="ID")
    ] = None,
    raw: options.Raw = False,
) -> None:
    """Show ledger entries, newest first, a page at a time."""
    context = CommandContext.of(ctx)
    filters = _filters(institution, status, from_at, to_at)
    extent = options.Extent(limit=limit, cursor=cursor, all_rows=all_rows, raw=raw)
    if by:
        _show_sums(context, by, filters, extent)
        return
    if settlement:
        filters["settlement"] = settlement
    _show_pages(context, "settlements", filters, extent)


def _show_sums(
    context: CommandContext, by: SettledBy, filters: Filters, extent: options.Extent
) -> None:
    """Show settlements with their sums, or what is owed to each institution."""
    from cardoffers_cli.reports.work import read_filtered
    from cardoffers_cli.river.settlements import Settlement, SettlementDue, list_settlements, owed

    extent.refuse_cursor("--by")
    if filters.pop("status"):
        raise UsageError("--by and --status exclude each other.", hint="Leave one out.")
    shape, listed = (Settlement, list_settlements) if by == "settlement" else (SettlementDue, owed)
    fetched = read_filtered(
        context.job,
        lambda store, chosen: listed(store, **chosen.window, limit=extent.most + 1),
        **filters,
    )
    rows = [shape.cut(row) for row in fetched[: extent.most]]
    sheet = Sheet.of(shape, f"by {by}", rows, totals_by=("currency",))
    context.show({"by": by, "data": rows}, sheet, raw=extent.raw)
    if len(fetched) > len(rows):
        context.note("There is more: --all for every row.")


question(
    *(app, "unresolved", "reports/questions:unresolved", UnknownMerchant),
    says="Show the merchant identifiers that are not in the catalogue.",
    asks="institution from_at to_at limit all_rows raw",
    totals_by="currency",
    page=show_unresolved,
    fixed={"order": "purchases", "each_currency": False},
)


def _filters(institution: str | None, status: Status | None, from_at: Any, to_at: Any) -> Filters:
    return {"institution": institution, "status": status, "from_at": from_at, "to_at": to_at}


def _show_pages(
    context: CommandContext, report: str, filters: Filters, extent: options.Extent
) -> None:
    """Show a report that comes in pages, or whole."""
    from cardoffers_cli.reports.work import report_page, whole_report

    if extent.all_rows:
        extent.refuse_cursor("--all")
    if context.format is Format.html and not filters.get("settlement"):
        from cardoffers_cli.reports import result_commands as report_pages

        report_pages.show_rows(context, report, filters, extent)
    elif extent.all_rows:
        full = whole_report(report, context.job, **filters)
        context.show({"data": full.rows}, _filled(report, full), raw=extent.raw)
    else:
        limit = extent.limit
        page = report_page(report, context.job, limit=limit, cursor=extent.cursor, **filters)
        pagination = {"limit": limit, "next_cursor": page.next_cursor}
        envelope = {"data": page.rows, "pagination": pagination}
        context.show(envelope, _filled(report, page), raw=extent.raw)
        if page.next_cursor:
            context.note(f"There is more: --cursor {page.next_cursor}, or --all for every row.")


def _filled(report: str, page: "ReportPage | Report") -> Sheet:
    """Return the sheet, with what was credited where there is anything to tell of it."""
    from cardoffers_cli.reports.questions import CREDITED, ExportedEntry, ExportedRedemption

    shape = ExportedRedemption if report == "redemptions" else ExportedEntry
    sheet = Sheet.of(shape, report, page.rows, totals_by=_SUMMED)
    if not page.is_reconciled:
        return sheet
    return replace(sheet, columns=(*sheet.columns, *columns_of(shape, CREDITED)))


app.command()(offers)
app.command()(merchants)
app.command()(refunds)
app.command("trial-balance")(trial_balance)
app.command()(receivables)
app.command()(funnel)


BAR_WIDTH = 16
_BAR = Column("bar", "redemptions")


def show_counts(
    context: CommandContext, by: options.By, filters: dict[str, Any], extent: options.Extent
) -> None:
    """Show redemptions by day, offer or merchant: the first rows, or all."""
    from cardoffers_cli.reports.questions import count_redemptions
    from cardoffers_cli.reports.work import read_filtered

    extent.refuse_cursor("--by")
    read = partial(count_redemptions, by=by, limit=extent.most + 1)
    fetched = read_filtered(context.job, read, **filters)
    rows = fetched[: extent.most]
    if context.format is Format.html:
        from cardoffers_cli.reports import result_commands as report_pages

        report_pages.show_counts(context, by, filters, rows, is_all=rows == fetched)
        return
    context.show({"by": by, "data": rows}, _sheet(by, rows, context.format), raw=extent.raw)
    if len(fetched) > len(rows):
        context.note("There is more: --all for every row.")


def _sheet(by: options.By, rows: "Sequence[RedemptionCount]", form: Format) -> Sheet:
    """Make the sheet; bars are for the eye, so only a table has them."""
    from cardoffers_cli.kernel.cli.blocks import bar
    from cardoffers_cli.reports.questions import COUNTED

    is_of_days = by == "day"
    quiet = "day" if is_of_days else ""
    name = f"redemptions by {by}"
    sheet = Sheet.of(COUNTED[by], name, rows, totals_by=("currency",), quiet=quiet)
    if form is not Format.table:
        return sheet
    most = max((row.redemptions for row in rows), default=0)
    drawn = [{**row, "bar": bar(row.redemptions, most, BAR_WIDTH)} for row in rows]
    title = "Redemptions by day: decided, and purchased" if is_of_days else f"Redemptions by {by}"
    at = [column.name for column in sheet.columns].index("redemptions")
    columns = (*sheet.columns[:at], _BAR, *sheet.columns[at:])
    return Sheet(name, columns, drawn, title=title, first=sheet.first[:1], quiet=quiet)
