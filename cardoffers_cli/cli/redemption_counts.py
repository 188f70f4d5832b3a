"""How `report redemptions --by` shows them: counted, with a bar beside each count for the eye."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.cli.kernel.bars import bar
from cardoffers_cli.cli.kernel.everywhere import Format
from cardoffers_cli.cli.kernel.show import Column, Sheet
from cardoffers_cli.files.report_columns import COUNTED_BY, COUNTS, DAY_COUNTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.cli.kernel.desk import Desk
    from cardoffers_cli.cli.kernel.options import By, Extent
    from cardoffers_cli.services.reports import RedemptionCount

BAR_WIDTH = 16
_BAR = Column("bar", "redemptions")
_NAMES = {"offer": "title", "merchant": "merchant_name"}


def show_counts(desk: Desk, by: By, filters: dict[str, Any], extent: Extent) -> None:
    """Show redemptions by day, offer or merchant: the first rows, or all."""
    from cardoffers_cli.jobs.reports import redemption_counts

    extent.refuse_cursor("--by")
    found = redemption_counts(desk.job, by, limit=extent.most + 1, **filters)
    rows = found[: extent.most]
    if desk.format is Format.html:
        from cardoffers_cli.cli import report_pages

        report_pages.show_counts(desk, by, filters, rows, is_all=rows == found)
        return
    desk.show({"by": by, "data": rows}, _sheet(by, rows, desk.format), raw=extent.raw)
    if len(found) > len(rows):
        desk.note("There is more: --all for every row.")


def _sheet(by: By, rows: Sequence[RedemptionCount], form: Format) -> Sheet:
    """Make the sheet; bars are for the eye, so only a table has them."""
    name, group = f"redemptions by {by}", COUNTED_BY[by]
    is_of_days = by == "day"
    columns = (*group, *(DAY_COUNTS if is_of_days else COUNTS))
    first = () if is_of_days else (_NAMES[by], "currency", "institution_payout_amount")
    quiet = "day" if is_of_days else ""
    if form is not Format.table:
        return Sheet(name, columns, rows, totals_by=("currency",), first=first, quiet=quiet)
    most = max((row.redemptions for row in rows), default=0)
    drawn = [{**row, "bar": bar(row.redemptions, most, BAR_WIDTH)} for row in rows]
    title = "Redemptions by day: decided, and purchased" if is_of_days else f"Redemptions by {by}"
    shown = (*columns[: len(group)], _BAR, *columns[len(group) :])
    return Sheet(name, shown, drawn, title=title, first=first[:1], quiet=quiet)
