"""`cardoffers settle`: put what is due into settlements."""

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import DryRun
from cardoffers_cli.cli.show import Column, Sheet, Text

COLUMNS = (
    Column("settlement_id"),
    Column("institution"),
    Column("currency"),
    Column("entries", kind="integer"),
    Column("adjustments", kind="integer"),
    Column("merchant_funded_amount", kind="money"),
    Column("commission_amount", kind="money"),
    Column("institution_payout_amount", kind="money"),
)


def settle(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Settle every ledger entry whose hold has ended: one settlement per institution and currency.

    Amounts are net of adjustments for reversed redemptions. Run again, it settles nothing more.

    Try:

        cardoffers settle
    """
    from cardoffers_cli.jobs.settle import settle_due

    desk = Desk.of(ctx)
    report = settle_due(desk.job, dry_run=dry_run)
    said = f"{report['settled']:,} entries settled, {report['still_pending']:,} still pending"
    sheet = Sheet("settlements", COLUMNS, report["settlements"])
    desk.show(report, sheet, Text([said]))
