"""`cardoffers demo`: the whole service on sample data, told step by step."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, argument
from cardoffers_cli.kernel.cli.show import Column, Sheet
from cardoffers_cli.kernel.words.errors import UsageError

STEPS = (Column("step", kind="integer"), Column("command"))


def demo(
    ctx: typer.Context,
    folder: Annotated[Path | None, argument("[DIR]", "A new folder, to keep it all.")] = None,
    *,
    dry_run: DryRun = False,
) -> None:
    """Run the whole service on sample data, and tell what happens to the money."""
    from cardoffers_cli.demo import work as job
    from cardoffers_cli.demo.story import story

    context = CommandContext.of(ctx)
    if context.options.store:
        raise UsageError("The demo makes a store of its own.", hint="Leave --store out.")
    moment = context.options.as_of or job.CLOCK
    with (
        job.demo_folder(folder, keep=not dry_run) as place,
        context.progress("Running the demo", job.STEPS) as progress,
    ):
        steps = []
        for step in job.demo(place, replace(context.job, now=moment)):
            steps.append(step)
            progress.advance()
    document = {
        "as_of": moment,
        "folder": folder and str(folder),
        "steps": [vars(step) for step in steps],
        "dry_run": dry_run,
    }
    if context.format in {Format.table, Format.md}:
        context.show(document, *story(steps, None if dry_run else folder))
    else:
        rows = [{"step": number, "command": step.command} for number, step in enumerate(steps, 1)]
        context.show(document, Sheet("steps", STEPS, rows))
