"""`cardoffers nightly`: everything that a night has to do; `cardoffers file`: what it took."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli.commands import Format, group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import (
    AnyInstitution,
    DryRun,
    Engine,
    Limit,
    Yes,
    argument,
    option,
)
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Sheet, Text
from cardoffers_cli.kernel.words.errors import StoreBusy
from cardoffers_cli.kernel.words.moments import parse_duration
from cardoffers_cli.kernel.words.money import money_text
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.river.commands import taken_line
from cardoffers_cli.river.stored_imports import ListedFile

if TYPE_CHECKING:
    from cardoffers_cli.night.options import NightResult


LogFormat = Literal["text", "json"]
"""How a night tells what it does."""


def duration(value: str) -> float:
    """Read a length of time as seconds."""
    try:
        return parse_duration(value).total_seconds()
    except ValueError:
        raise typer.BadParameter(f"{value!r} is no length of time; write 10m or 90s") from None


WebhookTime = Annotated[
    str, option("How long to send webhooks; the rest stays due.", metavar="TIME", callback=duration)
]
MetricsFile = Annotated[
    Path | None,
    option("Write metrics to this .prom file, whatever the run comes to.", metavar="FILE"),
]
Log = Annotated[LogFormat, option("How to tell of the steps.", "--log-format")]


def nightly(
    ctx: typer.Context,
    drop: Annotated[Path, argument("DROP_DIR", "Holds a folder for each institution.")],
    *,
    webhook_time: WebhookTime = "10m",
    metrics_file: MetricsFile = None,
    log_format: Log = "text",
    engine: Engine = None,
    dry_run: DryRun = False,
) -> None:
    """Do the nightly run: import, match, refund, settle, notices, webhooks, reports, audits, copy."""  # noqa: E501  one line of help
    from cardoffers_cli.night.options import NightOptions

    context = CommandContext.of(ctx, engine=engine)
    context.writes({"--metrics-file": metrics_file})
    order = NightOptions(
        drop=drop,
        webhook_time_s=as_seconds(webhook_time),
        is_clock_chosen=context.options.as_of is not None,
        wait_s=context.options.lock_wait or 0,
        metrics_file=metrics_file,
    )
    if dry_run:
        from cardoffers_cli.night.run import rehearse

        with context.progress("Rehearsing the nightly run"):
            result = rehearse(context.job, order)
    else:
        from cardoffers_cli.night.run import run_night

        with onlooker(context, log_format) as looking:
            result = run_night(context.job, order, looking)
    show_night(context, result, log_format)


def show_night(context: CommandContext, result: "NightResult", log_format: LogFormat) -> None:
    """Show what a night came to, and tell it on stderr where stdout does not show all of it.

    With it is told what nobody was told yet of nights before, which may have been killed, and
    nothing that was told before. What needs no attention is not said to those who want quiet.
    """
    from cardoffers_cli.kernel.cli import exits
    from cardoffers_cli.night.options import NOTHING_NEW, exit_code_of
    from cardoffers_cli.night.screen import ending_lines, night_blocks
    from cardoffers_cli.night.status import tell_nights, untold_nights

    untold = list["NightResult"]()
    with suppress(StoreBusy):  # it is over, whoever holds the store by now
        untold = [] if result.dry_run else untold_nights(context.job)
    nights = untold or [replace(result, findings=[]) if result.status == NOTHING_NEW else result]
    exit_code = max(map(exit_code_of, nights))
    is_read = context.is_terminal and context.format is Format.table
    for night in nights:
        if log_format == "json":
            onlooker(context, log_format).over(night)
        elif not (is_read and night.run_id == result.run_id) and (
            exit_code or not context.options.quiet
        ):
            exits.tell("\n".join(ending_lines(night)), as_it_is=True)
    context.show(result, *night_blocks(result), why="")
    with suppress(StoreBusy):  # a kill before this, behind what was shown, repeats it
        tell_nights(context.job, untold)
    if exit_code:
        raise typer.Exit(exit_code)


def onlooker(context: CommandContext, log_format: LogFormat) -> Any:
    """Return who tells of the steps."""
    from cardoffers_cli.night.screen import JsonLines, NightLines

    return (JsonLines if log_format == "json" else NightLines)(context)


def as_seconds(value: Any) -> float:
    """Return an option that its callback has turned into seconds; Typer leaves a default as is."""
    return duration(value) if isinstance(value, str) else float(value)


# `cardoffers run`: the nights that were, what each came to, and going on with one.
#
# A file that changed after a night took it is a finding of every night until somebody answers it,
# by an import of what was not read or by `run accept`.


app = group("List nightly runs, and resume one that did not end.")

_FIRST = ("night", "state", "files", "failed_files", "last_step")


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    every: Annotated[bool, option("Runs of every kind.", "--all")] = False,
    limit: Limit = 30,
) -> None:
    """List the nightly runs, newest first."""
    from cardoffers_cli.night.questions import ListedNight, RunRecord
    from cardoffers_cli.night.status import list_nights, list_runs

    context = CommandContext.of(ctx)
    if context.format is Format.html and not every:
        from cardoffers_cli.night.run_pages import runs_page
        from cardoffers_cli.night.status import night_history

        history = night_history(context.job, limit)
        context.show_page(runs_page(history.nights, context.now, in_all=history.in_all, pages=()))
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
    from cardoffers_cli.night.options import NightResult, StepReport
    from cardoffers_cli.night.screen import night_blocks
    from cardoffers_cli.night.status import show_run

    context = CommandContext.of(ctx)
    result = show_run(context.job, run_id)
    if isinstance(result, NightResult):
        steps = Sheet.of(StepReport, "steps", result.steps, title="Steps")
        context.show(result, steps, *night_blocks(result))
    else:
        context.show(result)


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
    """Resume a nightly run that did not end, where it stopped and by its clock."""
    context = CommandContext.of(ctx)
    context.writes({"--metrics-file": metrics_file})
    if dry_run:
        from cardoffers_cli.night.run import rehearse_rest

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
    """Accept a file that changed after a nightly run imported it; the change stays unread."""
    from cardoffers_cli.storage.file_changes import FileChangeRow, accept_taken

    context = CommandContext.of(ctx)
    change = accept_taken(context.job, file, dry_run=dry_run)
    context.show(change, Sheet.of(FileChangeRow, "accepted", [change]))


files_app = group("Imported and held files: list, undo, release.")


question(
    *(files_app, "list", "river/withdrawals:listed", ListedFile),
    says="List imported and held files with their results, newest first.",
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


@files_app.command()
def undo(
    ctx: typer.Context,
    import_id: Annotated[str, argument("IMPORT_ID", "The import, or how its id begins.")],
    *,
    reason: Annotated[str, option("Why; it is kept.", metavar="TEXT")],
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Undo the import of a file, as if it had never come, before any of it settles."""
    from cardoffers_cli.river.withdrawals import undo_import

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


@files_app.command()
def release(
    ctx: typer.Context,
    file: Annotated[str, argument("FILE", "The file that is held: INST/NAME, or its name.")],
    *,
    institution: AnyInstitution = None,
    dry_run: DryRun = False,
) -> None:
    """Import a held file as it is now, after a person checked that it is complete."""
    from cardoffers_cli.night.intake import release_file
    from cardoffers_cli.river.checking_commands import show_files

    context = CommandContext.of(ctx)
    row = release_file(context.job, file, institution, dry_run=dry_run)
    show_files(context, [{**row.document()}], [row.report], Text([*map(taken_line, row.parts)]))
