"""Reports: redemptions and settlements in stable pages, counts, and what could not be resolved.

Pages go from new to old by (created_at, id), so rows that arrive meanwhile neither repeat nor hide
a row of a later page. Cardholder tokens leave masked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from cardoffers_cli.kernel.words.ids import MOST_ROWS, decode_cursor, encode_cursor
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

By = Literal["day", "offer", "merchant"]
UnresolvedOrder = Literal["purchases", "amount", "last seen"]


class WindowOf(TypedDict):
    """An institution and a window of time, None for any."""

    institution_id: UUID | None
    from_at: datetime | None
    to_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What a report is restricted to; None restricts nothing. Windows are half-open, UTC.

    Run numbers restrict redemptions to those made, and ledger entries to those settled, by the runs
    after `after_run_no` up to `to_run_no`; `settlement_no` restricts ledger entries alone.
    """

    institution_id: UUID | None = None
    status: str | None = None
    from_at: datetime | None = None
    to_at: datetime | None = None
    after_run_no: int | None = None
    to_run_no: int | None = None
    settlement_no: int | None = None

    @property
    def window(self) -> WindowOf:
        """The institution and the window, for what knows no other filters."""
        return WindowOf(institution_id=self.institution_id, from_at=self.from_at, to_at=self.to_at)


class OfferNamed(TypedDict):
    """The offer of a redemption, its title in the first language of the institution."""

    id: str
    title: str
    merchant_name: str


class Redemption(Record):
    """A redemption, as the HTTP contract tells it (rules.md#masking)."""

    id: UUID = shown("redemption id", gives_way=12)
    created_at: datetime = shown("decided at", gives_way=9)
    status: str
    merchant_funded_amount: Amount = shown("merchant funds", gives_way=3)
    commission_amount: Amount = shown("commission", gives_way=5)
    institution_payout_amount: Amount = shown("payout")
    currency: str
    offer: OfferNamed = shown(
        inside={
            "id": shown("offer id", "id", gives_way=10),
            "title": shown("offer", gives_way=8),
            "merchant_name": shown("merchant"),
        }
    )
    cardholder_token_masked: Annotated[
        str, "The first and the last 4 characters around an ellipsis."
    ] = shown("cardholder", gives_way=1)
    institution: Annotated[str, "Its slug."] = shown(gives_way=4)
    transaction_ref: str = shown("reference")
    story: Annotated[str, "What became of it: the first story that holds."] = shown(gives_way=5)
    story_at: datetime = shown(gives_way=15)
    story_amount: Amount = shown(gives_way=16)


class ExportedRedemption(
    Redemption,
    sheet="id created_at institution status currency merchant_funded_amount"
    " institution_payout_amount offer.id offer.title offer.merchant_name cardholder_token_masked"
    " transaction_ref purchase_amount transacted_at commission_amount merchant_id",
    first="offer.merchant_name currency institution_payout_amount purchase_amount transacted_at"
    " status institution offer.title merchant_funded_amount commission_amount created_at",
):
    """A redemption, with its purchase and its merchant beside it.

    JSON has its story too (rules.md#stories). Behind these stands what the last reconciliation said
    of it (rules.md#verdicts), and when a row last credited it; where there is any.
    """

    purchase_amount: Amount = shown("purchase", gives_way=2)
    transacted_at: datetime = shown("purchased at", gives_way=6)
    merchant_id: UUID = shown("merchant id", gives_way=11)
    verdict: str | None = if_any("credited", gives_way=5)
    credited_amount: Amount | None = if_any("amount credited", gives_way=13)
    credited_at: datetime | None = if_any("credited at", gives_way=14)


class LedgerEntry(Record):
    """A ledger entry; what did not happen yet is None."""

    id: UUID = shown("entry id", gives_way=17)
    redemption_id: UUID = shown("redemption id", gives_way=14)
    offer_id: str = shown("offer id", "id", gives_way=13)
    merchant_id: UUID = shown("merchant id", gives_way=16)
    transaction_ref: str = shown("reference")
    currency: str
    merchant_funded_amount: Amount = shown("merchant funds", gives_way=1)
    commission_amount: Amount = shown("commission", gives_way=4)
    institution_payout_amount: Amount = shown("payout")
    status: str
    created_at: datetime = shown("decided at", gives_way=10)
    settles_at: datetime = shown("due at", gives_way=5)
    settled_at: datetime | None = shown("settled at", gives_way=9)
    reversed_at: datetime | None = shown("reversed at", gives_way=12)
    reversal_reason: str | None = shown("reason of reversal", gives_way=8)
    settlement_id: UUID | None = shown("settlement id", gives_way=15)
    institution: Annotated[str, "Its slug."] = shown(gives_way=3)


class ExportedEntry(
    LedgerEntry,
    sheet="id redemption_id institution *",
    first="merchant_name currency institution_payout_amount status institution purchase_amount"
    " transacted_at offer_title merchant_funded_amount commission_amount settles_at settled_at",
):
    """A ledger entry, with its purchase, its offer and its merchant beside it."""

    merchant_name: str = shown("merchant")
    offer_title: str | None = shown("offer", gives_way=11)
    purchase_amount: Amount = shown("purchase", gives_way=2)
    transacted_at: datetime = shown("purchased at", gives_way=6)


class UnknownMerchant(
    Record,
    first="merchant_descriptor merchant_identifier currency amount purchases cardholders"
    " institution merchant_identifier_type",
):
    """Purchases of one institution whose merchant nobody knows, by identifier and currency.

    `merchant_descriptor` is the text that most often came with it, of so many `descriptors`.
    """

    institution: str
    merchant_identifier_type: str | None = shown("kind", gives_way=1)
    merchant_identifier: str | None = shown("identifier")
    merchant_id: UUID | None = shown("merchant id", gives_way=6)
    currency: str
    purchases: int
    amount: Amount
    cardholders: int = shown(gives_way=2)
    first_seen_at: datetime = shown("first seen", gives_way=4)
    last_seen_at: datetime = shown("last seen", gives_way=3)
    merchant_descriptor: str | None = shown("descriptor")
    descriptors: int = shown(gives_way=5)


class UnknownTotal(Record):
    """What purchases of unknown merchants come to in one currency, in so many `rows`."""

    currency: str
    purchases: int
    amount: Amount
    cardholders: int
    rows: int


class DayCount(Record):
    """Redemptions decided on a day (UTC) and, as `purchase_day_…`, those of its purchases."""

    day: date
    redemptions: int = shown("decided")
    reversed: int = shown(gives_way=3)
    currency: str
    merchant_funded_amount: Amount = shown("merchants fund", gives_way=1)
    institution_payout_amount: Amount = shown("payout")
    purchase_day_redemptions: int = shown("purchased")
    purchase_day_payout_amount: Amount = shown("payout of these", gives_way=2)


class OfferCount(Record, first="title currency institution_payout_amount"):
    """Redemptions of one offer in one currency."""

    offer_id: str = shown("offer id", "id", gives_way=4)
    title: str | None = shown("offer")
    merchant_name: str = shown("merchant", gives_way=2)
    redemptions: int = shown("count")
    reversed: int = shown(gives_way=3)
    currency: str
    merchant_funded_amount: Amount = shown("merchants fund", gives_way=1)
    institution_payout_amount: Amount = shown("payout")


class MerchantCount(Record, first="merchant_name currency institution_payout_amount"):
    """Redemptions at one merchant in one currency."""

    merchant_id: UUID = shown("merchant id", gives_way=4)
    merchant_name: str = shown("merchant")
    redemptions: int = shown("count")
    reversed: int = shown(gives_way=3)
    currency: str
    merchant_funded_amount: Amount = shown("merchants fund", gives_way=1)
    institution_payout_amount: Amount = shown("payout")


RedemptionCount = DayCount | OfferCount | MerchantCount
COUNTED: Mapping[By, type[RedemptionCount]] = {
    "day": DayCount,
    "offer": OfferCount,
    "merchant": MerchantCount,
}
"""What redemptions are counted by."""
CREDITED = "verdict credited_amount credited_at"
"""The fields of a redemption that was held against credited rows."""


class EntryTotal(Record, sheet="institution currency institution_payout_amount *"):
    """What the ledger entries of one institution, currency and state come to."""

    institution: str
    currency: str
    status: str = shown("state")
    entries: int
    merchant_funded_amount: Amount = shown("merchants fund")
    commission_amount: Amount = shown("commission")
    institution_payout_amount: Amount = shown("payout")


@dataclass(frozen=True, kw_only=True)
class ReportPage:
    """Rows of a report, and the cursor of the page after them (None at the end).

    Where it `is_reconciled`, redemptions of an institution that was asked for were held against
    credited rows of its own, so that there is something to tell of them.
    """

    rows: Sequence[Record]
    next_cursor: str | None
    is_reconciled: bool = False


def redemptions(store: Store, filters: Filters, *, limit: int, cursor: str | None) -> ReportPage:
    """Return a page of `Redemption` (rules.md#pages)."""
    page = exported_redemptions(store, filters, limit=limit, cursor=cursor)
    return ReportPage(rows=[Redemption.cut(row) for row in page.rows], next_cursor=page.next_cursor)


def exported_redemptions(
    store: Store, filters: Filters, *, limit: int, cursor: str | None
) -> ReportPage:
    """Return a page of `ExportedRedemption`."""
    purpose, position = _position("redemptions", filters, cursor)
    rows = store.records(
        ExportedRedemption,
        "reports/questions:redemptions",
        **_parameters(filters),
        **_runs(filters),
        **position,
        limit=limit + 1,
    )
    is_reconciled = bool(
        store.value("reports/questions:is_any_reconciled", institution_id=filters.institution_id)
    )
    return replace(_page(rows, limit, purpose), is_reconciled=is_reconciled)


def settlements(store: Store, filters: Filters, *, limit: int, cursor: str | None) -> ReportPage:
    """Return a page of `LedgerEntry` (rules.md#pages)."""
    page = exported_settlements(store, filters, limit=limit, cursor=cursor)
    return ReportPage(
        rows=[LedgerEntry.cut(row) for row in page.rows], next_cursor=page.next_cursor
    )


def exported_settlements(
    store: Store, filters: Filters, *, limit: int, cursor: str | None
) -> ReportPage:
    """Return a page of `ExportedEntry`."""
    purpose, position = _position("settlements", filters, cursor)
    rows = store.records(
        ExportedEntry,
        "reports/questions:settlements",
        **_parameters(filters),
        **_runs(filters),
        **position,
        settlement_no=filters.settlement_no,
        limit=limit + 1,
    )
    return _page(rows, limit, purpose)


def unresolved(
    store: Store,
    filters: Filters,
    *,
    limit: int = MOST_ROWS,
    order: UnresolvedOrder = "purchases",
    each_currency: bool = False,
) -> list[UnknownMerchant]:
    """Return the merchant identifiers that resolve to nothing, most purchases first.

    They are the first `limit` of all, or of each currency.
    """
    return store.records(
        UnknownMerchant,
        "reports/questions:unresolved",
        **filters.window,
        each_currency=each_currency,
        order=order,
        limit=limit,
    )


def count_redemptions(
    store: Store, filters: Filters, by: By, *, limit: int = MOST_ROWS
) -> list[RedemptionCount]:
    """Return how many redeemed and for how much money, by day, offer or merchant and by currency.

    Newest days come first (UTC, days without any between the others too), of offers and merchants
    the most redeemed. What was reversed counts in full, as it does among the redemptions, and is
    told as `reversed` too.
    """
    parameters = {**_parameters(filters), "limit": limit}
    if by == "day":
        return [*store.records(DayCount, "reports/questions:redemptions_by_day", **parameters)]
    if by == "offer":
        return [*store.records(OfferCount, "reports/questions:redemptions_by_offer", **parameters)]
    return [
        *store.records(MerchantCount, "reports/questions:redemptions_by_merchant", **parameters)
    ]


def settlement_totals(store: Store, filters: Filters) -> list[EntryTotal]:
    """Return what ledger entries come to, per institution, currency and state."""
    return store.records(EntryTotal, "reports/questions:settlement_totals", **_parameters(filters))


def _position(report: str, filters: Filters, cursor: str | None) -> tuple[str, Mapping[str, Any]]:
    """Return what cursors of a report are for, and the position that one stands for."""
    purpose = repr((report, *_parameters(filters).values(), *filter(None, [filters.settlement_no])))
    after_at, after_id = (None, None) if cursor is None else decode_cursor(cursor, purpose)
    return purpose, {"after_at": after_at, "after_id": after_id}


def _page(
    rows: Sequence[ExportedRedemption | ExportedEntry], limit: int, purpose: str
) -> ReportPage:
    """Return the page of rows of which one more than fits was read."""
    last = rows[limit - 1] if len(rows) > limit else None
    return ReportPage(
        rows=rows[:limit],
        next_cursor=encode_cursor(last.created_at, last.id, purpose) if last else None,
    )


def _parameters(filters: Filters) -> Mapping[str, Any]:
    names = ("institution_id", "status", "from_at", "to_at")
    return {name: getattr(filters, name) for name in names}


def _runs(filters: Filters) -> Mapping[str, Any]:
    return {"after_run_no": filters.after_run_no, "to_run_no": filters.to_run_no}
