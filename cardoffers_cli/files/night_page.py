"""The page of a night: one HTML file, plain and whole in itself, to open in any browser.

No script, nothing from elsewhere, and no clock: the same night makes the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.files.sheets import Column, cell_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Rows = Sequence[Mapping[str, Any]]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0 0 2rem; display: block; overflow-x: auto; }
caption, h2 { text-align: left; font-size: 1.25rem; font-weight: 600; margin: 2rem 0 .5rem; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #8884; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
"""

_CAME_IN = (
    Column("institution"),
    Column("currency"),
    Column("received", kind="integer"),
    Column("accepted", kind="integer"),
    Column("duplicates", kind="integer"),
    Column("invalid", kind="integer"),
    Column("amount_accepted", "amount", kind="money"),
)
_REDEEMED = (
    Column("institution"),
    Column("currency"),
    Column("redeemed", kind="integer"),
    Column("merchant_funded_amount", "merchants fund", kind="money"),
    Column("commission_amount", "commission", kind="money"),
    Column("institution_payout_amount", "payout", kind="money"),
)
_SETTLED = (
    Column("institution"),
    Column("currency"),
    Column("settled", "entries", kind="integer"),
    Column("adjustments", kind="integer"),
    Column("settled_merchant_funded_amount", "merchants fund", kind="money"),
    Column("settled_commission_amount", "commission", kind="money"),
    Column("settled_institution_payout_amount", "payout", kind="money"),
)
_WAITING = (Column("waits"), Column("count", kind="integer"))
_FUNNEL = (
    Column("step"),
    Column("count", kind="integer"),
    Column("conversion", "of the step before", kind="number"),
    Column("overall", "of the first", kind="number"),
)
_NUMBERS = {"integer", "money", "number"}


@dataclass(frozen=True, kw_only=True)
class NightPage:
    """What the page shows; rows as `services/nights.py` makes them, funnels by institution."""

    name: str
    as_of: str
    summary: Rows
    waiting: Rows
    funnels: Mapping[str, Rows]
    files: Sequence[str]


def write_page(page: NightPage, out: BinaryIO) -> None:
    """Write the page as UTF-8."""
    out.writelines(f"{line}\n".encode() for line in _lines(page))


def _lines(page: NightPage) -> Iterator[str]:
    title = f"The night of {escape(page.name)}"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield f"<h1>{title}</h1>\n<p>As of {escape(page.as_of)}.</p>"
    yield from _table("What came in", _CAME_IN, page.summary)
    yield from _table("What it became: redemptions", _REDEEMED, page.summary)
    yield from _table("What was settled, net of adjustments", _SETTLED, page.summary)
    yield from _table("What waits", _WAITING, page.waiting)
    for slug, funnel in page.funnels.items():
        yield from _table(f"Funnel of {slug}, the last 30 days", _FUNNEL, funnel)
    yield "<h2>Files</h2>\n<ul>"
    for file in page.files:
        yield f'<li><a href="{escape(file)}">{escape(file)}</a></li>'
    yield "</ul>\n</body>\n</html>"


def _table(
    title: str, columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    yield f"<table>\n<caption>{escape(title)}</caption>"
    yield f"<tr>{''.join(_cell('th', each, each.title or each.name) for each in columns)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(_cell('td', each, _text(each, row)) for each in columns)}</tr>"
    yield "</table>"


def _cell(tag: str, column: Column, text: str) -> str:
    kind = ' class="n"' if column.kind in _NUMBERS else ""
    return f"<{tag}{kind}>{escape(text)}</{tag}>"


def _text(column: Column, row: Mapping[str, Any]) -> str:
    value = column.value(row)
    return f"{value:,}" if column.kind in {"integer", "money"} else cell_text(value)
