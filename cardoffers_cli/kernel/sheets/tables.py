"""Tables of a page: which columns, in which order, what a cell shows, and how wide it all is.

The columns are those of `kernel/sheets/sheets.py` for people. An amount stands with its currency,
so a column of currencies is needless; an id shows its first eight characters and is whole when it
is copied or pointed at, and a column of nothing but ids stands last whatever it is called. Where a
table has no room its rows become blocks, which needs its width: it is estimated from its texts.

A spreadsheet opens a page as it opens a workbook, so text is guarded against formulas here, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.sheets.sheets import NUMBERS, Column, guard
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cardoffers_cli.kernel.sheets.sheets import Row, Sheet

MOST_ROWS = 1000
"""Rows of one table at most; a page is to be looked at, and all rows are for another format."""

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_SHOWN_OF_ID = 8
_LONG = 120
"""Letters from which on a cell shows its beginning, and the whole when it is opened."""
_WORD = 36
"""Letters of the longest word that is never broken."""
_SHORT_WORD = 12
_LETTER, _GAP = 7.3, 20
"""Pixels of a letter, and between two columns, about."""
_LINE = 22
"""Letters of a line of text that is read with ease in a narrow column."""
_STEPS = (300, 380, 460, 560, 680, 800, 920, 1040)
"""The widths in pixels below which the style makes rows of a table into blocks."""
_PAGE = 960
"""Pixels from which on a table may be wider than the widest page, as it is estimated."""
_ON_PAPER = 880
"""Pixels up to which a table is printed upright."""


@dataclass(frozen=True)
class Link:
    """A cell that leads to another page or place."""

    text: str
    href: str


@dataclass(frozen=True)
class PrintedCommand:
    """A cell that is to be typed."""

    text: str


@dataclass(frozen=True)
class Advice:
    """A cell that tells what to do, in which names of fields stand out."""

    text: str


@dataclass(frozen=True)
class State:
    """A cell whose text is good, a warning or an alarm; the text says so itself."""

    text: str
    tone: str


@dataclass(frozen=True)
class Cell:
    """A cell: its text, its beginning if it is long, and how it is set.

    `form` is what it is: `text`, `number`, `money`, `id`, `link`, `command`, `advice` or `state`.
    The styles are of a number (`n`), and of a word that is never broken on a screen (`w`), or that
    is so short that it is not broken on paper either (`s`). `extra` is the rest of an id, a
    currency, an address or a tone.
    """

    form: str
    text: str
    style: str
    extra: str = ""
    short: str | None = None


@dataclass(frozen=True)
class HtmlTable:
    """A table as the template shows it: its header with what is a number, and its cells.

    `room` is the width below which its rows become blocks; `is_wide` says that it may be wider than
    any page, and `is_across` that it is printed along the long side of the paper.
    """

    header: Sequence[tuple[str, bool]]
    rows: Sequence[Sequence[Cell]]
    said: str
    left_out: int
    room: int
    is_wide: bool
    is_across: bool


def table_of(
    sheet: Sheet,
    in_all: int | None = None,
    columns: Sequence[Column] | None = None,
    *,
    guarded: bool = True,
) -> HtmlTable:
    """Return a sheet as people see it, with as many rows as a page has room for."""
    active, note = sheet.told()
    rows = iter(active)
    first_rows = list(islice(rows, MOST_ROWS))
    more_count = sum(1 for _ in rows)
    columns = columns or columns_of(sheet, first_rows)
    cells = [[_cell(column, row, guarded=guarded) for column in columns] for row in first_rows]
    width = sum(_width(column, cells, place) for place, column in enumerate(columns))
    return HtmlTable(
        header=[(column.label, column.kind in NUMBERS) for column in columns],
        rows=cells,
        said=note,
        left_out=max(more_count, (in_all or 0) - len(first_rows)),
        room=next((step for step in _STEPS if step >= width), _STEPS[-3]),
        is_wide=width > _PAGE,
        is_across=width > _ON_PAPER,
    )


def columns_of(sheet: Sheet, rows: Sequence[Row], *, is_whole: bool = False) -> list[Column]:
    """Return the columns to show of some rows, ids last.

    Left out are the currencies that amounts carry and, unless the whole is wanted, columns in which
    nothing stands or counts.
    """
    columns = sheet.for_people().columns
    named = {column.currency_from for column in columns if column.kind == "money"}
    first, *others = (column for column in columns if column.name not in named)
    chosen = [first, *(column for column in others if is_whole or any(map(column.value, rows)))]
    ids = [column for column in chosen if column.kind == "id" or _are_ids(column, rows)]
    return [
        *(column for column in chosen if column not in ids),
        *(Column(column.name, column.title, kind="id") for column in ids),
    ]


def _are_ids(column: Column, rows: Sequence[Row]) -> bool:
    texts = {str(value) for row in rows if (value := column.value(row)) is not None}
    return bool(texts) and all(map(_UUID.fullmatch, texts))


def _cell(column: Column, row: Row, *, guarded: bool) -> Cell:
    def harmless(text: str) -> str:
        return visible(guard(text) if guarded else text)

    value = column.value(row)
    match value:
        case Link(text, href):
            label = harmless(text)
            cell = Cell("link", label, _of_word(label), href)
        case PrintedCommand(text):
            cell = Cell("command", harmless(text), "")
        case Advice(text):
            cell = Cell("advice", harmless(text), "")
        case State(text, tone):
            label = harmless(text)
            cell = Cell("state", label, _of_word(label), tone)
        case datetime():
            cell = Cell("text", format_brief(value).removesuffix(" UTC"), "w s")
        case Decimal() if column.kind == "money":
            currency = visible(str(row.get(column.currency_from) or ""))
            cell = Cell("money", column.seen(row), "n" if value else "n none", currency)
        case str():
            cell = _of_text(column, harmless(value))
        case _:
            cell = _of_text(column, visible(column.seen(row)))
    return cell


def _of_text(column: Column, text: str) -> Cell:
    if column.kind in NUMBERS:
        return Cell("number", text, "n none" if text == "0" else "n")
    if column.kind == "id" or _UUID.fullmatch(text):
        return Cell("id", text[:_SHOWN_OF_ID], "w s", text[_SHOWN_OF_ID:])
    short = f"{text[:_LONG]}…" if len(text) > _LONG else None
    return Cell("text", text, _of_word(text), short=short)


def _of_word(text: str) -> str:
    if not text or " " in text or len(text) > _WORD:
        return ""
    return "w s" if len(text) <= _SHORT_WORD else "w"


def _width(column: Column, cells: Iterable[Sequence[Cell]], place: int) -> float:
    """Return how many pixels a column asks for."""
    words = max((min(len(word), _WORD) for word in column.label.split()), default=0)
    letters = max((_letters(row[place]) for row in cells), default=0)
    return max(words, letters) * _LETTER + _GAP


def _letters(cell: Cell) -> int:
    """Return the letters of a cell's longest line."""
    text = cell.short or cell.text
    if cell.form == "money":
        return len(text) + min(len(cell.extra), 4) + len(text) // 4
    if cell.form == "number":
        return len(text) + len(text) // 4
    longest = max(map(len, text.split()), default=0)
    return max(min(longest, _WORD), min(len(text), _LINE))
