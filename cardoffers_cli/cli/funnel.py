"""`cardoffers report funnel`: from offers seen to offers redeemed."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.funnel_picture import picture
from cardoffers_cli.cli.options import Format, From, Institution, Raw, To
from cardoffers_cli.cli.show import Block, Column, Sheet, Text
from cardoffers_cli.domain.funnel import compared, conversions
from cardoffers_cli.files.report_columns import FUNNEL

COMPARED = (*FUNNEL, Column("previous", kind="integer"), Column("change", kind="number"))
_OF_OFFERS = (
    Column("offer_impressions", "seen", kind="integer"),
    Column("offer_add_successes", "adds", kind="integer"),
    Column("redemptions", "redeemed", kind="integer"),
)
ROWS = {
    "day": (
        Column("day", kind="date"),
        Column("widget_views", "views", kind="integer"),
        Column("unique_cardholders", "cardholders", kind="integer"),
        *_OF_OFFERS,
    ),
    "offer": (Column("offer_id"), Column("title"), Column("merchant_name"), *_OF_OFFERS),
    "merchant": (Column("merchant_id"), Column("merchant_name"), *_OF_OFFERS),
}


class By(StrEnum):
    """What a report can be taken apart by."""

    day = "day"
    offer = "offer"
    merchant = "merchant"


def funnel(
    ctx: typer.Context,
    *,
    institution: Institution,
    from_at: From = None,
    to_at: To = None,
    by: Annotated[By | None, typer.Option(help="Count for each of these too.")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare with the window of the same length before.")
    ] = False,
    raw: Raw = False,
) -> None:
    """Show how many saw offers, added them and redeemed them, as a funnel on a terminal.

    The window is the last 30 days, if not said otherwise. In other formats the numbers come as a
    sheet, conversions as shares of the step before and of the first; with --by, the rows of days,
    offers or merchants come first.

    Try:

        cardoffers report funnel -i alder --compare
        cardoffers report funnel -i alder --from 2026-09-01 --to 2026-10-01 --by day -o days.csv
    """
    from cardoffers_cli.jobs.funnel import read_funnel

    desk = Desk.of(ctx)
    options: dict[str, Any] = {"from_at": from_at, "to_at": to_at, "by": by and by.value}
    found = read_funnel(desk.job, institution, compare=compare, **options)
    if desk.format is Format.html:
        from cardoffers_cli.cli import report_pages

        report_pages.show_funnel(desk, institution, found, [*_rows(found, by), _steps(found)])
        return
    blocks: list[Block]
    if desk.format is Format.table:
        blocks = [Text(picture(found), title=f"Funnel of {institution}"), *_rows(found, by)]
    else:
        blocks = [*_rows(found, by), _steps(found)]
    desk.show(found, *blocks, raw=raw)


def _steps(found: dict[str, Any]) -> Sheet:
    if "previous" not in found:
        return Sheet("funnel", FUNNEL, list(conversions(found["data"])))
    rows = compared(found["data"], found["previous"]["data"])
    return Sheet("funnel", COMPARED, list(rows))


def _rows(found: dict[str, Any], by: By | None) -> Iterator[Sheet]:
    if by:
        yield Sheet(f"by {by}", ROWS[by], found["by"])
