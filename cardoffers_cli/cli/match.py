"""`cardoffers match`: decide which purchases redeem which offers."""

from typing import Annotated

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import DryRun


def match(
    ctx: typer.Context,
    *,
    rematch: Annotated[
        bool, typer.Option("--rematch", help="Look again at all that never redeemed.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Match every purchase that is not decided yet to the offers its cardholder has added.

    Purchases whose merchant is unknown wait, and are tried again each time.

    Try:

        cardoffers match --as-of 2026-11-01T00:00:00Z
    """
    from cardoffers_cli.jobs.match import match_purchases

    desk = Desk.of(ctx)
    with desk.progress("Matching"):
        report = match_purchases(desk.job, rematch=rematch, dry_run=dry_run)
    desk.show(report.document())
