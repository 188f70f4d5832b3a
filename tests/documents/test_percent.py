"""Statements and invoices of redemptions that refunds reduced, before and after they settled."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from cardoffers_cli.documents.closing import close_invoices, close_statement
from cardoffers_cli.documents.kinds import INVOICE, STATEMENT
from cardoffers_cli.documents.verifying import verify
from cardoffers_cli.refunds.apply import apply_refunds
from cardoffers_cli.river.engines import match_purchases
from cardoffers_cli.river.settlements import settle_due
from sizes import slow
from work import found, new_store, tell

if TYPE_CHECKING:
    from pathlib import Path


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


REFUND = "ref original amount at\n{ref} {ref} {amount} 2026-{at}"


@slow
def test_documents_have_what_is_left(tmp_path: Path) -> None:
    made = new_store(tmp_path)
    tell(
        made,
        institutions="institution percent hold_days\nalder yes 2",
        merchants="merchant\nbakery",
        offers="offer merchant percent cap rate\nten bakery 10 5.00 0.10",
        links="offer cardholder\nten ann",
        purchases="ref merchant amount at\na bakery 40.00 06-01\nb bakery 30.00 06-01".replace(
            "06-01", "2026-06-01"
        ),
    )
    on = {text: replace(made, now=day(text)) for text in ("06-02", "06-03", "06-05", "07-02")}
    match_purchases(on["06-02"])
    tell(made, refunds=REFUND.format(ref="a", amount="10.00", at="06-02"))
    apply_refunds(on["06-03"])
    assert not settle_due(on["06-03"]).settlements  # none before its entry
    (settled,) = settle_due(on["06-05"]).settlements
    assert (2, 1, "6.60") == (
        *(settled.entries, settled.adjustments),
        f"{settled.merchant_funded_amount:.2f}",
    )
    tell(made, refunds=REFUND.format(ref="b", amount="10.00", at="07-01"))
    close_invoices(on["07-02"], "2026-06")
    close_statement(on["07-02"], "alder", "2026-06")
    apply_refunds(on["07-02"])
    settle_due(on["07-02"])
    august = replace(made, now=day("08-02"))
    close_invoices(august, "2026-07")
    close_statement(august, "alder", "2026-07")
    assert [("6.60",), ("-1.10",)] == found(
        made,
        "select cast(cast(amount as decimal(9, 2)) as varchar) from invoices order by all desc",
    )
    assert [(-1,), (-1,)] == found(made, "select adjustments from statements")
    for kind in (INVOICE, STATEMENT):
        assert [True, True] == [each.ok for each in verify(august, kind)]
