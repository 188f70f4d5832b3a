"""Reports as pages to look at: pictures first, then rows, only the first if there are many."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.moments import format_brief, format_moment
from cardoffers_cli.domain.money import money_text
from cardoffers_cli.files.html import sections
from cardoffers_cli.files.html.pages import MOST_ROWS, Page, Section
from cardoffers_cli.files.report_columns import REDEMPTIONS, SETTLEMENTS
from cardoffers_cli.files.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cardoffers_cli.cli.desk import Desk
    from cardoffers_cli.cli.funnel import By
    from cardoffers_cli.files.sheets import Column

    Filters = dict[str, Any]

_LATELY = "Events of redemptions of the last 30 days."


def show_redemptions(
    desk: Desk, filters: Filters, *, limit: int, cursor: str | None, all_rows: bool
) -> None:
    """Show redemptions by day, the merchants and budgets they were of, and the rows."""
    from cardoffers_cli.jobs.report_pages import redemptions_page

    most = MOST_ROWS if all_rows else limit
    found = redemptions_page(desk.job, limit=most, cursor=cursor, **filters)
    in_all = sum(row["redemptions"] for row in found["days"])
    rows = _rows("redemptions", REDEMPTIONS, found["rows"], in_all, filters)
    parts = [
        sections.days_section(found["days"], more=_export("redemptions", filters, by="day")),
        sections.counts_section("merchant", found["merchants"], title="Top merchants"),
        sections.budgets_section(found["budgets"]),
        sections.webhooks_section(found["webhooks"], lines=[_LATELY]),
        rows,
    ]
    _show(desk, "Redemptions", filters, parts, _counted(found["days"]))


def show_counts(desk: Desk, by: By, filters: Filters, rows: Sequence[Any], *, is_all: bool) -> None:
    """Show redemptions by day, offer or merchant."""
    title = f"Redemptions by {by}"
    lines = [] if is_all else ["There is more: --all shows every row."]
    if by.value == "day":
        more = _export("redemptions", filters, by="day")
        part = sections.days_section(rows, title=title, lines=lines, more=more)
    else:
        part = sections.counts_section(by.value, rows, title=title, lines=lines)
    _show(desk, title, filters, [part], _counted(rows) if is_all else ())


def show_settlements(
    desk: Desk, filters: Filters, *, limit: int, cursor: str | None, all_rows: bool
) -> None:
    """Show what ledger entries come to, and the rows."""
    from cardoffers_cli.jobs.report_pages import settlements_page

    most = MOST_ROWS if all_rows else limit
    found = settlements_page(desk.job, limit=most, cursor=cursor, **filters)
    in_all = sum(row["entries"] for row in found["totals"])
    rows = _rows("settlements", SETTLEMENTS, found["rows"], in_all, filters)
    _show(desk, "Settlements", filters, [sections.totals_section(found["totals"]), rows])


PAGES = {"redemptions": show_redemptions, "settlements": show_settlements}
"""The reports that come in pages."""


def show_unresolved(desk: Desk, filters: Filters, *, limit: int, all_rows: bool) -> None:
    """Show the identifiers that nobody knows, and why rows were not accepted."""
    from cardoffers_cli.jobs.report_pages import unresolved_page

    most = MOST_ROWS if all_rows else limit
    found = unresolved_page(desk.job, limit=most, **filters)
    more = _export("unresolved", filters)
    parts = [
        sections.unresolved_section(found["rows"], in_all=found["in_all"], more=more),
        sections.rejects_section(found["rejects"], lines=["Of the files imported meanwhile."]),
    ]
    _show(desk, "Unresolved", filters, parts)


def show_funnel(
    desk: Desk, institution: str, found: dict[str, Any], sheets: Sequence[Sheet]
) -> None:
    """Show a funnel, and below it what it was taken apart by; the last sheet is the funnel's."""
    *others, steps = sheets
    window = found["window"]
    parts = [
        sections.funnel_section(list(steps.rows), title="Steps", columns=steps.columns),
        *(sections.plain_section(each, title=each.name.capitalize()) for each in others),
    ]
    named = {"institution": institution, "from_at": window["from"], "to_at": window["to"]}
    _show(desk, "Funnel", named, parts)


def _show(
    desk: Desk,
    title: str,
    filters: Filters,
    parts: Sequence[Section],
    facts: Sequence[tuple[str, str]] = (),
) -> None:
    desk.show_page(
        Page(
            title=f"{title} of {filters['institution']}" if filters["institution"] else title,
            as_of=desk.now,
            about=list(_chosen(filters)),
            facts=facts,
            sections=parts,
        )
    )


def _chosen(filters: Filters) -> Iterator[str]:
    """Yield in words what the report is restricted to."""
    bounds = [
        f"{word} {format_brief(filters[name])}"
        for word, name in (("from", "from_at"), ("up to", "to_at"))
        if filters.get(name)
    ]
    if bounds:
        yield f"{' '.join(bounds).capitalize()}."
    if filters.get("status"):
        yield f"Only what is {filters['status']}."


def _counted(days: Sequence[Any]) -> list[tuple[str, str]]:
    """Return what counted redemptions come to in all."""
    payouts: dict[str, Decimal] = {}
    for row in days:
        currency, amount = row["currency"], row["institution_payout_amount"]
        payouts[currency] = payouts.get(currency, Decimal(0)) + amount
    return [
        ("redemptions", str(sum(row["redemptions"] for row in days))),
        *(("payout", money_text(payouts[currency], currency)) for currency in sorted(payouts)),
        ("reversed since", str(sum(row["reversed"] for row in days))),
    ]


def _rows(
    name: str, columns: Sequence[Column], rows: Sequence[Any], in_all: int, filters: Filters
) -> Section:
    title = f"{name.capitalize()}, newest first"
    lines = [f"The newest {len(rows)} of {in_all}."] if len(rows) < in_all else []
    sheet = Sheet(name, tuple(columns), rows, title=title)
    return Section(
        title=title, lines=lines, sheet=sheet, in_all=in_all, more=_export(name, filters)
    )


def _export(name: str, filters: Filters, *, by: str | None = None) -> str:
    """Return the command that writes every row to a file."""
    wanted = (
        ("--by", by),
        ("-i", filters["institution"]),
        ("--status", filters["status"]),
        ("--from", filters["from_at"] and format_moment(filters["from_at"])),
        ("--to", filters["to_at"] and format_moment(filters["to_at"])),
    )
    options = "".join(f" {option} {value}" for option, value in wanted if value)
    return f"cardoffers report {name}{options} --all -o {by or name}.csv"
