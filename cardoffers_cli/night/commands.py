"""`cardoffers nightly`: everything that a night has to do, in one command."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cardoffers_cli.kernel.cli.commands import Format
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Engine, argument, option
from cardoffers_cli.kernel.words.errors import StoreBusy
from cardoffers_cli.kernel.words.moments import parse_duration

if TYPE_CHECKING:
    from cardoffers_cli.night.result import NightResult

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
    """Do the nightly run: import, match, refund, settle, notices, webhooks, reports, audits, snapshot."""  # noqa: E501  one line of help
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
        from cardoffers_cli.night.rehearsal import rehearse

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
    from cardoffers_cli.night.history import tell_nights, untold_nights
    from cardoffers_cli.night.result import NOTHING_NEW, exit_code_of
    from cardoffers_cli.night.screen import ending_lines, night_blocks

    untold = list["NightResult"]()
    with suppress(StoreBusy):  # it is over, whoever holds the store by now
        untold = [] if result.dry_run else untold_nights(context.job)
    told = untold or [replace(result, findings=[]) if result.status == NOTHING_NEW else result]
    exit_code = max(map(exit_code_of, told))
    is_read = context.is_terminal and context.format is Format.table
    for each in told:
        if log_format == "json":
            onlooker(context, log_format).over(each)
        elif not (is_read and each.run_id == result.run_id) and (
            exit_code or not context.options.quiet
        ):
            exits.tell("\n".join(ending_lines(each)), as_it_is=True)
    context.show(result, *night_blocks(result), why="")
    with suppress(StoreBusy):  # a kill before this, behind what was shown, repeats it
        tell_nights(context.job, untold)
    if exit_code:
        raise typer.Exit(exit_code)


def onlooker(context: CommandContext, log_format: LogFormat) -> Any:
    """Return who tells of the steps."""
    from cardoffers_cli.night.log import JsonLines, NightLines

    return (JsonLines if log_format == "json" else NightLines)(context)


def as_seconds(value: Any) -> float:
    """Return an option that its callback has turned into seconds; Typer leaves a default as is."""
    return duration(value) if isinstance(value, str) else float(value)
