"""What the commands of statements and of invoices share: the period, and the files they write."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.kernel.cli.commands import Format, Options
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import option
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from cardoffers_cli.documents.exporting import OpenDocument


Period = Annotated[str, option("A month, such as 2026-10, or last-month.", metavar="PERIOD")]

_SEALED = {Format.csv, Format.json, Format.html, Format.xlsx}
"""The forms of which a statement, or an invoice, makes the same bytes every time."""


def show_verified(context: CommandContext, rows: "Sequence[Any]", shape: type[Record]) -> None:
    """Show what was verified; the exit code is that of findings where anything is wrong."""
    wrong = [each.number for each in rows if not each.ok]
    why = f"Wrong: {', '.join(wrong)}." if wrong else ""
    exit_code = WITH_FINDINGS if wrong else 0
    context.show(rows, Sheet.of(shape, "verified", rows), exit_code=exit_code, why=why)


def write_files(
    ctx: typer.Context,
    number: str,
    opened: "Callable[[Any, str], AbstractContextManager[OpenDocument]]",
) -> None:
    """Write the files of a number into the folder -o with its digest, or one into a file."""
    from cardoffers_cli.documents import exporting

    folder = _folder(ctx)
    context = CommandContext.of(ctx)
    asked = context.options.format
    if folder is not None:
        forms = exporting.FORMS if asked is None else (_form(asked),)
        name = number.strip().upper()
        context.writes({f"-o ({form})": folder / f"{name}.{form}" for form in forms})
        with opened(context.job, number) as found:
            written = exporting.export(found, folder, forms, mode=context.settings.mode)
        context.note(f"Wrote {', '.join(each.file for each in written)} in {folder}")
        return
    form = context.format if asked or context.output or context.is_terminal else Format.csv
    with opened(context.job, number) as found:
        if form in _SEALED:
            with context.writing() as out:
                found.write(form, out)
        else:
            document = {**found.told, "lines": found.lines()}
            context.show(document, Sheet.of(found.line, "lines", found.lines()))


def _form(asked: Format) -> str:
    if asked not in _SEALED:
        raise UsageError(
            f"Nothing is written into a folder as {asked} here.",
            hint="Choose csv, json, html or xlsx, or name a file with -o.",
        )
    return asked.value


def _folder(ctx: typer.Context) -> Path | None:
    """Take -o for a folder, where it is one."""
    options = ctx.ensure_object(Options)
    output = options.output
    if output is None or not output.is_dir():
        return None
    options.output = None
    return output
