"""`cardoffers run`: the nights that were, what each came to, and going on with one."""

from typing import Annotated, Any

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.nightly import (
    Log,
    LogFormat,
    WebhookTime,
    as_seconds,
    exit_code_of,
    onlooker,
)
from cardoffers_cli.cli.options import Format, Limit
from cardoffers_cli.cli.show import Column, Sheet

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

NIGHTS = (
    Column("run_id", kind="id"),
    Column("as_of", kind="moment", gives_way=1),
    Column("status"),
    Column("last_step", "last step", gives_way=2),
    Column("files", kind="integer"),
    Column("failed_files", "failed", kind="integer"),
    Column("began_at", kind="moment", gives_way=4),
    Column("ended_at", kind="moment", gives_way=3),
)
RUNS = (
    Column("run_id", kind="id"),
    Column("kind"),
    Column("as_of", kind="moment"),
    Column("actor", gives_way=1),
    Column("counts", gives_way=2),
)


@app.callback()
def run() -> None:
    """Look at the nights, and go on with one that did not end."""


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    every: Annotated[bool, typer.Option("--all", help="Runs of every kind, not nights.")] = False,
    limit: Limit = 30,
) -> None:
    """List the nights, the newest first.

    Try:

        cardoffers run list
        cardoffers run list --all --limit 100
        cardoffers run list --limit 400 -o nights.html
    """
    from cardoffers_cli.jobs.night.history import list_nights, list_runs

    desk = Desk.of(ctx)
    if desk.format is Format.html and not every:
        _show_nights(desk, limit)
        return
    rows = list_runs(desk.job, limit) if every else list_nights(desk.job, limit)
    desk.show(rows, Sheet("runs", RUNS if every else NIGHTS, rows))


def _show_nights(desk: Desk, limit: int) -> None:
    """Show the nights as the page that lies beside their reports."""
    from cardoffers_cli.files.html.runs import runs_page
    from cardoffers_cli.jobs.night.history import night_history

    found = night_history(desk.job, limit)
    desk.show_page(runs_page(found["nights"], desk.now, in_all=found["in_all"], pages=()))


@app.command()
def show(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="The night, or any run.")],
) -> None:
    """Show a night step by step, with its files and its findings; of another run, its counts.

    Try:

        cardoffers run show 4b9d...
    """
    from cardoffers_cli.cli.night_screen import step_blocks
    from cardoffers_cli.jobs.night.history import show_run

    desk = Desk.of(ctx)
    found = show_run(desk.job, run_id)
    desk.show(found, *(step_blocks(found) if "steps" in found else ()))


@app.command()
def resume(
    ctx: typer.Context,
    run_id: Annotated[
        str | None, typer.Argument(metavar="[RUN_ID]", help="The night; else the oldest one.")
    ] = None,
    *,
    webhook_time: WebhookTime = "10m",
    log_format: Log = LogFormat.text,
) -> None:
    """Go on with a night that did not end, where it stopped and by the clock it had.

    `cardoffers nightly` does the same before it begins another night.

    Try:

        cardoffers run resume
    """
    from cardoffers_cli.cli.night_screen import night_blocks
    from cardoffers_cli.jobs.night.run import resume_night  # httpx is heavy

    desk = Desk.of(ctx)
    options: dict[str, Any] = {
        "wait_s": desk.options.lock_wait or 0,
        "webhook_time_s": as_seconds(webhook_time),
    }
    with onlooker(desk, log_format) as looking:
        result = resume_night(desk.job, run_id, onlooker=looking, **options)
    desk.show(result, *night_blocks(result), exit_code=exit_code_of(result))
