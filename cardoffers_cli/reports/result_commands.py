"""`cardoffers report offers` and `merchants`, and reports as pages to look at.

A page has the answer first, then pictures, then the first of the rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import By, From, Institution, Raw, To, option
from cardoffers_cli.kernel.cli.show import Block, Sheet, Text, columns_of
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.sentences import counted, percent

if TYPE_CHECKING:
    from cardoffers_cli.kernel.cli.options import Extent
    from cardoffers_cli.kernel.sheets.pages import ReportScope
    from cardoffers_cli.reports.work import Funnel, PeopleFunnel


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
    """Show what each offer brought, and when its budget ends."""
    extent = options.Extent(limit=limit, all_rows=all_rows, raw=raw)
    asked = {"institution": institution, "from_at": from_at, "to_at": to_at}
    _show(CommandContext.of(ctx), "offers", extent, order=order, **asked)


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
    extent = options.Extent(limit=limit, all_rows=all_rows, raw=raw)
    asked = {"institution": institution, "from_at": from_at, "to_at": to_at}
    _show(CommandContext.of(ctx), "merchants", extent, order=order, **asked)


def _show(
    context: CommandContext,
    name: str,
    extent: "Extent",
    *,
    institution: str | None,
    from_at: Any,
    to_at: Any,
    order: str,
) -> None:
    """Show what the columns have of the rows, and say if there are more of them.

    Where nobody chose the window it is the last 30 days.
    """
    from cardoffers_cli.reports import page, page_work, work

    window = work.window_of(context.now, from_at, to_at)
    filters = {"institution": institution, "from_at": window.from_at, "to_at": to_at}
    if context.format is Format.html:
        is_usual = from_at is None and to_at is None
        data = page_work.results_page(name, context.job, **filters)
        context.show_page(page.PAGES[name](data, _asked(context, filters, is_usual=is_usual)))
        return
    records = work.read_filtered(
        context.job,
        lambda store, chosen: work.results(
            name, store, context.now, **chosen.window, order=order, limit=extent.most
        ),
        **filters,
    )
    shape = work.RESULTS[name]
    names = {column.name for column in columns_of(shape)}
    rows = [{key: value for key, value in row.items() if key in names} for row in records]
    sheet = Sheet.of(shape, name, rows, totals_by=("currency",))
    context.show({"data": rows}, sheet, raw=extent.raw)
    if any(row[name] > extent.most for row in records):
        context.note("There is more: --all for every row.")


# `cardoffers report funnel`: from offers seen to offers redeemed.


Rows = Sequence[Mapping[str, Any]]


def funnel(
    ctx: typer.Context,
    *,
    institution: Institution,
    from_at: From = None,
    to_at: To = None,
    by: Annotated[By | None, option("Count for each of these too.")] = None,
    compare: Annotated[
        bool, option("Compare with the window of the same length before.", "--compare")
    ] = False,
    raw: Raw = False,
) -> None:
    """Show how many saw offers, added them and redeemed them, as a funnel on a terminal."""
    from cardoffers_cli.reports.work import read_funnel

    context = CommandContext.of(ctx)
    window = {"from_at": from_at, "to_at": to_at}
    if context.format is Format.html:
        show_funnel(context, institution, window, by)
        return
    for_people = context.format in _FOR_PEOPLE
    filters: Mapping[str, Any] = {**window, "by": by}
    result = read_funnel(context.job, institution, **filters, compare=compare)
    blocks: list[Block]
    if context.format is Format.table:
        blocks = [Text([*picture(result)], title=f"Funnel of {institution}"), *_rows(result, by)]
    elif for_people:
        blocks = [*_rows(result, by), *_seen(result)]
        if context.format is Format.xlsx:
            blocks.append(_steps(result))
    else:
        blocks = [*_rows(result, by), _steps(result)]
    context.show(result, *blocks, raw=raw)


_FOR_PEOPLE = {Format.table, Format.md, Format.xlsx}


def _steps(result: "Funnel") -> Sheet:
    from cardoffers_cli.reports.funnel import compared, conversions

    if result.previous is None:
        return Sheet.of_rows("funnel", list(conversions(result.data)))
    return Sheet.of_rows("funnel", list(compared(result.data, result.previous.data)))


def _seen(result: "Funnel") -> Iterator[Sheet]:
    """Yield the cardholders, each a part of the one before, and what happened beside them."""
    from cardoffers_cli.reports.funnel import people, people_compared, volumes

    before = result.previous
    steps = people_compared(result.people, before.people) if before else people(result.people)
    yield Sheet.of_rows("cardholders", list(steps), title="Cardholders")
    happened = volumes(result.data, before and before.data)
    yield Sheet.of_rows("what happened", list(happened), title="What happened")


def _rows(result: "Funnel", by: By | None) -> Iterator[Sheet]:
    from cardoffers_cli.reports.funnel import COUNTED as FUNNEL_BY

    if by and result.by is not None:
        quiet = "day" if by == "day" else ""
        title = _DAYS if by == "day" else None
        yield Sheet.of(FUNNEL_BY[by], f"by {by}", result.by, first=_FIRST, quiet=quiet, title=title)


_FIRST = ("title", "merchant_name", "day")
_DAYS = "By day; redemptions by the day they were decided, and by that of the purchase"


WIDTH = 79
_GAP = "  "


def picture(result: "Funnel") -> Iterator[str]:
    """Yield the lines of a funnel, at most 79 letters wide."""
    previous = result.previous
    yield _between(result.window)
    if previous:
        yield f"compared with {_between(previous.window)}"
    yield ""
    yield from _people(result, previous)
    yield ""
    # Each line counts another thing, so none is a part of another.
    from cardoffers_cli.reports.funnel import volumes

    rows = list(volumes(result.data, previous and previous.data))
    header = ("count", *(("change",) if previous else ()))
    lines = _aligned([header, *((f"{row['count']:,}", *_change(row)) for row in rows)])
    labels = max(len(row["label"]) for row in rows)
    names = ["What happened", *(row["label"] for row in rows)]
    for name, line in zip(names, lines, strict=True):
        yield _GAP.join((name.ljust(labels), line)).rstrip()


def _people(result: "Funnel", previous: "PeopleFunnel | None") -> Iterator[str]:
    """Yield a bar for each step of the cardholders, each a part of the one before."""
    from cardoffers_cli.kernel.cli.blocks import bar
    from cardoffers_cli.reports.funnel import people, people_compared

    counts = result.people
    rows: Rows = list(people_compared(counts, previous.people) if previous else people(counts))
    header = ("cardholders", "of before", *(("change",) if previous else ()))
    numbers = [
        header,
        *((f"{row['count']:,}", percent(row["share"]), *_change(row)) for row in rows),
    ]
    lines = _aligned(numbers)
    labels = max(len(row["step"]) for row in rows)
    width = WIDTH - labels - len(lines[0]) - 2 * len(_GAP)
    yield lines[0].rjust(WIDTH)
    for row, line in zip(rows, lines[1:], strict=True):
        drawn = bar(row["count"], rows[0]["count"], width)
        yield _GAP.join((row["step"].ljust(labels), drawn.ljust(width), line)).rstrip()
    others = counts.all_who_redeemed - counts.redeemed
    if others:
        yield f"{counted(others, 'more cardholder')} redeemed without these steps in this time."


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line of each row, whose cells end below one another."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [_GAP.join(map(str.rjust, row, widths)) for row in rows]


def _between(window: dict[str, datetime]) -> str:
    return f"{format_brief(window['from'])} to {format_brief(window['to'])}"


def _change(row: Mapping[str, Any]) -> tuple[str, ...]:
    if "change" not in row:
        return ()
    if row["change"] is not None:
        return (percent(row["change"], signed=True),)
    return ("new" if row["count"] else "",)


if TYPE_CHECKING:
    Filters = Mapping[str, Any]


def show_rows(context: CommandContext, report: str, filters: "Filters", extent: "Extent") -> None:
    """Show the rows of redemptions or settlements, and above them what they come to."""
    from cardoffers_cli.kernel.sheets.pages import MOST_ROWS
    from cardoffers_cli.reports import page_work, pages
    from cardoffers_cli.reports.work import read_filtered

    read, page_of = {
        "redemptions": (page_work.redemptions_page, pages.redemptions_page),
        "settlements": (page_work.settlements_page, pages.settlements_page),
    }[report]
    most = MOST_ROWS if extent.all_rows else extent.limit
    read = partial(read, limit=most, cursor=extent.cursor)
    data = read_filtered(context.job, read, **filters)
    context.show_page(page_of(data, _asked(context, filters)))


def show_counts(
    context: CommandContext, by: By, filters: "Filters", rows: Sequence[Any], *, is_all: bool
) -> None:
    """Show redemptions by day, offer or merchant."""
    from cardoffers_cli.reports.pages import counts_page

    scope = _asked(context, filters)
    more = scope.command("redemptions", f"--by {by}", file=f"{by}.csv")
    context.show_page(counts_page(by, rows, scope, is_all=is_all, more=more))


def show_unresolved(context: CommandContext, *, limit: int, all_rows: bool, **filters: Any) -> None:
    """Show the identifiers that nobody knows, and why rows were not accepted."""
    from cardoffers_cli.kernel.sheets.pages import MOST_ROWS
    from cardoffers_cli.merchants.page import unknown_page
    from cardoffers_cli.reports import page_work
    from cardoffers_cli.reports.work import read_filtered

    most = MOST_ROWS if all_rows else min(limit, page_work.MOST_ROWS)
    read = partial(page_work.unresolved_page, limit=most)
    data = read_filtered(context.job, read, **filters)
    context.show_page(unknown_page(data, _asked(context, filters)))


def show_funnel(
    context: CommandContext, institution: str, window: Mapping[str, Any], by: By | None
) -> None:
    """Show a funnel of cardholders, what happened beside it, and both by day and by offer."""
    from cardoffers_cli.kernel.sheets.pages import ReportScope
    from cardoffers_cli.reports import page_work as report_pages
    from cardoffers_cli.reports.page import funnel_page

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


def _asked(context: CommandContext, filters: "Filters", *, is_usual: bool = False) -> "ReportScope":
    from cardoffers_cli.kernel.sheets.pages import ReportScope

    return ReportScope(
        as_of=context.now,
        institution=filters["institution"],
        status=filters.get("status"),
        from_at=filters["from_at"],
        to_at=filters["to_at"],
        is_usual=is_usual,
    )
