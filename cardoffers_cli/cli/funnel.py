"""`cardoffers report funnel`: from offers seen to offers redeemed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.cli.funnel_picture import picture
from cardoffers_cli.cli.kernel.desk import Desk
from cardoffers_cli.cli.kernel.everywhere import Format
from cardoffers_cli.cli.kernel.options import By, From, Institution, Raw, To, option
from cardoffers_cli.cli.kernel.show import Block, Sheet, Text
from cardoffers_cli.domain.funnel import compared, conversions, people, people_compared, volumes
from cardoffers_cli.files.report_columns import BEFORE, FUNNEL, FUNNEL_BY, PEOPLE, VOLUMES

if TYPE_CHECKING:
    from cardoffers_cli.jobs.funnel import Funnel

COMPARED = (*FUNNEL[:-1], *BEFORE, FUNNEL[-1])


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
    from cardoffers_cli.jobs.funnel import read_funnel

    desk = Desk.of(ctx)
    window = {"from_at": from_at, "to_at": to_at}
    if desk.format is Format.html:
        from cardoffers_cli.cli import report_pages

        report_pages.show_funnel(desk, institution, window, by)
        return
    for_people = desk.format in _FOR_PEOPLE
    asked: dict[str, Any] = {**window, "by": by}
    found = read_funnel(desk.job, institution, **asked, compare=compare)
    blocks: list[Block]
    if desk.format is Format.table:
        blocks = [Text(picture(found), title=f"Funnel of {institution}"), *_rows(found, by)]
    elif for_people:
        blocks = [*_rows(found, by), *_seen(found)]
        if desk.format is Format.xlsx:
            blocks.append(_steps(found))
    else:
        blocks = [*_rows(found, by), _steps(found)]
    desk.show(found, *blocks, raw=raw)


_FOR_PEOPLE = {Format.table, Format.md, Format.xlsx}


def _steps(found: "Funnel") -> Sheet:
    if found.previous is None:
        return Sheet("funnel", FUNNEL, list(conversions(found.data)))
    rows = compared(found.data, found.previous.data)
    return Sheet("funnel", COMPARED, list(rows))


def _seen(found: "Funnel") -> Iterator[Sheet]:
    """Yield the cardholders, each a part of the one before, and what happened beside them."""
    before = found.previous
    beside = BEFORE if before else ()
    steps = people_compared(found.people, before.people) if before else people(found.people)
    yield Sheet("cardholders", (*PEOPLE, *beside), list(steps), title="Cardholders")
    happened = volumes(found.data, before and before.data)
    yield Sheet("what happened", (*VOLUMES, *beside), list(happened), title="What happened")


def _rows(found: "Funnel", by: By | None) -> Iterator[Sheet]:
    if by and found.by is not None:
        quiet = "day" if by == "day" else ""
        title = _DAYS if by == "day" else None
        yield Sheet(f"by {by}", FUNNEL_BY[by], found.by, first=_FIRST, quiet=quiet, title=title)


_FIRST = ("title", "merchant_name", "day")
_DAYS = "By day; redemptions by the day they were decided, and by that of the purchase"
