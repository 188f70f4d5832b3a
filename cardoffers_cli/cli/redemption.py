"""`cardoffers redemption`: what is done to one redemption."""

from typing import Annotated

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import DryRun

app = typer.Typer(
    name="redemption",
    help="Take redemptions back.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def redemption() -> None:
    """Take redemptions back."""


@app.command()
def reverse(
    ctx: typer.Context,
    redemption_id: Annotated[str, typer.Argument(metavar="ID", help="The redemption's id.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; kept in the ledger's history.")],
    dry_run: DryRun = False,
) -> None:
    """Reverse a redemption: its budget and its use come back. This is final.

    A settled one is deducted from the next settlement.

    Try:

        cardoffers redemption reverse 6b0e... --reason "goods returned"
    """
    from cardoffers_cli.jobs.reverse import reverse as take_back

    desk = Desk.of(ctx)
    desk.show(take_back(redemption_id, reason, desk.job, dry_run=dry_run))
