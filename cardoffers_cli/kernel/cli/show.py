"""The only writer to stdout (rules.md#streams): JSON for programs, sheets for readers.

A command gives both and does not ask which is wanted. Cells come from `kernel/sheets/sheets.py`;
this module lays them out, as text of one row a line or as a table.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from cardoffers_cli.kernel.cli.blocks import Block, Style, Text
from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.sheets.exports import OWNER_ONLY, csv_lines, replacing, write_parquet
from cardoffers_cli.kernel.sheets.sheets import Column, Row, Sheet, columns_of
from cardoffers_cli.kernel.words import json_text
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.visible import controls_visible, visible

if TYPE_CHECKING:
    from cardoffers_cli.kernel.sheets.pages import Page

__all__ = ["Block", "Column", "Row", "Sheet", "Style", "Text", "columns_of", "show"]


def format_of(path: Path) -> Format:
    """Return the format a file's suffix asks for."""
    suffix = path.suffix.lower().removeprefix(".")
    named = {"txt": "table", "ndjson": "jsonl", "htm": "html"}.get(suffix, suffix)
    try:
        return Format(named)
    except ValueError:
        raise UsageError.from_table(
            "kernel/cli", "format_unknown", path=path, format=", ".join(Format)
        ) from None


def check(form: Format, output: Path | None) -> None:
    """Refuse, before any work, an output that will not do."""
    if output is not None and not output.resolve().parent.is_dir():
        raise UsageError.from_table("kernel/cli", "folder_missing", output=output)
    if output is not None and output.is_dir():
        raise UsageError(f"{output} is a folder.", code="is_folder", hint="Name a file.")
    if output is None and form in {Format.parquet, Format.xlsx} and is_terminal():
        raise UsageError(f"A terminal cannot show {form}.", code="binary", hint="Add -o FILE.")


def show(document: Any, blocks: Sequence[Block], style: Style, output: Path | None) -> None:
    """Write the outcome to stdout or, whole or not at all, to a file."""
    with replacing(output, mode=style.mode) if output else _stdout() as out:
        _WRITERS[style.format](document, blocks or (_fields(document),), style, out)


def write(content: bytes, output: Path | None, *, mode: int = OWNER_ONLY) -> None:
    """Write bytes as they came; a file gets the mode."""
    with replacing(output, mode=mode) if output else _stdout() as out:
        out.write(content)


@contextmanager
def writing(output: Path | None, *, mode: int = OWNER_ONLY) -> Iterator[BinaryIO]:
    """Open stdout or, whole or not at all, a file of the mode, for bytes that come in pieces."""
    with replacing(output, mode=mode) if output else _stdout() as out:
        yield out


def show_page(page: Page, output: Path | None, *, mode: int = OWNER_ONLY) -> None:
    """Write a page, in HTML, to stdout or, whole or not at all, to a file of the mode."""
    from cardoffers_cli.kernel.sheets.pages import write_page

    with replacing(output, mode=mode) if output else _stdout() as out:
        write_page(page, out)


def page(markdown: str, style: Style) -> None:
    """Write a page to read: laid out on a terminal, as it is in a pipe."""
    if not style.is_terminal:
        say(markdown)
        return
    from cardoffers_cli.kernel.cli.layout import print_page

    with _stdout() as out, _text(out) as text:
        print_page(markdown, style, text)


def say(text: str) -> None:
    """Write plain text."""
    with _stdout() as out:
        out.write(f"{text.rstrip()}\n".encode())


def is_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def hang_up() -> None:
    """Let what is still to be written to stdout go nowhere: its reader has left."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _stdout() -> Iterator[BinaryIO]:
    """Open stdout for bytes; a reader who has seen enough is no error."""
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        hang_up()
    except OSError:
        hang_up()
        raise


def _fields(document: Any) -> Sheet:
    """Make a sheet of a document that came without one."""
    if isinstance(document, Mapping):
        return Sheet.of_fields("result", dict(_flat(document)))
    rows = list(document)
    names = dict.fromkeys(name for row in rows for name in row)
    return Sheet("result", tuple(Column(name) for name in names), rows)


def _flat(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _sheets(blocks: Sequence[Block]) -> list[Sheet]:
    return [block for block in blocks if isinstance(block, Sheet)]


@contextmanager
def _text(out: BinaryIO) -> Iterator[io.TextIOWrapper]:
    """Write UTF-8 and plain line ends, whatever the locale; lone surrogates as escapes."""
    text = io.TextIOWrapper(out, "utf-8", errors="backslashreplace", newline="")
    try:
        yield text
        text.flush()
    finally:
        with suppress(OSError, ValueError):
            text.detach()


def _json(document: Any, _blocks: Sequence[Block], _style: Style, out: BinaryIO) -> None:
    with _text(out) as text:
        text.writelines(json_text.pieces(document, indent=2))
        text.write("\n")


def _jsonl(_document: Any, blocks: Sequence[Block], _style: Style, out: BinaryIO) -> None:
    with _text(out) as text:
        text.writelines(f"{json_text.dumps(row)}\n" for row in _sheets(blocks)[0].records())


def _csv(_document: Any, blocks: Sequence[Block], style: Style, out: BinaryIO) -> None:
    lines = csv_lines(_sheets(blocks)[0], guarded=not style.raw)
    with _text(out) as text:
        text.writelines(_harmless(lines, style))


def _tsv(_document: Any, blocks: Sequence[Block], style: Style, out: BinaryIO) -> None:
    rows = _sheets(blocks)[0].lines(guarded=not style.raw)
    escaped = ([controls_visible(cell.replace("\\", "\\\\")) for cell in cells] for cells in rows)
    lines = ("\t".join(cells) + "\n" for cells in escaped)
    with _text(out) as text:
        text.writelines(_harmless(lines, style))


def _harmless(lines: Iterator[str], style: Style) -> Iterator[str]:
    """Show what acts or hides as escapes, for whatever is piped ends on a terminal too.

    Only raw lines keep every character, and not on a terminal.
    """
    keeps_all = style.raw and not style.is_terminal
    return lines if keeps_all else (visible(line, keep="\t\n") for line in lines)


def _parquet(_document: Any, blocks: Sequence[Block], _style: Style, out: BinaryIO) -> None:
    write_parquet(_sheets(blocks)[0], out)


def _xlsx(_document: Any, blocks: Sequence[Block], style: Style, out: BinaryIO) -> None:
    from cardoffers_cli.kernel.sheets.workbooks import write_xlsx

    write_xlsx(_sheets(blocks), out, guarded=not style.raw)


def _md(_document: Any, blocks: Sequence[Block], _style: Style, out: BinaryIO) -> None:
    from cardoffers_cli.kernel.cli.layout import markdown_lines

    with _text(out) as text:
        text.writelines(f"{line}\n" for line in markdown_lines(blocks))


def _html(_document: Any, blocks: Sequence[Block], style: Style, out: BinaryIO) -> None:
    from cardoffers_cli.kernel.sheets.pages import Page, Section, section_of, write_page

    sections = [
        section_of(block, raw=style.raw)
        if isinstance(block, Sheet)
        else Section(title=block.title, text="\n".join(block.lines))
        for block in blocks
    ]
    page = Page(title=style.title, as_of=style.as_of, about=style.about, sections=sections)
    write_page(page, out)


def _table(_document: Any, blocks: Sequence[Block], style: Style, out: BinaryIO) -> None:
    from cardoffers_cli.kernel.cli.layout import plain_lines, print_blocks

    with _text(out) as text:
        if style.is_terminal:
            print_blocks(blocks, style, text)
        else:
            text.writelines(f"{line}\n" for line in plain_lines(blocks))


_WRITERS: Mapping[Format, Callable[[Any, Sequence[Block], Style, BinaryIO], None]] = {
    Format.table: _table,
    Format.tsv: _tsv,
    Format.csv: _csv,
    Format.json: _json,
    Format.jsonl: _jsonl,
    Format.md: _md,
    Format.html: _html,
    Format.parquet: _parquet,
    Format.xlsx: _xlsx,
}
