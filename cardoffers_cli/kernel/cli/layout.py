"""Sheets laid out for the eye: tables, records where a table is too wide, Markdown.

Every cell is shown as it is: control and bidi characters as escapes, markup as plain letters. Rich
is imported inside the functions, so that importing the command line stays quick.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TextIO

from cardoffers_cli.kernel.cli.colour import tone_of, tone_of_line
from cardoffers_cli.kernel.sheets.sheets import NUMBERS, Column, Row, Sheet
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as RichText

    from cardoffers_cli.kernel.cli.blocks import Block, Style

_MARKDOWN = re.compile(r"([\\`*\[\]<>|&~]|(?<![^\W_])_|_(?![^\W_]))")
_MARKDOWN_BLOCK = re.compile(r"^( *\d*)(#|[-+.)](?=\s|$)|[-=]+$)")
"""How a line begins that is no text: a title, an item of a list, a rule."""
_GAP = 2
"""Letters between two columns."""
_NOTHING = "(none)"
_FEW = 3
"""Rows that are better shown whole, as records, than in a table that leaves columns out."""
_READABLE = 20
"""Letters a column of text may be squeezed to before records are easier to read."""
_FOLDED = 10
"""The same where every row has to have its line, and text may be broken between words."""
_WORD = 36
"""Letters of the longest word that stays whole: a UUID."""


def print_blocks(blocks: Sequence[Block], style: Style, out: TextIO) -> None:
    """Print sheets and text on a terminal, within its width."""
    console = _console(style, out)
    for position, block in enumerate(blocks):
        if position:
            console.print()
        if isinstance(block, Sheet):
            _print_sheet(console, block)
        else:
            _print_title(console, block.title)
            for line in block.lines:
                console.print(_line(visible(line)))


def _line(line: str) -> RichText:
    """Return a line, the word that it begins with in its colour."""
    from rich.text import Text

    text = Text(line)
    tone, letters = tone_of_line(line)
    if tone:
        text.stylize(tone, 0, letters)
    return text


def print_page(markdown: str, style: Style, out: TextIO) -> None:
    """Print a page of Markdown, no wider than is pleasant to read."""
    from rich.markdown import Markdown

    console = _console(style, out)
    console.print(Markdown(markdown, hyperlinks=False), width=min(console.width, 100))


def markdown_lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield sheets and text as Markdown, line by line."""
    for position, block in enumerate(blocks):
        if position:
            yield ""
        if isinstance(block, Sheet):
            yield from _markdown_title(block.title)
            columns = block.for_people().columns
            marks = ("---:" if column.kind in NUMBERS else "---" for column in columns)
            yield _markdown_row([column.heading for column in columns])
            yield f"| {' | '.join(marks)} |"
            rows, note = block.told()
            for row in rows:
                yield _markdown_row([column.seen(row) for column in columns])
            if note:
                yield ""
                yield note
        else:
            yield from _markdown_title(block.title)
            lines = map(_markdown_text, block.lines)
            yield from (_MARKDOWN_BLOCK.sub(r"\1\\\2", line) for line in lines)


def plain_lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield sheets and text for a file or a pipe: columns in line, nothing boxed or cut."""
    for position, block in enumerate(blocks):
        if position:
            yield ""
        if isinstance(block, Sheet):
            from rich.cells import cell_len

            if block.title:
                yield visible(block.title)
            columns, cells, note = _cells(block)
            lines = [[column.heading for column in columns], *cells]
            widths = [max(map(cell_len, cells)) for cells in zip(*lines, strict=True)]
            for line in lines:
                padded = []
                for column, cell, width in zip(columns, line, widths, strict=True):
                    space = " " * (width - cell_len(cell))
                    padded.append(space + cell if column.kind in NUMBERS else cell + space)
                yield "  ".join(padded).rstrip()
            if note:
                yield note
        else:
            yield from map(visible, [block.title, *block.lines] if block.title else block.lines)


def _console(style: Style, out: TextIO) -> Console:
    from rich.console import Console

    if not style.has_colour:
        return Console(file=out, force_terminal=True, color_system=None, highlight=False)
    return Console(file=out, force_terminal=True, highlight=False)


def _print_sheet(console: Console, sheet: Sheet) -> None:
    from rich.text import Text

    columns, rows, note = _cells(sheet, on_screen)
    _print_title(console, sheet.title)
    if not rows:
        console.print(Text(note or _NOTHING, style="dim"))
        return
    readable = _FOLDED if sheet.is_list else _READABLE
    flat = _that_fit(columns, rows, console.width, console.width) if sheet.is_list else []
    fit = flat or _that_fit(columns, rows, console.width, readable)
    if len(fit) == len(columns):
        console.print(_table(columns, rows, console.width, readable))
    elif fit and (sheet.is_list or len(rows) > _FEW):
        narrowed = [columns[i] for i in fit], [[row[i] for i in fit] for row in rows]
        console.print(_table(*narrowed, console.width, readable))
        left_out = ", ".join(column.heading for i, column in enumerate(columns) if i not in fit)
        console.print(Text(f"Left out on this screen: {left_out}.", style="dim"))
    else:
        _print_records(console, columns, rows)
    if note:
        console.print(Text(note, style="dim"))


def _that_fit(
    columns: Sequence[Column], rows: list[list[str]], width: int, readable: int
) -> list[int]:
    """Return the positions of the columns a table has room for, none if it has no room."""
    cells = list(zip(*rows, strict=True))
    least = [_least(*pair, readable) for pair in zip(columns, cells, strict=True)]
    positions = list(range(len(columns)))
    while sum(least[i] + _GAP for i in positions) - _GAP > width:
        first = max(positions, key=lambda i: columns[i].gives_way)
        if not columns[first].gives_way:
            return []
        positions.remove(first)
    return positions


def _print_title(console: Console, title: str | None) -> None:
    from rich.text import Text

    if title:
        console.print(Text(visible(title), style="bold"))


def on_screen(column: Column, row: Row) -> str:
    """Return a cell as every screen has it: times and numbers as in a sentence.

    In a pipe and in a file the cells are those of every format.
    """
    value = column.value(row)
    if isinstance(value, datetime):
        return format_minute(value)
    if column.kind in {"integer", "money"} and isinstance(value, (int, Decimal)):
        return f"{value:,}"
    return column.seen(row)


def _cells(
    sheet: Sheet, text_of: Callable[[Column, Row], str] = lambda column, row: column.seen(row)
) -> tuple[Sequence[Column], list[list[str]], str]:
    """Return the columns as people see them, their cells, and what to say of rows left out.

    A sheet whose columns have an order for people has none in which nothing stands.
    """
    rows, note = sheet.told()
    columns: Sequence[Column] = sheet.for_people().columns
    cells = [[visible(text_of(column, row)) for column in columns] for row in rows]
    if sheet.first and cells:
        filled = [place for place in range(len(columns)) if any(row[place] for row in cells)]
        columns = [columns[place] for place in filled]
        cells = [[row[place] for place in filled] for row in cells]
    return columns, cells, note


def _least(column: Column, cells: Sequence[str], readable: int) -> int:
    """Return the width below which a column breaks numbers or ids, or squeezes text unreadably."""
    from rich.cells import cell_len

    least = widest = max(map(cell_len, cells))
    if not _stays_whole(column, cells):
        widths = (cell_len(word) for cell in cells for word in cell.split())
        longest = max((width for width in widths if width <= _WORD), default=0)  # up to an id
        least = min(widest, max(readable, longest))
    return max(least, len(column.heading))


def _stays_whole(column: Column, cells: Sequence[str]) -> bool:
    """Whether the cells are numbers, moments, ids or codes, which are never broken."""
    if column.kind != "text":
        return True
    return all(len(cell) <= _WORD and " " not in cell for cell in cells)


def _widths(
    columns: Sequence[Column], rows: list[list[str]], width: int, readable: int
) -> list[int | None]:
    """Return how wide each column is where not all have the room they would take; else None.

    Each has what it needs, and the first ones of text what is left.
    """
    from rich.cells import cell_len

    cells = [list(column) for column in zip(*rows, strict=True)]
    widest = [
        max(cell_len(text) for text in (column.heading, *texts))
        for column, texts in zip(columns, cells, strict=True)
    ]
    widths = [_least(*pair, readable) for pair in zip(columns, cells, strict=True)]
    room = width - sum(widths) - _GAP * (len(widths) - 1)
    if room < 0 or room >= sum(widest) - sum(widths):
        return [None] * len(columns)
    for place, wanted in enumerate(widest):
        more = min(room, wanted - widths[place])
        widths[place] += more
        room -= more
    return [*widths]


def _table(columns: Sequence[Column], rows: list[list[str]], width: int, readable: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        header_style="bold",
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    widths = _widths(columns, rows, width, readable)
    for column, wide, *cells in zip(columns, widths, *rows, strict=True):
        table.add_column(
            Text(column.heading),
            width=wide,
            justify="right" if column.kind in NUMBERS else "left",
            no_wrap=_stays_whole(column, cells),
            overflow="fold",
        )
    for row in rows:
        pairs = zip(columns, row, strict=True)
        table.add_row(*(Text(cell, style=tone_of(column.name, cell)) for column, cell in pairs))
    return table


def _print_records(console: Console, columns: Sequence[Column], rows: list[list[str]]) -> None:
    """Print each row as lines of its own, one per column."""
    from rich.table import Table
    from rich.text import Text

    for position, row in enumerate(rows):
        if position:
            console.print()
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            text = Text(cell, style=tone_of(column.name, cell))
            grid.add_row(Text(column.heading, style="bold"), text)
        console.print(grid)


def _markdown_title(title: str | None) -> Iterator[str]:
    if title:
        yield f"## {_markdown_text(title)}"
        yield ""


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(map(_markdown_text, cells))} |"


def _markdown_text(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", visible(text))
