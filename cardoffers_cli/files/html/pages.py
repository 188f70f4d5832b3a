"""What a page is made of, and how it becomes HTML.

The same page makes the same bytes: there is no clock here, a page says of which moment it is. Text
that somebody else chose is escaped where it acts or hides (`domain/visible.py`), then for HTML.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.domain.moments import format_brief, format_moment
from cardoffers_cli.domain.visible import visible
from cardoffers_cli.files.html.digits import grouped
from cardoffers_cli.files.html.drawing import can_draw, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from jinja2 import Template

    from cardoffers_cli.files.sheets import Column, Row, Sheet

MOST_ROWS = 1000
"""Rows of one table at most; a page is to be looked at, and all rows are for another format."""
WIDTHS = {"wide": 896, "narrow": 352}
"""The widths every picture is drawn for, in CSS pixels; the style shows the one that fits."""

_FEW = 12
"""Rows of a table that stays open below its picture."""
_MANY_COLUMNS = 8
"""Columns from which on a table is printed across the long side of the paper."""
_LONG = 120
"""Letters from which on a cell shows its beginning, and the whole when it is opened."""
_WORD = 36
"""Letters of the longest word that is never broken: a UUID."""
_SHORT_WORD = 12
_NUMBERS = {"integer", "money", "number"}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture: what it shows, in a few words and in a sentence, and how it is drawn.

    `spec` returns the Vega-Lite specification for a width in pixels. `keys` name the colours by
    their style, if there is more than one.
    """

    title: str
    says: str
    spec: Callable[[int], Mapping[str, Any]]
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page: sentences, pictures, the table of their figures; or lines as they are.

    `in_all` is how many rows there are where the sheet has only the first; `more` says how to get
    the others.
    """

    title: str | None
    lines: Sequence[str] = ()
    text: str | None = None
    pictures: Sequence[Picture] = ()
    sheet: Sheet | None = None
    in_all: int | None = None
    more: str | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: its title, the moment it is of, first figures, sections, and files beside it."""

    title: str
    as_of: datetime | None
    about: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    sections: Sequence[Section] = ()
    files: Sequence[str] = ()


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, its beginning if it is long, and how it is set.

    The styles are of a number (`n`), and of a word that is never broken on a screen (`w`), or that
    is so short that it is not broken on paper either (`s`).
    """

    text: str
    short: str | None
    is_number: bool
    style: str


@dataclass(frozen=True)
class Table:
    """A table as the template shows it: its header with what is a number, and its cells."""

    header: Sequence[tuple[str, bool]]
    rows: Sequence[Sequence[Cell]]
    left_out: int
    is_wide: bool
    is_long: bool


def write_page(page: Page, out: BinaryIO) -> None:
    """Write a page as UTF-8."""
    parts = _template().stream(
        page=page, sections=list(_shown(page)), lacks_pictures=_lacks_pictures(page)
    )
    parts.enable_buffering()
    out.writelines(part.encode("utf-8", "backslashreplace") for part in parts)


def _lacks_pictures(page: Page) -> bool:
    return not can_draw() and any(section.pictures for section in page.sections)


def _shown(page: Page) -> Iterator[dict[str, Any]]:
    for number, section in enumerate(page.sections, start=1):
        yield {
            "number": number,
            "title": section.title,
            "lines": section.lines,
            "text": section.text,
            "pictures": [picture for each in section.pictures if (picture := _drawn(each))],
            "caption": section.sheet and (section.sheet.title or section.sheet.name),
            "table": _table(section, section.sheet) if section.sheet else None,
            "more": section.more,
        }


def _drawn(picture: Picture) -> dict[str, Any] | None:
    drawings = {name: drawn(picture.spec(width)) for name, width in WIDTHS.items()}
    if None in drawings.values():
        return None
    return {
        "title": picture.title,
        "says": picture.says,
        "colours": picture.keys,
        "drawings": drawings,
    }


def _table(section: Section, sheet: Sheet) -> Table:
    rows = iter(sheet.rows)
    shown = [[_cell(column, row) for column in sheet.columns] for row in islice(rows, MOST_ROWS)]
    rest = sum(1 for _ in rows)
    return Table(
        header=[(_heading(column), column.kind in _NUMBERS) for column in sheet.columns],
        rows=shown,
        left_out=max(rest, (section.in_all or 0) - len(shown)),
        is_wide=len(sheet.columns) >= _MANY_COLUMNS,
        is_long=bool(section.pictures) and len(shown) > _FEW,
    )


def _heading(column: Column) -> str:
    text = (column.title or column.name).replace("_", " ").replace(".", " ")
    return text[:1].upper() + text[1:]


def _cell(column: Column, row: Row) -> Cell:
    text = visible(column.cell(row))
    return Cell(
        text,
        short=f"{text[:_LONG]}…" if len(text) > _LONG else None,
        is_number=column.kind in _NUMBERS,
        style="n" if column.kind in _NUMBERS else _of_word(text),
    )


def _of_word(text: str) -> str:
    if " " in text or len(text) > _WORD:
        return ""
    return "w s" if len(text) <= _SHORT_WORD else "w"


def _seen(value: Any) -> Any:
    """Return what stands in a template, text with whatever acts or hides as escapes."""
    return visible(value) if type(value) is str else value


def _as_lines(text: str) -> Any:
    from markupsafe import escape  # noqa: PLC0415  comes with jinja2

    return escape(visible(text, keep="\n"))


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  heavy

    pages = Environment(
        loader=PackageLoader("cardoffers_cli.files", "html"),
        autoescape=True,
        finalize=_seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    pages.filters |= {
        "as_lines": _as_lines,
        "brief": format_brief,
        "exact": format_moment,
        "grouped": grouped,
    }
    return pages.get_template("page.html.j2")
