"""`cardoffers payout`: write the payment of a statement for the bank, and see what is paid."""

from datetime import date
from importlib.util import find_spec
from typing import Annotated, Literal

import typer

from cardoffers_cli.kernel.cli.commands import group, needed_output
from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, DryRun, argument, option
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.errors import UsageError

app = group("Pay statements, and list payments.")


def day(value: str | None) -> str | None:
    """Check that an option is a day."""
    try:
        return value and date.fromisoformat(value).isoformat()
    except ValueError:
        raise typer.BadParameter("a day such as 2026-11-30") from None


@app.command()
def export(
    ctx: typer.Context,
    *,
    statement: Annotated[
        str, option("The statement: its number.", "--statement", metavar="NUMBER")
    ],
    form: Annotated[
        Literal["pain.001", "nacha", "csv"], option("The form that the bank takes.", "--form")
    ],
    due: Annotated[
        str | None,
        option("The day it is to be paid [the next business day].", metavar="DAY", callback=day),
    ] = None,
    again: Annotated[
        bool, option("Pay it once more, as the bank returned or rejected its payment.", "--again")
    ] = False,
    reason: Annotated[
        str | None, option("Why it is paid again; kept with the payment.", metavar="TEXT")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Write the payment of a statement to the file that -o names; asked again, the same bytes."""
    from cardoffers_cli.payouts.exporting import export_payout

    output = needed_output(ctx, "FILE", "Name the file to write for the bank.")
    why = (reason or "").strip()
    if again != bool(why):
        raise UsageError(
            "--again and --reason belong together.",
            hint='Say why it is paid again: --again --reason "the account was closed".',
        )
    context = CommandContext.of(ctx)
    context.writes({"-o": output})
    due_on = date.fromisoformat(due) if due else None
    payout = export_payout(
        *(context.job, statement, form, output), due_on=due_on, again=why or None, dry_run=dry_run
    )
    context.show(payout)
    if not find_spec("holidays"):
        context.note(
            "Without cardoffers-cli[bank] only Saturdays and Sundays are known: look at due_on."
        )
    if payout.account_changed:
        context.note(
            f"This is the first payment to the account that was set on {payout.account_changed}."
        )
    if payout.approvals != "on":
        context.note(f"Approvals are off for {payout.institution}: one person alone pays this.")
    if payout.approval and dry_run:
        context.note(f"A second person has to approve this: {payout.approval}.")
    if not dry_run:
        before = ", the same as before" if payout.exported_before else ""
        context.note(
            f"Wrote {payout.file}{before}. Compare its SHA-256 with what the bank got, then"
            " `cardoffers bank import FILE` with what the bank answers."
        )


@app.command()
def withdraw(
    ctx: typer.Context,
    number: Annotated[str, argument("NUMBER", "The number of the statement.")],
    *,
    reason: Annotated[str, option("Why; kept with the payment.", metavar="TEXT")],
    dry_run: DryRun = False,
) -> None:
    """Withdraw a payment of which the bank said nothing yet: the next export pays by another."""
    from cardoffers_cli.payouts.exporting import withdraw_payout

    context = CommandContext.of(ctx)
    payout = withdraw_payout(context.job, number, reason, dry_run=dry_run)
    context.show(payout)
    if not dry_run:
        context.note(
            f"Destroy the file with {payout.payment_id}, then `cardoffers payout export --statement"
            f" {number} --form {payout.form} -o FILE` pays it by another."
        )


@app.command("list")
def list_(ctx: typer.Context, *, institution: AnyInstitution = None) -> None:
    """List the statements to pay, with the bank's verdict on each."""
    from cardoffers_cli.payouts.reading import ListedPayout, payouts

    context = CommandContext.of(ctx)
    rows = payouts(context.job, institution)
    context.show(rows, Sheet.of(ListedPayout, "payouts", rows, totals_by=("currency", "state")))


@app.command("show")
def show_(
    ctx: typer.Context, number: Annotated[str, argument("NUMBER", "The number of the statement.")]
) -> None:
    """Show the payment of a statement, and every bank message about it."""
    from cardoffers_cli.payouts.reading import ListedBankEntry, ListedPayout, show_payout

    context = CommandContext.of(ctx)
    payout = show_payout(context.job, number)
    fields = {name: value for name, value in payout.items() if name not in {"bank", "withdrawn"}}
    context.show(
        payout,
        Sheet.of_fields("payout", fields),
        Sheet.of(ListedBankEntry, "bank", payout.bank, title="What the bank said"),
        *(
            [Sheet.of(ListedPayout, "withdrawn", payout.withdrawn, title="Withdrawn")]
            * bool(payout.withdrawn)
        ),
    )
