"""`cardoffers retention`: how long things are kept, and the end of what is old enough."""

import typer

from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Yes
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.counting import counted

app = group("How long things are kept, and the end of what is old enough.")


@app.command()
def show(ctx: typer.Context) -> None:
    """Show what is kept, for how long, how much of it may go now, and what keeps the rest."""
    from cardoffers_cli.privacy.retention import RetainedKind, show_retention

    context = CommandContext.of(ctx)
    found = show_retention(context.job)
    if all(each.days is None for each in found):
        context.note("Everything is kept for ever: no age is set in [retention].")
    context.show(found, Sheet.of(RetainedKind, "kinds", found))


@app.command()
def run(ctx: typer.Context, *, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Delete files that are older than the age of their kind, for good, unless something keeps them."""  # noqa: E501  one line of help
    from cardoffers_cli.privacy.retention import RetainedKind, run_retention

    context = CommandContext.of(ctx)
    if not dry_run:
        planned = run_retention(context.job, dry_run=True)
        if planned.deleted:
            items = counted(planned.deleted, "item")
            context.ask(f"Delete {items}, {planned.bytes_deleted:,} bytes, for good?", yes=yes)
    done = run_retention(context.job, dry_run=dry_run)
    context.show(done, Sheet.of(RetainedKind, "kinds", done.kinds))
