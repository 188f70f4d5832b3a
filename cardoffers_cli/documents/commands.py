"""`cardoffers statement`: what institutions are owed for a month, closed, shown and verified."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from cardoffers_cli.documents.documents import Period, show_verified, write_files
from cardoffers_cli.kernel.cli import options
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import argument, option
from cardoffers_cli.kernel.cli.show import Sheet, Text
from cardoffers_cli.kernel.words.counting import counted
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.moments import format_brief
from cardoffers_cli.kernel.words.money import money_text

app = group("Statements: what institutions are owed for a month, closed and numbered.")

Number = Annotated[str, argument("NUMBER", "The statement, such as LARKMERE-2026-000010.")]

FIRST = ("number", "institution", "payable")


@app.command()
def preview(ctx: typer.Context, *, institution: options.Institution, period: Period) -> None:
    """Show what a statement would come to now; nothing is closed."""
    from cardoffers_cli.documents import closing

    context = CommandContext.of(ctx)
    found = closing.preview(context.job, institution, period)
    context.show(found, Sheet.of_fields("statement", found), Text(list(_previewed(found))))


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
        refused = [each for each in rows if each.state == "refused"]
        told = Text([f"{each.institution}: {each.hint}" for each in refused if each.hint])
        sheet = Sheet.of(CloseResult, "closed", rows)
        context.show(rows, sheet, told, exit_code=WITH_FINDINGS if refused else 0)
        return
    made = closing.close_statement(context.job, institution, period, dry_run=dry_run)
    context.show(made, Sheet.of_fields("statement", made), Text(list(_closed(made))))


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
    rows, found = statement_rows(context.job, institution, limit=most)
    context.show(rows, Sheet.of(StatementResult, "statements", rows, first=FIRST), raw=raw)
    if found > len(rows):
        context.note(f"There are {counted(found, 'statement')}: --all for every one.")


@app.command("show")
def show_(ctx: typer.Context, number: Number) -> None:
    """Show a statement, and the settlements that it took."""
    from cardoffers_cli.documents.questions import StatedSettlement
    from cardoffers_cli.documents.reading import show_statement

    context = CommandContext.of(ctx)
    found = show_statement(context.job, number)
    fields = {name: value for name, value in found.items() if name != "settlements"}
    sheets = [Sheet.of_fields("statement", fields)]
    if found.settlements:
        sheets.append(
            Sheet.of(StatedSettlement, "settlements", found.settlements, title="Settlements")
        )
    context.show(found, *sheets)


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
    show_verified(context, rows, verifying.VerifiedStatement)


def _closed(made: Mapping[str, Any]) -> Iterator[str]:
    """Say what was closed, and what to do with it."""
    payable = money_text(made["payable"], made["currency"])
    if made.get("dry_run"):
        yield f"{payable} would be payable. Nothing was written (--dry-run)."
        return
    number = made["number"]
    yield f"{payable} is payable. Next: `cardoffers statement export {number} -o DIR`."


def _previewed(found: Mapping[str, Any]) -> Iterator[str]:
    """Say what stands between a preview and its statement."""
    if found["number"]:
        yield f"It is closed: `cardoffers statement show {found['number']}`."
        return
    if found["overdue_count"]:
        due = counted(found["overdue_count"], "entry was", "entries were")
        yield (
            f"{due} due before {format_brief(found['to'])} and not settled yet: "
            "`cardoffers settle` first, or they come onto the next statement."
        )
