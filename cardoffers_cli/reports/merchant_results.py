"""What merchants funded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

Order = Literal["funded", "redemptions"]


class MerchantSums(Record):
    """What one merchant funded in one currency in a window, net of what was reversed since.

    `redemptions` counts all, `reversed` those of them that were reversed, whose money is
    `reversed_amount`; amounts and `cardholders` are of the others. The currency has so many
    `merchants`, which come to `redemptions_in_all`, `reversed_in_all` and `funded_in_all`.
    """

    merchant_id: UUID = shown("merchant id", gives_way=8)
    merchant_name: str = shown("merchant")
    category: str | None = shown(gives_way=7)
    currency: str
    redemptions: int
    reversed: int = shown(gives_way=4)
    cardholders: int = shown(gives_way=1)
    spend_amount: Amount = shown("spend", gives_way=5)
    merchant_funded_amount: Amount = shown("funded")
    commission_amount: Amount = shown("commission", gives_way=2)
    institution_payout_amount: Amount = shown("payout")
    reversed_amount: Amount = shown("reversed, money", gives_way=6)
    merchants: int
    redemptions_in_all: int
    reversed_in_all: int
    funded_in_all: Amount


class MerchantResult(
    MerchantSums,
    sheet="* redemptions reversed reversed_amount cardholders spend_amount average_amount category"
    " merchant_id -merchants -redemptions_in_all -reversed_in_all -funded_in_all",
):
    """What one merchant funded, and the mean purchase of what was not reversed, if anything.

    The mean is rounded half up: it is no money that anybody is owed.
    """

    average_amount: Amount | None = shown("average purchase", gives_way=3)


def merchant_results(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    order: Order = "funded",
    limit: int,
) -> list[MerchantResult]:
    """Return what each merchant funded: of each currency the first `limit` in an order."""
    rows = store.records(
        MerchantSums,
        "reports/merchant_results:list",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        order=order,
        limit=limit,
    )
    return [MerchantResult.of({**row, "average_amount": _average(row)}) for row in rows]


def _average(row: MerchantSums) -> Decimal | None:
    kept = row.redemptions - row.reversed
    return row.spend_amount / kept if kept else None
