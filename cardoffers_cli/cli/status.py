"""`cardoffers status`: the state of everything on one screen."""

from collections.abc import Iterator
from typing import Any

import typer

from cardoffers_cli.cli.bars import sparkline
from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.options import Format
from cardoffers_cli.cli.show import Block, Column, Sheet, Text
from cardoffers_cli.domain.counting import counted
from cardoffers_cli.domain.moments import format_moment

INSTITUTIONS = (
    Column("institution"),
    Column("plan"),
    Column("links", kind="integer"),
    Column("imports", kind="integer"),
    Column("purchases", kind="integer"),
    Column("last_import_at", kind="moment"),
)
MONEY = (
    Column("institution"),
    Column("currency"),
    Column("pending", kind="integer"),
    Column("pending_payout_amount", "to pay", kind="money"),
    Column("settled", kind="integer"),
    Column("settled_payout_amount", "paid", kind="money"),
    Column("reversed", kind="integer"),
)
DAYS = (
    Column("institution"),
    Column("days", "a day"),
    Column("most", "most a day", kind="integer"),
    Column("redemptions", "in all", kind="integer"),
)
NEXT = (Column("count", kind="integer"), Column("waits"), Column("next"))


def status(ctx: typer.Context) -> None:
    """Show the state of everything: what came in, what it became, what waits, what to do next.

    Try:

        cardoffers status
    """
    from cardoffers_cli.jobs.stores import status as look

    desk = Desk.of(ctx)
    found, days = look(desk.job, by_day=desk.format is Format.table)
    desk.show(found, *_blocks(found, days))


def _blocks(found: dict[str, Any], days: dict[str, list[int]]) -> Iterator[Block]:
    yield Text([_headline(found)])
    yield Sheet("institutions", INSTITUTIONS, found["institutions"], title="What came in")
    if found["institutions"]:
        yield Sheet("money", MONEY, found["institutions"], title="What it became: redemptions")
    if days:
        yield Sheet("days", DAYS, list(_days(days)), title="Redemptions of the last 30 days")
    waiting = list(_waiting(found))
    if waiting:
        yield Sheet("next", NEXT, waiting, title="What waits, and what to do next")
    else:
        yield Text(["Nothing waits."])


def _headline(found: dict[str, Any]) -> str:
    things = ("merchant", "offer", "cardholder", "link")
    counts = ", ".join(counted(found[f"{thing}s"], thing) for thing in things)
    return f"{found['store']} at {format_moment(found['as_of'])}: {counts}."


def _days(days: dict[str, list[int]]) -> Iterator[dict[str, Any]]:
    for slug, counts in days.items():
        line, most, in_all = sparkline(counts), max(counts), sum(counts)
        yield {"institution": slug, "days": line, "most": most, "redemptions": in_all}


def _waiting(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    institutions = found["institutions"]
    if not institutions:
        yield {"waits": "the store is empty", "next": "cardoffers catalog import DIR"}
    elif not any(row["imports"] for row in institutions):
        slug = institutions[0]["institution"]
        yield {"waits": "no transactions yet", "next": f"cardoffers import FILE -i {slug}"}
    on_hold = sum(row["pending"] for row in institutions) - found["due"]
    counted = (
        (found["not_matched_yet"], "purchases to match", "cardoffers match"),
        (found["due"], "ledger entries due", "cardoffers settle"),
        (found["open_adjustments"], "adjustments to deduct", "cardoffers settle"),
        (
            found["merchant_unresolved"],
            "purchases of unknown merchants",
            "cardoffers report unresolved",
        ),
        (found["webhooks_due"], "events to send", "cardoffers webhook send"),
        (found["webhooks_later"], "events to send again later", "cardoffers webhook send"),
        (
            found["webhooks_unset"],
            "events without a webhook",
            "cardoffers webhook set -i INST --url URL",
        ),
        (found["webhooks_stopped"], "events stopped", "cardoffers webhook list --state stopped"),
        (
            found["webhooks_exhausted"],
            "events given up",
            "cardoffers webhook list --state exhausted",
        ),
        (len(found["calls_put_aside"]), "books of calls put aside, damaged", "cardoffers doctor"),
        (on_hold, f"ledger entries on hold{_until(found)}", "cardoffers settle"),
    )
    for count, waits, then in counted:
        if count:
            yield {"count": count, "waits": waits, "next": then}


def _until(found: dict[str, Any]) -> str:
    moment = found["next_settles_at"]
    return f", the first until {moment:%Y-%m-%d}" if moment else ""
