"""`cardoffers status`: the state of everything on one screen."""

from collections.abc import Iterator
from typing import Any

import typer

from cardoffers_cli.cli.desk import Desk
from cardoffers_cli.cli.show import Column, Sheet, Text

INSTITUTIONS = (
    Column("institution"),
    Column("plan"),
    Column("imports", kind="integer"),
    Column("purchases", kind="integer"),
    Column("links", kind="integer"),
    Column("pending", kind="integer"),
    Column("settled", kind="integer"),
    Column("reversed", kind="integer"),
    Column("currency"),
    Column("institution_payout_amount", "payout", kind="money"),
    Column("last_import_at", kind="moment"),
)


def status(ctx: typer.Context) -> None:
    """Show the state of everything: what came in, what it became, what waits, what to do next.

    Try:

        cardoffers status
    """
    from cardoffers_cli.jobs.stores import status as look

    desk = Desk.of(ctx)
    found = look(desk.job)
    sheet = Sheet("institutions", INSTITUTIONS, found["institutions"])
    desk.show(found, sheet, Text(list(_waiting(found))))


def _waiting(found: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{found['merchants']:,} merchants, {found['offers']:,} offers, "
        f"{found['cardholders']:,} cardholders"
    )
    if not found["institutions"]:
        yield "The store is empty: `cardoffers catalog import DIR` brings institutions and offers."
    if found["not_matched_yet"]:
        yield f"{found['not_matched_yet']:,} purchases wait for `cardoffers match`"
    if found["due"]:
        yield f"{found['due']:,} ledger entries are due: `cardoffers settle`"
    if found["open_adjustments"]:
        yield f"{found['open_adjustments']:,} adjustments wait for the next settlement"
    if found["merchant_unresolved"]:
        yield (
            f"{found['merchant_unresolved']:,} purchases have an unknown merchant: "
            "`cardoffers report unresolved`"
        )
