"""`cardoffers redemption`: look at one redemption, or take it back."""

from typing import Annotated

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import DryRun
from cardoffers_cli.cli.show import Column, Sheet

app = typer.Typer(
    name="redemption",
    help="Show a redemption, take it back.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


HISTORY = (
    Column("moved_at", kind="moment"),
    Column("status"),
    Column("actor"),
    Column("reason"),
)

RedemptionId = Annotated[str, typer.Argument(metavar="ID", help="The redemption's id.")]


@app.callback()
def redemption() -> None:
    """Show a redemption, take it back."""


@app.command("show")
def show_(ctx: typer.Context, redemption_id: RedemptionId) -> None:
    """Show a redemption: purchase, offer, money, webhook, and every change of its state.

    Try:

        cardoffers redemption show 6b0e...
    """
    from cardoffers_cli.jobs.redemptions import show  # polars is heavy

    desk = Desk.of(ctx)
    found = show(redemption_id, desk.job)
    fields = [{"field": name, "value": each} for name, each in found.items() if name != "history"]
    desk.show(
        found,
        Sheet("redemption", (Column("field"), Column("value")), fields),
        Sheet("history", HISTORY, found["history"], title="History"),
    )


@app.command()
def reverse(
    ctx: typer.Context,
    redemption_id: RedemptionId,
    *,
    reason: Annotated[str, typer.Option(help="Why; kept in the ledger's history.")],
    dry_run: DryRun = False,
) -> None:
    """Reverse a redemption: its budget and its use come back. This is final.

    A settled one is deducted from the next settlement. It cannot be dated before the redemption or
    its settlement, nor in the future (exit 4).

    Try:

        cardoffers redemption reverse 6b0e... --reason "goods returned"
    """
    from cardoffers_cli.jobs.reverse import reverse as take_back

    desk = Desk.of(ctx)
    desk.show(take_back(redemption_id, reason, desk.job, dry_run=dry_run))
