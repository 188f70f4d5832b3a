"""What a page is made of, and how it becomes HTML.

The same page makes the same bytes: there is no clock here, a page says of which moment it is. Text
that somebody else chose is escaped where it acts or hides (`kernel/words/sentences.py`), then for
HTML.

A page answers a question: its first line is the answer, in a sentence with its figure. Where a
table can be read in several orders, each is a table of its own and a choice shows one of them: no
script runs, and with a long list behind it every order has the rows that come first in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.kernel.sheets.pictures import Picture
from cardoffers_cli.kernel.sheets.sheets import guard
from cardoffers_cli.kernel.sheets.tables import MOST_ROWS, HtmlTable, Link, columns_of, table_of
from cardoffers_cli.kernel.words.moments import format_brief, format_moment
from cardoffers_cli.kernel.words.sentences import amount_text, date_text
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal

    from jinja2 import Environment

    from cardoffers_cli.kernel.sheets.sheets import Row, Sheet


# The templates of pages and of what stands on them, and how a value stands in one.


_AMOUNT = re.compile(r" (?=%)|(?<=\b[A-Z]{3}) (?=-?\d)")
_FIELD = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def _seen(value: Any) -> Any:
    """Return what stands in a template, text with whatever acts or hides as escapes."""
    return visible(value) if type(value) is str else value


def _said(text: str) -> str:
    """Return a sentence in which a number stays on one line with its sign or its currency."""
    return _AMOUNT.sub("\u00a0", text)


@cache
def templates() -> Environment:
    """Return the templates of this folder, and how a value stands in one."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  heavy
    from markupsafe import Markup, escape  # noqa: PLC0415  comes with jinja2

    pages = Environment(
        loader=PackageLoader("cardoffers_cli.kernel", "sheets"),
        autoescape=True,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    pages.filters |= {
        "as_lines": lambda text: escape(visible(text, keep="\n")),
        "brief": format_brief,
        # A sentence in which names of fields are set as code.
        "coded": lambda text: Markup(  # noqa: S704  escaped
            _FIELD.sub(r"<code>\g<0></code>", str(escape(visible(text))))
        ),
        "exact": format_moment,
        "grouped": grouped,
        "said": _said,
        "told": lambda text: _said(guard(text)),  # it may begin with a name from outside
    }
    return pages


_WHOLE = re.compile(r"(?<=^[+-])\d{4,}|^\d{4,}")


def thousands(digits: str) -> list[str]:
    """Cut digits into groups of three, from the right."""
    head = len(digits) % 3
    return [*([digits[:head]] if head else []), *re.findall("...", digits[head:])]


def grouped(text: str) -> Any:
    """Return a number as HTML: each group but the first of its whole part stands in a `span`.

    Whatever begins otherwise than a number is text, and stays as it is.
    """
    from markupsafe import Markup, escape  # noqa: PLC0415  comes with jinja2

    digits, point, decimals = str(escape(visible(text))).partition(".")
    return Markup(_WHOLE.sub(_spans, digits) + point + decimals)  # noqa: S704  escaped above


def _spans(match: re.Match[str]) -> str:
    first, *others = thousands(match[0])
    return first + "".join(f"<span>{group}</span>" for group in others)


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
        there = [amount_text(amounts[code], code) for code in sorted(amounts) if amounts[code]]
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
        pictures = [picture for picture in section.pictures if isinstance(picture, Picture)]
        sheet = section.sheet
        tables = list(_tables(section, sheet)) if sheet else []
        rows = len(tables[0][1].rows) if tables else 0
        yield {
            "name": section.anchor or f"s{number}",
            "title": section.title,
            "lines": [
                *section.lines,
                *(line for line in section.pictures if isinstance(line, str)),
            ],
            "text": section.text,
            "pictures": pictures,
            "caption": sheet and (sheet.title or section.title or sheet.name),
            "tables": tables,
            "rows": rows,
            "is_folded": any(picture.form == "columns" for picture in pictures) and rows > _FEW,
            "more": section.more,
            "links": section.links,
        }


def _tables(section: Section, sheet: Sheet) -> Iterator[tuple[str, HtmlTable]]:
    """Yield the table of a section, in each of its orders, with the columns of them all."""
    orders = {section.order: list(sheet.rows), **section.orders}
    sheets = {name: replace(sheet, rows=rows) for name, rows in orders.items()}
    first = [row for view in sheets.values() for row in islice(view.told()[0], MOST_ROWS)]
    columns = columns_of(sheet, first, is_whole=section.is_whole)
    for name, chosen in sheets.items():
        yield name, table_of(chosen, section.in_all, columns, guarded=not section.is_raw)


# What was asked of a page: of whom and of which time, in words and as a command.
#
# The command writes every row to a file, where a page has the first of them.


@dataclass(frozen=True, kw_only=True)
class ReportScope:
    """What a report is restricted to, None by nothing.

    `is_usual` says that nobody chose the window.
    """

    as_of: datetime
    institution: str | None = None
    status: str | None = None
    from_at: datetime | None = None
    to_at: datetime | None = None
    is_usual: bool = False

    def titled(self, name: str) -> str:
        """Return the title of a page."""
        return f"{name} of {self.institution}" if self.institution else name

    @property
    def time(self) -> str:
        """The window in a sentence, `in the 30 days up to 1 October 2026`; nothing without one.

        It is told in days; `said` has its moments.
        """
        if self.is_usual and self.from_at:
            days = ((self.to_at or self.as_of) - self.from_at).days
            return f"in the {days} days up to {date_text(self.to_at or self.as_of)}"
        bounds = [
            f"{word} {date_text(moment)}"
            for word, moment in (("from", self.from_at), ("up to", self.to_at))
            if moment
        ]
        return " ".join(bounds)

    @property
    def ending(self) -> str:
        """The window as the end of a sentence, with the blank before it."""
        return f" {self.time}" if self.time else ""

    def said(self, what: str) -> Iterator[str]:
        """Yield in words what the page is restricted to; `what` the window is of."""
        bounds = [
            f"{word} {format_brief(moment)}"
            for word, moment in (("from", self.from_at), ("up to", self.to_at or self.as_of))
            if moment and (self.from_at or self.to_at)
        ]
        if bounds:
            yield f"{what} {' '.join(bounds)}."
        if self.status:
            yield f"Only what is {self.status}."

    def command(
        self, report: str, *more: str, file: str, by_status: bool = True, every: str = "--all"
    ) -> str:
        """Return the command that writes every row to a file.

        A report that takes no state, or has no option for every row, is asked without it.
        """
        wanted = (
            ("-i", self.institution),
            ("--status", self.status if by_status else None),
            ("--from", self.from_at and format_moment(self.from_at)),
            ("--to", self.to_at and format_moment(self.to_at)),
        )
        options = [f"{option} {value}" for option, value in wanted if value]
        words = ("cardoffers report", report, *more, *options, every, "-o", file)
        return " ".join(filter(None, words))
