"""`cardoffers settle`: put what is due into settlements."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer

from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun
from cardoffers_cli.kernel.cli.show import Sheet, Text
from cardoffers_cli.kernel.words.moments import format_moment

FIRST = ("institution", "currency", "institution_payout_amount")


def settle(ctx: typer.Context, *, dry_run: DryRun = False) -> None:
    """Settle every ledger entry whose hold has ended: one settlement per institution and currency."""  # noqa: E501  one line of help
    from cardoffers_cli.river.settle import NewSettlement
    from cardoffers_cli.river.settlements_settle import settle_due

    context = CommandContext.of(ctx)
    report = settle_due(context.job, dry_run=dry_run)
    sheet = Sheet.of(NewSettlement, "settlements", report["settlements"], first=FIRST)
    context.show(report, sheet, Text(list(_said(report))))


def _said(report: Mapping[str, Any]) -> Iterator[str]:
    """Say what was settled, what waits, and for how long."""
    if report["settled"] or not report["settlements"]:
        yield f"{report['settled']:,} ledger entries {'are' if report['dry_run'] else 'were'} due."
    if report["next_settles_at"]:
        due = format_moment(report["next_settles_at"])
        yield f"{report['still_pending']:,} are pending; the next is due at {due}."
    if report["dry_run"]:
        yield "Nothing was written (--dry-run)."
