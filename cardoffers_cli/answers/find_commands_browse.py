"""`cardoffers browse`: one screen to search, look and answer."""

import os
import select
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.exits import Terminated, on_ctrl_c
from cardoffers_cli.kernel.cli.extras import extra
from cardoffers_cli.kernel.cli.options import argument, institution_option, option
from cardoffers_cli.kernel.store.clock import Clock

if TYPE_CHECKING:
    from cardoffers_cli.answers.browse.inquiry import Inquiry

EXTRA = {"textual"}
"""The packages of the extra `browse`."""

_LONGEST = 4096  # bytes of a line; nothing that is looked for is as long


def browse(
    ctx: typer.Context,
    query: Annotated[list[str] | None, argument("QUERY", "What to look for first.")] = None,
    *,
    institution: Annotated[
        str | None,
        institution_option(
            help="The institution: slug or id [the only one, else it is asked for]."
        ),
    ] = None,
    text: Annotated[
        bool, option("Plain lines in place of a screen, also in a pipe.", "--text")
    ] = False,
) -> None:
    """Search, look and answer, on one screen; nothing is changed."""
    from cardoffers_cli.answers.browse.inquiry import Inquiry

    context = CommandContext.of(ctx)
    inquiry = Inquiry(context.job, Clock(context.options.as_of).now, institution)
    can_move = sys.stdin.isatty() and os.environ.get("TERM") != "dumb"
    if not (text or (context.is_terminal and can_move)):
        context.note("This terminal shows no screen, so here it is in plain lines.")
        text = True
    show = _talk if text else _show
    show(context, inquiry, " ".join(query or ()))


def _show(context: CommandContext, inquiry: "Inquiry", query: str) -> None:
    with extra("browse", EXTRA, "The screen"):
        from cardoffers_cli.answers.browse.app import Browser
    screen = Browser(inquiry, query, has_colour=context.has_colour)
    ended_by = screen.run()
    if screen.fault:
        raise screen.fault
    if ended_by:
        raise KeyboardInterrupt if ended_by == signal.SIGINT else Terminated


def _talk(context: CommandContext, inquiry: "Inquiry", query: str) -> None:
    from cardoffers_cli.answers.browse.plain import Talk

    def read() -> str | None:
        if sys.stdin.isatty():
            select.select([sys.stdin], [], [])  # Ctrl-C ends this; polars lets a read go on
        line = sys.stdin.buffer.readline(_LONGEST)
        return line.decode(errors="replace") if line else None

    width = shutil.get_terminal_size().columns if context.is_terminal else None
    talk = Talk(inquiry, read, context.say, context.note, on_ctrl_c=on_ctrl_c, width=width)
    talk.run(query)
    if talk.failures:
        raise typer.Exit(WITH_FINDINGS)
