"""`cardoffers report trial-balance`, `report receivables` and `export journal`: the books."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import typer

from cardoffers_cli.kernel.cli import show
from cardoffers_cli.kernel.cli.commands import group, own_output
from cardoffers_cli.kernel.cli.context import WITH_FINDINGS, CommandContext
from cardoffers_cli.kernel.cli.options import AnyInstitution, option
from cardoffers_cli.kernel.cli.show import Column, Sheet, Text, columns_of
from cardoffers_cli.kernel.words.money import money_text

app = group("Export to another system.")


def trial_balance(
    ctx: typer.Context,
    *,
    institution: AnyInstitution = None,
    period: Annotated[
        str | None, option("A month, such as 2026-10, or last-month [all].", metavar="PERIOD")
    ] = None,
    by: Annotated[Literal["party"] | None, option("Of each institution and merchant.")] = None,
) -> None:
    """Show what each account opened with, was debited and credited, and closed with."""
    from cardoffers_cli.accounting import questions

    context = CommandContext.of(ctx)
    asked = {"institution": institution, "period": period, "by_party": bool(by)}
    rows = questions.trial_balance(context.job, **asked)
    columns = columns_of(questions.TrialBalanceRow, "account party" if by else "account")
    columns += columns_of(questions.TrialBalanceRow, "currency opening debit credit closing")
    sheet = Sheet("trial balance", columns, rows)
    wrong = [
        f"The journal does not balance: {money_text(amount, currency)} too much."
        " `cardoffers doctor --strict` says where."
        for currency in sorted({row.currency for row in rows if institution is None})
        if (amount := sum((row.closing for row in rows if row.currency == currency), Decimal(0)))
    ]
    context.show(rows, sheet, *([Text(wrong)] * bool(wrong)), exit_code=WITH_FINDINGS * bool(wrong))


def receivables(ctx: typer.Context, *, institution: AnyInstitution = None) -> None:
    """Show what merchants owe of each invoice, what was received, and how long it is overdue."""
    from cardoffers_cli.accounting import questions

    context = CommandContext.of(ctx)
    rows = questions.receivables(context.job, institution)
    sheet = Sheet.of(questions.Receivable, "receivables", rows, totals_by=("currency", "state"))
    context.show(rows, sheet)


@app.command()
def journal(
    ctx: typer.Context,
    *,
    period: Annotated[
        str, option("A month, such as 2026-10, or last-month.", "--period", metavar="PERIOD")
    ],
    form: Annotated[
        Literal["csv", "xero", "beancount"], option("What it is for: any table, or one of these.")
    ] = "csv",
    accounts: Annotated[
        Path | None, option("The codes of the accounts, as TOML.", metavar="MAP.toml")
    ] = None,
) -> None:
    """Write the journal of a month for an accounting system: a table, or as Xero or Beancount."""
    from cardoffers_cli.accounting import questions

    output = own_output(ctx) if form == "beancount" else None
    context = CommandContext.of(ctx)
    context.writes({"-o": output}, reads=[accounts] if accounts else [])
    if form == "beancount":
        text = "".join(questions.beancount(context.job, period))
        show.write(text.encode(), output, mode=context.settings.mode)
        return
    lines = questions.posted_lines(context.job, period, accounts)
    if form == "xero":
        rows = questions.xero_rows(lines)
        names = ("Narration", "Date", "Description", "AccountCode", "TaxRate", "Amount")
        context.show(rows, Sheet("journal", tuple(map(Column, names)), rows))
    else:
        context.show(lines, Sheet.of(questions.PostedLine, "journal", lines))
