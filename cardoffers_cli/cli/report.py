"""`cardoffers report`: redemptions, settlements, offers, merchants, the funnel, the unknown."""

from typing import Annotated, Any, Literal

import typer

from cardoffers_cli.cli.funnel import funnel
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.everywhere import Format, group
from cardoffers_cli.cli.kernel.options import All, AnyInstitution, By, Cursor, From, Limit, Raw, To
from cardoffers_cli.cli.kernel.show import Column, Sheet
from cardoffers_cli.cli.redemption_counts import show_counts
from cardoffers_cli.cli.results import merchants, offers
from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.files.report_columns import (
    ENTRIES_FIRST,
    OWED,
    REDEMPTIONS,
    REDEMPTIONS_FIRST,
    SETTLEMENT_SUMS,
    SETTLEMENTS,
    UNRESOLVED,
    UNRESOLVED_FIRST,
)

app = group("Show redemptions, settlements, offers, merchants, the funnel, and what is unresolved.")


Status = Literal["pending", "settled", "reversed"]
"""The states of a redemption and its ledger entry."""


SettledBy = Literal["settlement", "institution"]
"""What settlements are added up by."""


StatusFilter = Annotated[Status | None, typer.Option("--status", help="Only this state.")]


@app.command()
def redemptions(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    status: StatusFilter = None,
    from_at: From = None,
    to_at: To = None,
    limit: Limit = 100,
    cursor: Cursor = None,
    all_rows: All = False,
    by: Annotated[By | None, typer.Option(help="Count for each of these instead.")] = None,
    raw: Raw = False,
) -> None:
    """Show redemptions, newest first, a page at a time.

    With --by, show how many there were and for how much money, in each currency: by day (UTC),
    newest first, both that of the decision and that of the purchase; or by offer or merchant, the
    most redeemed first. What was reversed since counts in full, and is told beside it.

    Try:

        cardoffers report redemptions -i alder --from 2026-10-01 --to 2026-11-01
        cardoffers report redemptions -i alder --from 2026-10-01 --by day
        cardoffers report redemptions --all -o redemptions.parquet
    """
    filters = _filters(institution, status, from_at, to_at)
    asked: dict[str, Any] = {"limit": limit, "cursor": cursor, "all_rows": all_rows, "raw": raw}
    if by:
        show_counts(Desk.of(ctx), by, filters, **asked)
    else:
        _Pages("redemptions", REDEMPTIONS, REDEMPTIONS_FIRST, filters).show(Desk.of(ctx), **asked)


@app.command()
def settlements(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    status: StatusFilter = None,
    from_at: From = None,
    to_at: To = None,
    limit: Limit = 100,
    cursor: Cursor = None,
    all_rows: All = False,
    by: Annotated[
        SettledBy | None, typer.Option(help="Show the sums of each of these instead.")
    ] = None,
    settlement: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only the entries of this one; its beginning will do."),
    ] = None,
    raw: Raw = False,
) -> None:
    """Show ledger entries, newest first, a page at a time.

    With --by, show settlements with their sums, newest first, or what is owed to each institution:
    what was settled in the window, what is on hold, and what is to be deducted.

    Try:

        cardoffers report settlements -i alder --status settled
        cardoffers report settlements --by settlement
        cardoffers report settlements -o settlements.html
    """
    desk = Desk.of(ctx)
    filters = _filters(institution, status, from_at, to_at)
    if by:
        _show_sums(desk, by, filters, limit=limit, cursor=cursor, all_rows=all_rows, raw=raw)
        return
    if settlement:
        filters["settlement"] = settlement
    pages = _Pages("settlements", SETTLEMENTS, ENTRIES_FIRST, filters)
    pages.show(desk, limit=limit, cursor=cursor, all_rows=all_rows, raw=raw)


def _show_sums(
    desk: Desk,
    by: SettledBy,
    filters: dict[str, Any],
    *,
    limit: int,
    cursor: str | None,
    all_rows: bool,
    raw: bool,
) -> None:
    """Show settlements with their sums, or what is owed to each institution."""
    from cardoffers_cli.jobs.reports import settlement_rows
    from cardoffers_cli.services.reports import MOST_ROWS

    for name, value in (("--cursor", cursor), ("--status", filters.pop("status"))):
        if value:
            raise UsageError(f"--by and {name} exclude each other.", hint="Leave one out.")
    most = MOST_ROWS if all_rows else limit
    found = settlement_rows(desk.job, by, limit=most + 1, **filters)
    columns = SETTLEMENT_SUMS if by == "settlement" else OWED
    rows = found[:most]
    sheet = Sheet(f"by {by}", columns, rows, totals_by=("currency",))
    desk.show({"by": by, "data": rows}, sheet, raw=raw)
    if len(found) > most:
        desk.note("There is more: --all for every row.")


@app.command()
def unresolved(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    from_at: From = None,
    to_at: To = None,
    limit: Limit = 100,
    all_rows: All = False,
    raw: Raw = False,
) -> None:
    """Show the merchant identifiers that are not in the catalogue.

    Those with most purchases come first, each with the text that most often came with it. Their
    purchases wait: add the identifiers to the catalogue and match again.

    Try:

        cardoffers report unresolved -i alder
        cardoffers report unresolved -o unknown.html
    """
    from cardoffers_cli.jobs.reports import unresolved_rows
    from cardoffers_cli.services.reports import MOST_ROWS

    desk = Desk.of(ctx)
    filters = _filters(institution, None, from_at, to_at)
    if desk.format is Format.html:
        from cardoffers_cli.cli import report_pages

        report_pages.show_unresolved(desk, filters, limit=limit, all_rows=all_rows)
        return
    rows = unresolved_rows(desk.job, limit=MOST_ROWS if all_rows else limit, **filters)
    sheet = Sheet("unresolved", UNRESOLVED, rows, totals_by=("currency",), first=UNRESOLVED_FIRST)
    desk.show({"data": rows}, sheet, raw=raw)


def _filters(
    institution: str | None, status: Status | None, from_at: Any, to_at: Any
) -> dict[str, Any]:
    return {
        "institution": institution,
        "status": status,
        "from_at": from_at,
        "to_at": to_at,
    }


app.command()(offers)
app.command()(merchants)
app.command()(funnel)


class _Pages:
    """A report that comes in pages, or whole."""

    def __init__(
        self,
        name: str,
        columns: tuple[Column, ...],
        first: tuple[str, ...],
        filters: dict[str, Any],
    ) -> None:
        self._name = name
        self._columns = columns
        self._first = first
        self._filters = filters

    def show(
        self, desk: Desk, *, limit: int, cursor: str | None, all_rows: bool, raw: bool
    ) -> None:
        if all_rows and cursor:
            raise UsageError("--all and --cursor exclude each other.", hint="Leave one out.")
        if desk.format is Format.html and not self._filters.get("settlement"):
            from cardoffers_cli.cli import report_pages

            made = report_pages.PAGES[self._name]
            made(desk, self._filters, limit=limit, cursor=cursor, all_rows=all_rows)
        elif all_rows:
            self._show_all(desk, raw=raw)
        else:
            self._show_page(desk, limit=limit, cursor=cursor, raw=raw)

    def _show_page(self, desk: Desk, *, limit: int, cursor: str | None, raw: bool) -> None:
        from cardoffers_cli.jobs.reports import report_page

        page = report_page(self._name, desk.job, limit=limit, cursor=cursor, **self._filters)
        envelope = {
            "data": page.rows,
            "pagination": {"limit": limit, "next_cursor": page.next_cursor},
        }
        desk.show(envelope, self._sheet(page.rows), raw=raw)
        if page.next_cursor:
            desk.note(f"There is more: --cursor {page.next_cursor}, or --all for every row.")

    def _show_all(self, desk: Desk, *, raw: bool) -> None:
        from cardoffers_cli.jobs.reports import report_rows

        rows = report_rows(self._name, desk.job, **self._filters)
        desk.show({"data": rows}, self._sheet(rows), raw=raw)

    def _sheet(self, rows: Any) -> Sheet:
        return Sheet(
            self._name, self._columns, rows, totals_by=("status", "currency"), first=self._first
        )
