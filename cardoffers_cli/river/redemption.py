"""`cardoffers redemption`: look at one redemption, or take it back."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from cardoffers_cli.kernel.cli.commands import group
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, DryRun, Yes, argument, option
from cardoffers_cli.kernel.cli.show import Sheet

app = group("Show a redemption, take it back.")


RedemptionId = Annotated[
    str,
    argument(
        "ID", "The redemption: its id, the beginning of that, its purchase's reference, or latest."
    ),
]


@app.command("show")
def show_(
    ctx: typer.Context, redemption_id: RedemptionId, *, institution: AnyInstitution = None
) -> None:
    """Show a redemption: purchase, offer, money, webhook, and every change of its state."""
    from cardoffers_cli.river.redemptions import StateMove
    from cardoffers_cli.river.redemptions_redemptions import show

    context = CommandContext.of(ctx)
    found = show(redemption_id, context.job, institution=institution)
    fields = {name: value for name, value in found.items() if name != "history"}
    context.show(
        found,
        Sheet.of_fields("redemption", fields),
        Sheet.of(StateMove, "history", found["history"], title="History"),
    )


@app.command()
def reverse(
    ctx: typer.Context,
    redemption_id: RedemptionId,
    *,
    reason: Annotated[str, option("Why; kept in the ledger's history.")],
    institution: AnyInstitution = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Reverse a redemption: its budget and its use come back. This is final."""
    from cardoffers_cli.river.reverse import reverse as take_back

    context = CommandContext.of(ctx)
    done = take_back(redemption_id, reason, context.job, institution=institution, dry_run=True)
    if not dry_run:
        context.ask(_question(done), yes=yes)
        done = take_back(str(done["redemption_id"]), reason, context.job)
    context.show(done)


_ENDS = {
    None: "This is final.",
    "given": "A second person has approved it. This is final.",
    "pending": "A second person has to approve it first, and was asked to.",
    "needed": "A second person has to approve it first, and will be asked to.",
}
"""What the question ends with, by how far the approval is that a reversal needs."""


def _question(planned: Mapping[str, Any]) -> str:
    """Say what a reversal is about to move."""
    money = f"{planned['currency']} {{}}"
    deducted = ", deducted from the next settlement" if planned["deducted"] else ""
    return (
        f"Reverse the redemption of {planned['transaction_ref']} of {planned['institution']}, "
        f"{planned['offer_id']} at {planned['merchant_name']}? "
        f"{money.format(planned['institution_payout_amount'])} of cashback is taken back, "
        f"{money.format(planned['merchant_funded_amount'])} of the merchant's{deducted}. "
        f"{_ENDS[planned.get('approval')]}"
    )
