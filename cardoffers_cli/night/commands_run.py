"""`cardoffers run`: the nights that were, what each came to, and going on with one.

A file that changed after a night took it is a finding of every night until somebody answers it, by
an import of what was not read or by `run accept`.
"""

from typing import Annotated

import typer

from cardoffers_cli.kernel.cli.commands import Format, group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Limit, argument, option
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.night.commands import (
    Log,
    MetricsFile,
    WebhookTime,
    as_seconds,
    onlooker,
    show_night,
)

app = group("Look at the nightly runs, and go on with one that did not end.")

_FIRST = ("night", "state", "files", "failed_files", "last_step")


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    every: Annotated[bool, option("Runs of every kind.", "--all")] = False,
    limit: Limit = 30,
) -> None:
    """List the nightly runs, the newest first."""
    from cardoffers_cli.night.history import list_nights, list_runs
    from cardoffers_cli.night.questions import ListedNight, RunRecord

    context = CommandContext.of(ctx)
    if context.format is Format.html and not every:
        from cardoffers_cli.night.history import night_history
        from cardoffers_cli.night.run_pages import runs_page

        found = night_history(context.job, limit)
        context.show_page(runs_page(found.nights, context.now, in_all=found.in_all, pages=()))
        return
    rows = list_runs(context.job, limit) if every else list_nights(context.job, limit)
    if every:
        context.show(rows, Sheet.of(RunRecord, "runs", rows, is_list=True))
    else:
        context.show(rows, Sheet.of(ListedNight, "runs", rows, first=_FIRST, is_list=True))


@app.command()
def show(
    ctx: typer.Context,
    run_id: Annotated[
        str,
        argument("RUN_ID", "A nightly run or any run: its id, the beginning of that, or latest."),
    ],
) -> None:
    """Show a nightly run step by step, with its files and its findings; of another run, its counts."""  # noqa: E501  one line of help
    from cardoffers_cli.night.history import show_run
    from cardoffers_cli.night.result import NightResult
    from cardoffers_cli.night.screen import step_blocks

    context = CommandContext.of(ctx)
    found = show_run(context.job, run_id)
    context.show(found, *(step_blocks(found) if isinstance(found, NightResult) else ()))


@app.command()
def resume(
    ctx: typer.Context,
    run_id: Annotated[
        str | None,
        argument(
            "[RUN_ID]",
            "The nightly run: its id, the beginning of that, or latest; else the oldest one.",
        ),
    ] = None,
    *,
    webhook_time: WebhookTime = "10m",
    metrics_file: MetricsFile = None,
    log_format: Log = "text",
    dry_run: DryRun = False,
) -> None:
    """Go on with a nightly run that did not end, where it stopped and by the clock it had."""
    context = CommandContext.of(ctx)
    context.writes({"--metrics-file": metrics_file})
    if dry_run:
        from cardoffers_cli.night.rehearsal import rehearse_rest

        with context.progress("Rehearsing the nightly run"):
            result = rehearse_rest(context.job, run_id)
    else:
        from cardoffers_cli.night.run import resume_night

        with onlooker(context, log_format) as looking:
            result = resume_night(
                context.job,
                run_id,
                onlooker=looking,
                wait_s=context.options.lock_wait or 0,
                webhook_time_s=as_seconds(webhook_time),
                metrics_file=metrics_file,
            )
    show_night(context, result, log_format)


@app.command()
def accept(
    ctx: typer.Context,
    file: Annotated[str, argument("INST/NAME", "The file, as the finding names it.")],
    *,
    dry_run: DryRun = False,
) -> None:
    """Accept a file that grew or changed after a nightly run took it: what came later stays unread."""  # noqa: E501  one line of help
    from cardoffers_cli.storage.file_changes import FileChangeRow, accept_taken

    context = CommandContext.of(ctx)
    found = accept_taken(context.job, file, dry_run=dry_run)
    context.show(found, Sheet.of(FileChangeRow, "accepted", [found]))
