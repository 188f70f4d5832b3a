"""`cardoffers match`: decide which purchases redeem which offers."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from cardoffers_cli.kernel.cli.context import CommandContext
from cardoffers_cli.kernel.cli.options import DryRun, Engine, option
from cardoffers_cli.kernel.cli.show import Block, Column, Sheet, Text
from cardoffers_cli.kernel.words.counting import counted

MONEY = (
    Column("currency"),
    Column("merchant_funded_amount", "merchants fund", "money"),
    Column("commission_amount", "commission", "money"),
    Column("institution_payout_amount", "payout", "money"),
)
_MEANINGS = {
    "redeemed": "earned the cashback of an offer",
    "not_redeemed": "fit no offer their cardholder had added",
    "merchant_unresolved": "wait: the merchant is still unknown",
    "considered": "in all",
}


def match(
    ctx: typer.Context,
    *,
    rematch: Annotated[bool, option("Look again at all that never redeemed.", "--rematch")] = False,
    engine: Engine = None,
    dry_run: DryRun = False,
) -> None:
    """Match every purchase that is not decided yet to the offers its cardholder has added."""
    from cardoffers_cli.river.match_run import match_purchases

    context = CommandContext.of(ctx, engine=engine)
    with context.progress("Matching"):
        report = match_purchases(context.job, rematch=rematch, dry_run=dry_run).document()
    context.show(report, *decided(report), Text(list(_said(report))))


def decided(report: Mapping[str, Any]) -> Iterator[Block]:
    """Yield what was decided of how many purchases, and the money of it by currency."""
    return outcomes(report, "decided", "purchases", _MEANINGS)


def outcomes(
    report: Mapping[str, Any],
    name: str,
    of: str,
    meanings: Mapping[str, str],
    money_title: str | None = None,
) -> Iterator[Block]:
    """Yield how many had each outcome, and what that means, and the money of all by currency."""
    columns = (Column(name), Column(of, kind="integer"), Column("meaning"))
    rows = [{name: each, of: report[each], "meaning": says} for each, says in meanings.items()]
    yield Sheet(name, columns, rows)
    money = [
        {"currency": currency, **{each.name: report[each.name][currency] for each in MONEY[1:]}}
        for currency in report["merchant_funded_amount"]
    ]
    if money:
        yield Sheet("money", MONEY, money, title=money_title)


def _said(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"Run {report['run_id']}, {counted(report['rounds'], 'round')}."
    if "unmerged" in report:
        yield f"Small parts of the history were left as they are: {report['unmerged']}"
    if report["dry_run"]:
        yield "Nothing was written (--dry-run)."
    elif report["merchant_unresolved"]:
        yield "Next: `cardoffers report unresolved` lists the unknown merchants."
