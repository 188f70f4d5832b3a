"""What a report on offers says of percent offers, and what a refund gives back to their budgets."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from cardoffers_cli.refunds.apply import apply_in
from cardoffers_cli.reports.work import offer_results
from cardoffers_cli.river.decide import decide
from tables import NOON, given
from work import job

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store


def test_how_often_a_percent_offer_gave_its_most(store: Store) -> None:
    given(store, "institutions", "institution percent\nalder yes")
    given(store, "merchants", "merchant\nbakery\nkiosk")
    given(
        store,
        "offers",
        "offer merchant percent cap budget\nten bakery 10 5.00 50.00\nfixed kiosk - - 50.00",
    )
    given(store, "programs", "offer\nten\nfixed")
    given(store, "links", "offer cardholder\nten ann\nfixed ann")
    given(
        store,
        "purchases",
        """
        ref  merchant  amount
        1    bakery    62.15
        2    bakery    50.00
        3    bakery    20.05
        4    bakery    40.00
        5    kiosk     40.00
        """,
    )
    decide(store, job())
    later = NOON + timedelta(hours=1)
    given(store, "refunds", f"ref original amount at\nr1 4 15.50 {later:%H:%M:%S}")
    apply_in(store, job(now=later))
    rows = {row.offer_id: row for row in offer_results(store, later, limit=9)}
    ten, fixed = rows["ten"], rows["fixed"]
    assert (Decimal("0.5000"), Decimal("0.0930")) == (ten.capped_share, ten.cashback_share)
    assert Decimal("14.46") == ten.spent_amount
    assert ("capped_share" in ten, "capped_share" in fixed) == (True, False)
