"""`cardoffers inbox`: what an institution's team was told."""

from typing import Annotated

import typer

from cardoffers_cli.events.inbox_inbox import Message
from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Institution, argument, option
from cardoffers_cli.kernel.cli.questions import question
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.errors import UsageError

app = group("List and read the messages to an institution's team.")


question(
    *(app, "list", "events/inbox_inbox:messages", Message),
    says="List the messages, the newest first.",
    asks="one_institution unread_only",
    unread_only=(Annotated[bool, option("Only what nobody has read.", "--unread")], False),
    sheet="messages",
    data=False,
)


@app.command()
def read(
    ctx: typer.Context,
    message_id: Annotated[
        str | None, argument("MESSAGE_ID", "The message: its id, the beginning of that, or latest.")
    ] = None,
    *,
    institution: Institution,
    all_unread: Annotated[bool, option("Every message that is unread.", "--all")] = False,
    dry_run: DryRun = False,
) -> None:
    """Show a message, or all that are unread, and mark it as read; the first time counts."""
    from cardoffers_cli.events.inbox import read_messages

    if all_unread == (message_id is not None):
        raise UsageError("Name one message, or --all.", hint="`cardoffers inbox list` has the ids.")
    context = CommandContext.of(ctx)
    told = read_messages(context.job, institution, message_id, dry_run=dry_run)
    context.show(told, Sheet.of(Message, "messages", told))
