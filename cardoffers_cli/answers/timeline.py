"""`cardoffers timeline`: everything that happened, from any id."""

from typing import Annotated

import typer

from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import AllInstitutions, AskedInstitution, argument
from cardoffers_cli.kernel.cli.show import Sheet


def timeline(
    ctx: typer.Context,
    id_: Annotated[
        str,
        argument(
            "ID",
            "A reference, or the id of a redemption, ledger entry, settlement, import, "
            "webhook (its redemption), link or transaction. Of the first five the beginning does, "
            "and latest is the newest redemption.",
        ),
    ],
    *,
    institution: AskedInstitution = None,
    everywhere: AllInstitutions = False,
) -> None:
    """Show everything that happened, from the purchase to the money, and what comes next."""
    from cardoffers_cli.answers.timelines import ExpectedEvent, TimelineEvent
    from cardoffers_cli.answers.timelines_timeline import tell_timeline

    context = CommandContext.of(ctx)
    owner = context.institution(institution, everywhere=everywhere)
    found = tell_timeline(id_, owner, context.job, everywhere=everywhere)
    if not found.expected:
        context.note("Nothing more is expected.")
    context.show(
        found,
        Sheet.of(TimelineEvent, "events", found.events),
        Sheet.of(ExpectedEvent, "expected", found.expected, title="Expected next"),
    )
