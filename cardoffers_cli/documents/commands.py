"""`cardoffers statement`: what institutions are owed for a month, closed, shown and verified."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import Format, Options, group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Sheet, Text, columns_of
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted

if TYPE_CHECKING:
    from cardoffers_cli.documents.exporting import OpenDocument
    from cardoffers_cli.documents.verifying import VerifiedDocument


# What the commands of statements and of invoices share: the period, and the files they write.


Period = Annotated[str, option("A month, such as 2026-10, or last-month.", metavar="PERIOD")]

_SEALED = {Format.csv, Format.json, Format.html, Format.xlsx}
"""The forms of which a statement, or an invoice, makes the same bytes every time."""


def show_verified(context: CommandContext, rows: "Sequence[VerifiedDocument]", whose: str) -> None:
    """Show what was verified; the exit code is that of findings where anything is wrong."""
    from cardoffers_cli.documents.verifying import VerifiedDocument

    columns = columns_of(VerifiedDocument, f"number {whose} period ok differences sha256")
    wrong = [row.number for row in rows if not row.ok]
    why = f"Wrong: {', '.join(wrong)}." if wrong else ""
    exit_code = WITH_FINDINGS if wrong else 0
    context.show(rows, Sheet("verified", columns, rows), exit_code=exit_code, why=why)


def write_files(
    ctx: typer.Context,
    number: str,
    opened: "Callable[[Any, str], AbstractContextManager[OpenDocument]]",
) -> None:
    """Write the files of a number into the folder -o with its digest, or one into a file."""
    from cardoffers_cli.documents import exporting

    folder = _folder(ctx)
    context = CommandContext.of(ctx)
    chosen = context.options.format
    if folder is not None:
        forms = exporting.FORMS if chosen is None else (_form(chosen),)
        name = number.strip().upper()
        context.writes({f"-o ({form})": folder / f"{name}.{form}" for form in forms})
        with opened(context.job, number) as open_document:
            written = exporting.export(open_document, folder, forms, mode=context.settings.mode)
        context.note(f"Wrote {', '.join(output.file for output in written)} in {folder}")
        return
    form = context.format if chosen or context.output or context.is_terminal else Format.csv
    with opened(context.job, number) as open_document:
        if form in _SEALED:
            with context.writing() as out:
                open_document.write(form, out)
        else:
            document = {**open_document.told, "lines": open_document.lines()}
            context.show(document, Sheet.of(open_document.line, "lines", open_document.lines()))


def _form(chosen: Format) -> str:
    if chosen not in _SEALED:
        raise UsageError(
            f"Nothing is written into a folder as {chosen} here.",
            hint="Choose csv, json, html or xlsx, or name a file with -o.",
        )
    return chosen.value


def _folder(ctx: typer.Context) -> Path | None:
    """Take -o for a folder, where it is one."""
    options = ctx.ensure_object(Options)
    output = options.output
    if output is None or not output.is_dir():
        return None
    options.output = None
    return output


app = group("Statements: what institutions are owed for a month, closed and numbered.")

Number = Annotated[str, argument("NUMBER", "The statement, such as LARKMERE-2026-000010.")]

FIRST = ("number", "institution", "payable")


@app.command()
def preview(ctx: typer.Context, *, institution: options.Institution, period: Period) -> None:
    """Show what a statement would come to now; nothing is closed."""
    from cardoffers_cli.documents import closing

    context = CommandContext.of(ctx)
    sums = closing.preview(context.job, institution, period)
    context.show(sums, Sheet.of_fields("statement", sums), Text(list(_previewed(sums))))


@app.command()
def close(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    every: Annotated[bool, option("Close it for every institution.", "--all")] = False,
    period: Period,
    dry_run: options.DryRun = False,
) -> None:
    """Close a month: what was settled by its end becomes a statement that never changes."""
    from cardoffers_cli.documents import closing
    from cardoffers_cli.documents.closing import CloseResult

    if every == (institution is not None):
        raise UsageError("Name one institution, or --all.", hint="Add -i INST, or --all.")
    context = CommandContext.of(ctx)
    if institution is None:
        rows = closing.close_all(context.job, period, dry_run=dry_run)
        refused = [row for row in rows if row.state == "refused"]
        hints = Text([f"{row.institution}: {row.hint}" for row in refused if row.hint])
        sheet = Sheet.of(CloseResult, "closed", rows)
        context.show(rows, sheet, hints, exit_code=WITH_FINDINGS if refused else 0)
        return
    statement = closing.close_statement(context.job, institution, period, dry_run=dry_run)
    context.show(statement, Sheet.of_fields("statement", statement), Text(list(_closed(statement))))


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: options.AnyInstitution = None,
    limit: options.Limit = 100,
    all_rows: options.All = False,
    raw: options.Raw = False,
) -> None:
    """List statements, the newest period first."""
    from cardoffers_cli.documents.closing import StatementResult
    from cardoffers_cli.documents.reading import statement_rows

    context = CommandContext.of(ctx)
    most = options.Extent(limit=limit, all_rows=all_rows).most
    rows, total = statement_rows(context.job, institution, limit=most)
    context.show(rows, Sheet.of(StatementResult, "statements", rows, first=FIRST), raw=raw)
    if total > len(rows):
        context.note(f"There are {counted(total, 'statement')}: --all for every one.")


@app.command("show")
def show_(ctx: typer.Context, number: Number) -> None:
    """Show a statement, and the settlements that it took."""
    from cardoffers_cli.documents.questions import StatedSettlement
    from cardoffers_cli.documents.reading import show_statement

    context = CommandContext.of(ctx)
    statement = show_statement(context.job, number)
    fields = {name: value for name, value in statement.items() if name != "settlements"}
    sheets = [Sheet.of_fields("statement", fields)]
    if statement.settlements:
        sheets.append(
            Sheet.of(StatedSettlement, "settlements", statement.settlements, title="Settlements")
        )
    context.show(statement, *sheets)


@app.command()
def export(ctx: typer.Context, number: Number) -> None:
    """Write a statement with all its lines: into the folder -o with its digest, or as one file."""
    from cardoffers_cli.documents.exporting import open_statement

    write_files(ctx, number, open_statement)


@app.command()
def verify(
    ctx: typer.Context,
    number: Annotated[str | None, argument("[NUMBER]", "One statement [all of them].")] = None,
    *,
    institution: options.AnyInstitution = None,
) -> None:
    """Hold statements against the ledger, and against the one before each: sums and digests."""
    from cardoffers_cli.documents import verifying

    if number is not None and institution is not None:
        raise UsageError("A number and -i exclude each other.", hint="Leave -i out.")
    context = CommandContext.of(ctx)
    rows = verifying.verify(context.job, number, institution)
    show_verified(context, rows, "institution")


def _closed(statement: Mapping[str, Any]) -> Iterator[str]:
    """Say what was closed, and what to do with it."""
    payable = money_text(statement["payable"], statement["currency"])
    if statement.get("dry_run"):
        yield f"{payable} would be payable. Nothing was written (--dry-run)."
        return
    number = statement["number"]
    yield f"{payable} is payable. Next: `cardoffers statement export {number} -o DIR`."


def _previewed(statement: Mapping[str, Any]) -> Iterator[str]:
    """Say what stands between a preview and its statement."""
    if statement["number"]:
        yield f"It is closed: `cardoffers statement show {statement['number']}`."
        return
    if statement["overdue_count"]:
        due = counted(statement["overdue_count"], "entry was", "entries were")
        yield (
            f"{due} due before {format_brief(statement['to'])} and not settled yet: "
            "`cardoffers settle` first, or they come onto the next statement."
        )
