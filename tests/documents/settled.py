"""Redemptions of a moment whose hold ends at once, for tests of what is made of settlements."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from cardoffers_cli.documents.closing import close_invoices
from cardoffers_cli.river.redemptions import reverse
from cardoffers_cli.river.settlements import settle_due
from tables import put, read, select, uid
from work import new_store, once, tell

if TYPE_CHECKING:
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from tables import Row


@once
def invoiced(folder: Path) -> Job:
    """Make a store of invoices of June, butcher 3.00 and bakery 2.00, and a credit note of July."""
    made = new_store(folder)
    tell(
        made,
        institutions="institution\nalder",
        merchants="merchant\nbakery\nbutcher",
        offers="offer merchant cashback\nO1 bakery 1.00\nO3 butcher 3.00",
        links="institution cardholder offer\nalder ann O1\nalder ann O3",
    )
    june, july, august = (datetime(2026, month, 2) for month in (6, 7, 8))  # noqa: DTZ001
    with made.store() as store:
        select(store, "update institutions set settlement_hold_days = 0")
        for offer in ("O1", "O1", "O3"):
            redeem_in(store, june, read(f"offer\n{offer}"))
    settle_due(replace(made, now=june))
    close_invoices(replace(made, now=july), "2026-06")
    reverse(str(uid("redemption 1")), "returned", replace(made, now=july))
    settle_due(replace(made, now=july))
    close_invoices(replace(made, now=august), "2026-07")
    return made


CASHBACK = {'=A,"1"': "3.00", "B": "2.00", "O1": "1.00", "O3": "3.00", "A": "1234.50"}
"""What offers pay in these tests."""


def redeem_in(store: Store, at: datetime, rows: list[Row]) -> None:
    before = "select coalesce(max(redemption_no), 0) from ledger_entries"
    ((last,),) = select(store, before)
    put(store, "redemptions", [{**row, "amount": CASHBACK[row["offer"]], "at": at} for row in rows])
    select(
        store,
        f"update ledger_entries set created_at = '{at}', settles_at = '{at}'"  # noqa: S608 - ours
        f" where redemption_no > {last}",
    )
