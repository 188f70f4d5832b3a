"""Redemptions of a moment whose hold ends at once, for tests of what is made of settlements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables import put, select

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.store import Store
    from tables import Row

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
