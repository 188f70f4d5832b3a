"""`cardoffers payout`: write the payment of a statement for the bank, and see what is paid."""

from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cardoffers_cli.kernel.cli.commands import group, needed_output
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, DryRun, argument, option
from cardoffers_cli.kernel.cli.show import Sheet
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.sentences import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.payouts.exporting import ExportedPayout

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
        str | None, option("The statement: its number.", "--statement", metavar="NUMBER")
    ] = None,
    period: Annotated[
        str | None, option("All statements of a month, in a file for each rail.", metavar="PERIOD")
    ] = None,
    form: Annotated[
        Literal["pain.001", "nacha", "csv"] | None,
        option("The form that the bank takes [of a period: that of each rail].", "--form"),
    ] = None,
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
    """Write the payment of a statement, or of a month's, to -o; asked again, the same bytes."""
    from cardoffers_cli.payouts.exporting import export_payout

    if period is not None:
        if statement or due or again or reason:
            raise UsageError(
                "--due, --again and --reason are of one statement, and --period of all of a month.",
                hint="Write --statement NUMBER in place of --period.",
            )
        _export_period(ctx, period, form, dry_run=dry_run)
        return
    if statement is None or form is None:
        raise UsageError(
            "Name a statement and a form, or a period.",
            hint="Such as --statement NUMBER --form pain.001, or --period 2026-10.",
        )
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
    _say_of(context, [payout])
    if payout.approval and dry_run:
        context.note(f"A second person has to approve this: {payout.approval}.")
    if not dry_run:
        before = ", the same as before" if payout.exported_before else ""
        context.note(
            f"Wrote {payout.file}{before}. Compare its SHA-256 with what the bank got, then"
            " `cardoffers bank import FILE` with what the bank answers."
        )


def _export_period(ctx: typer.Context, period: str, form: str | None, *, dry_run: bool) -> None:
    from cardoffers_cli.payouts.exporting import ExportedPayout, UnpaidStatement, export_period

    output = needed_output(ctx, "DIR", "Name the folder to write the files to.")
    context = CommandContext.of(ctx)
    result = export_period(context.job, period, output, form=form, dry_run=dry_run)
    paid, unpaid = result.payments, result.not_paid
    context.show(
        result,
        Sheet.of(ExportedPayout, "payments", paid, totals_by=("currency", "file")),
        *([Sheet.of(UnpaidStatement, "not_paid", unpaid, title="Not paid")] * bool(unpaid)),
        exit_code=WITH_FINDINGS if unpaid else 0,
        why=f"{counted(len(unpaid), 'statement')} of {result.period} not paid:"
        f" {listed(sorted({each.code for each in unpaid}))}.",
    )
    _say_of(context, paid)
    if not (paid or unpaid):
        context.note(f"Nothing of {result.period} is to be paid: all is paid, or not closed yet.")
    if not dry_run and paid:
        context.note(
            f"Wrote {counted(len({each.file for each in paid}), 'file')}. Compare the SHA-256 of"
            " each with what the bank got, then `cardoffers bank import FILE` with what it answers."
        )


def _say_of(context: CommandContext, payments: "Sequence[ExportedPayout]") -> None:
    """Say on stderr what should be looked at before payments are uploaded."""
    if payments and not find_spec("holidays"):
        context.note(
            "Without cardoffers-cli[bank] only Saturdays and Sundays are known: look at due_on."
        )
    for each in payments:
        if each.account_changed:
            context.note(
                f"{each.number} is the first payment to the account that was set on"
                f" {each.account_changed}."
            )
    off = sorted({each.institution for each in payments if each.approvals != "on"})
    if off:
        context.note(f"Approvals are off for {listed(off)}: one person alone pays this.")


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
            f"Destroy the file with {payout.payment_id}. Each statement in it is paid by another"
            f" payment from now on: `cardoffers payout export --statement {number} --form"
            f" {payout.form} -o FILE`."
        )


@app.command("list")
def list_(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    state: Annotated[str | None, option("Only in this state, such as unpaid.")] = None,
    period: Annotated[
        str | None, option("Only of a month, such as 2026-10.", metavar="PERIOD")
    ] = None,
) -> None:
    """List the statements to pay, with the bank's verdict on each."""
    from cardoffers_cli.payouts.reading import ListedPayout, payouts

    context = CommandContext.of(ctx)
    rows = payouts(context.job, institution, period=period, state=state)
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
