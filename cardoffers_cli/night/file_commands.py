"""`cardoffers file`: files that were taken or are held, taking one back, and taking a held one."""

from typing import Annotated

import typer

from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, DryRun, Yes, argument, option
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Text
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river.commands import taken_line
from cardoffers_cli.river.withdrawals import ListedFile

app = group("Files that were taken or are held: list them, take one back, release one.")


question(
    *(app, "list", "river/withdrawals:listed", ListedFile),
    says="List the files that were taken or are held, and what came of them, the newest first.",
    asks="institution period limit all_rows raw",
    period=(
        Annotated[
            str | None,
            option("Only those taken in a month: 2026-10, or last-month.", metavar="MONTH"),
        ],
        None,
    ),
    sheet="files",
    data=False,
    counts="file",
)


@app.command()
def undo(
    ctx: typer.Context,
    import_id: Annotated[str, argument("IMPORT_ID", "The import, or how its id begins.")],
    *,
    reason: Annotated[str, option("Why; it is kept.", metavar="TEXT")],
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Take a file of purchases back, as if it had never come, before anything of it settled."""
    from cardoffers_cli.river.undo import undo_import

    context = CommandContext.of(ctx)
    if not dry_run and not yes:
        plan = undo_import(import_id, reason, context.job, dry_run=True)
        context.confirm(
            f"Withdraw {plan.file} of {plan.institution}: {counted(plan.purchases, 'purchase')},"
            f" {counted(plan.redemptions, 'redemption')} of"
            f" {money_text(plan.merchant_funded_amount, plan.currency)}?",
            yes=yes,
        )
    result = undo_import(import_id, reason, context.job, dry_run=dry_run)
    context.show(result)
    if result.approval and dry_run:
        context.note(f"A second person has to approve this: {result.approval}.")


@app.command()
def release(
    ctx: typer.Context,
    file: Annotated[str, argument("FILE", "The file that is held: INST/NAME, or its name.")],
    *,
    institution: AnyInstitution = None,
    dry_run: DryRun = False,
) -> None:
    """Take a file that is held, as it is now: somebody looked, and it is no half."""
    from cardoffers_cli.night.intake import release_file
    from cardoffers_cli.river.report_commands import show_files

    context = CommandContext.of(ctx)
    row = release_file(context.job, file, institution, dry_run=dry_run)
    show_files(context, [{**row.document()}], [row.report], Text([*map(taken_line, row.parts)]))
