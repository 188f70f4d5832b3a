"""Sheets laid out for the eye: a table on a terminal, Markdown, and records where a table is too wide.

Every cell is shown as it is: control and bidi characters as escapes, markup as plain letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from cardoffers_cli.domain.visible import visible
from cardoffers_cli.files.sheets import Column, Sheet

if TYPE_CHECKING:
    from cardoffers_cli.cli.show import Block, Style

_MARKDOWN = re.compile(r"([\\`*\[\]<>|&~])")
_READABLE = 12
_ENDLESS = 1_000_000
_TO_THE_RIGHT = {"integer", "money", "number"}


def print_blocks(blocks: Sequence[Block], style: Style, out: TextIO) -> None:
    """Print sheets and text; only a terminal limits the width."""
    console = _console(style, out)
    for position, block in enumerate(blocks):
        if position:
            console.print()
        if isinstance(block, Sheet):
            _print_sheet(console, block, limited=style.is_terminal)
        else:
            for line in block.lines:
                console.print(Styled(visible(line)), soft_wrap=not style.is_terminal)


def _console(style: Style, out: TextIO) -> Console:
    if not style.is_terminal:
        return Console(file=out, width=_ENDLESS, force_terminal=False, highlight=False)
    return Console(
        file=out, force_terminal=True, no_color=not style.has_colour, highlight=False,
        color_system="auto" if style.has_colour else None,
    )


def _print_sheet(console: Console, sheet: Sheet, *, limited: bool) -> None:
    rows = [[visible(column.cell(row)) for column in sheet.columns] for row in sheet.rows]
    if sheet.title:
        console.print(Styled(visible(sheet.title), style="bold"))
    if not rows:
        console.print(Styled("(none)", style="dim"))
    elif limited and _is_too_wide(sheet.columns, rows, console.width):
        _print_records(console, sheet.columns, rows)
    else:
        console.print(_table(sheet.columns, rows, limited=limited))


def _is_too_wide(columns: Sequence[Column], rows: list[list[str]], width: int) -> bool:
    """Whether a table would break numbers and ids, or squeeze text until nobody can read it."""
    return sum(_least(column, cells) + 2 for column, cells in _by_column(columns, rows)) > width


def _least(column: Column, cells: list[str]) -> int:
    words = [_title(column), *cells]
    if column.kind == "text":
        words = [word for cell in words for word in cell.split()] or [""]
        return min(max(map(cell_len, words)), 3 * _READABLE)
    return max(map(cell_len, words))


def _by_column(
    columns: Sequence[Column], rows: list[list[str]]
) -> Iterator[tuple[Column, list[str]]]:
    return zip(columns, map(list, zip(*rows, strict=True)), strict=True)


def _title(column: Column) -> str:
    return column.title or column.name


def _table(columns: Sequence[Column], rows: list[list[str]], *, limited: bool) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD if limited else None, pad_edge=False, header_style="bold", padding=(0, 1)
    )
    for column in columns:
        right: Any = "right" if column.kind in _TO_THE_RIGHT else "left"
        table.add_column(
            Styled(_title(column)),
            justify=right,
            no_wrap=not limited or column.kind != "text",
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(Styled, row))
    return table


def _print_records(console: Console, columns: Sequence[Column], rows: list[list[str]]) -> None:
    """Print each row as lines of its own, one per column."""
    titles = [_title(column) for column in columns]
    for position, row in enumerate(rows):
        if position:
            console.print()
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for title, cell in zip(titles, row, strict=True):
            grid.add_row(Styled(title), Styled(cell))
        console.print(grid)


def markdown_lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield sheets and text as Markdown, line by line."""
    for position, block in enumerate(blocks):
        if position:
            yield ""
        if isinstance(block, Sheet):
            yield from _markdown_sheet(block)
        else:
            yield from (_markdown_text(line) for line in block.lines)


def _markdown_sheet(sheet: Sheet) -> Iterator[str]:
    if sheet.title:
        yield f"## {_markdown_text(sheet.title)}"
        yield ""
    yield _markdown_row([_title(column) for column in sheet.columns])
    marks = ("---:" if column.kind in _TO_THE_RIGHT else "---" for column in sheet.columns)
    yield f"| {' | '.join(marks)} |"
    for row in sheet.rows:
        yield _markdown_row([column.cell(row) for column in sheet.columns])


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(_markdown_text(cell) for cell in cells)} |"


def _markdown_text(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", visible(text))
