"""What a page is made of, and how it becomes HTML.

The same page makes the same bytes: there is no clock here, a page says of which moment it is. Text
that somebody else chose is escaped where it acts or hides (`kernel/words/visible.py`), then for
HTML.

A page answers a question: its first line is the answer, in a sentence with its figure. Where a
table can be read in several orders, each is a table of its own and a choice shows one of them: no
script runs, and with a long list behind it every order has the rows that come first in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.kernel.sheets.pictures import Picture
from cardoffers_cli.kernel.sheets.tables import MOST_ROWS, HtmlTable, Link, columns_of, table_of
from cardoffers_cli.kernel.sheets.templates import templates
from cardoffers_cli.kernel.words.sentences import amount_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal

    from cardoffers_cli.kernel.sheets.sheets import Row, Sheet

__all__ = ["MOST_ROWS", "Fact", "Page", "Section", "write_page"]

MOST_LINES = 4
"""Lines of a figure at most."""
_FEW = 12
"""Rows of a table that stays open below columns by day."""
_SECTIONS_TO_LIST = 3


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A figure at the head of a page: its name, its lines, and what it is compared with."""

    name: str
    lines: Sequence[str]
    note: str = ""

    @classmethod
    def of(cls, name: str, value: str | int, note: str = "") -> Fact:
        """Return a fact of one line: a count, or a text as it is."""
        line = value if isinstance(value, str) else f"{value:,}"
        return cls(name=name, lines=[line], note=note)

    @classmethod
    def of_money(cls, name: str, amounts: Mapping[str, Decimal], note: str = "") -> Fact:
        """Return a fact of amounts by currency, a line each, four at most."""
        there = [amount_text(amounts[each], each) for each in sorted(amounts) if amounts[each]]
        lines = there[:MOST_LINES] or ["nothing"]
        if len(there) > MOST_LINES:
            lines.append(f"and {len(there) - MOST_LINES:,} more")
        return cls(name=name, lines=lines, note=note)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page: sentences, pictures, the table of their figures; or lines as they are.

    A picture of too few points is a sentence in its place. `in_all` is how many rows there are
    where the sheet has only the first; `more` is the command that has the others. `order` says by
    what the sheet's rows come, and `orders` has other rows by what they come. `anchor` is for
    links. A section that `is_whole` shows columns too in which nothing counts; one that `is_raw`
    leaves the cells of its table unguarded.
    """

    title: str | None
    lines: Sequence[str] = ()
    text: str | None = None
    pictures: Sequence[Picture | str] = ()
    sheet: Sheet | None = None
    order: str = ""
    orders: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    in_all: int | None = None
    more: str | None = None
    links: Sequence[Link] = ()
    anchor: str = ""
    is_whole: bool = False
    is_raw: bool = False


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: its title, its answer, the moment it is of, first figures, sections, other pages.

    `about` says what it is of, in short; `notes` say at its end how things are counted.
    """

    title: str
    as_of: datetime | None
    headline: str = ""
    about: Sequence[str] = ()
    facts: Sequence[Fact] = ()
    sections: Sequence[Section] = ()
    links: Sequence[Link] = ()
    notes: Sequence[str] = ()


def section_of(sheet: Sheet, *, raw: bool = False) -> Section:
    """Return a sheet of any command as a section that shows all of it."""
    title = sheet.title or sheet.name.replace("_", " ").capitalize()
    return Section(title=title, sheet=replace(sheet, title=title), is_whole=True, is_raw=raw)


def write_page(page: Page, out: BinaryIO) -> None:
    """Write a page as UTF-8."""
    sections = list(_shown(page))
    is_long = len(sections) > _SECTIONS_TO_LIST
    template = templates().get_template("page.html.j2")
    parts = template.stream(page=page, sections=sections, is_long=is_long)
    parts.enable_buffering()
    out.writelines(part.encode("utf-8", "backslashreplace") for part in parts)


def _shown(page: Page) -> Iterator[Mapping[str, Any]]:
    for number, section in enumerate(page.sections, start=1):
        pictures = [each for each in section.pictures if isinstance(each, Picture)]
        sheet = section.sheet
        tables = list(_tables(section, sheet)) if sheet else []
        rows = len(tables[0][1].rows) if tables else 0
        yield {
            "name": section.anchor or f"s{number}",
            "title": section.title,
            "lines": [
                *section.lines,
                *(each for each in section.pictures if isinstance(each, str)),
            ],
            "text": section.text,
            "pictures": pictures,
            "caption": sheet and (sheet.title or section.title or sheet.name),
            "tables": tables,
            "rows": rows,
            "is_folded": any(each.form == "columns" for each in pictures) and rows > _FEW,
            "more": section.more,
            "links": section.links,
        }


def _tables(section: Section, sheet: Sheet) -> Iterator[tuple[str, HtmlTable]]:
    """Yield the table of a section, in each of its orders, with the columns of them all."""
    orders = {section.order: list(sheet.rows), **section.orders}
    sheets = {name: replace(sheet, rows=rows) for name, rows in orders.items()}
    shown = [row for each in sheets.values() for row in islice(each.told()[0], MOST_ROWS)]
    columns = columns_of(sheet, shown, is_whole=section.is_whole)
    for name, chosen in sheets.items():
        yield name, table_of(chosen, section.in_all, columns, guarded=not section.is_raw)
