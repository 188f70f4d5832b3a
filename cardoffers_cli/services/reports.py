"""Reports: redemptions and settlements in stable pages, counts, and what could not be resolved.

Pages go from new to old by (created_at, id), so rows that arrive meanwhile neither repeat nor hide
a row of a later page. Cardholder tokens leave masked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cardoffers_cli.domain.cursors import decode_cursor, encode_cursor
from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.tokens import mask

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

By = Literal["day", "offer", "merchant"]
UnresolvedOrder = Literal["purchases", "amount", "last seen"]
MOST_ROWS = 1_000_000
"""Rows of a report that does not come in pages, at most."""
_BESIDE = {"entry_id", "merchant_name", "offer_title", "purchase_amount", "transacted_at"}
"""What the statement of ledger entries has beside the entry."""


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
    def window(self) -> dict[str, Any]:
        """The institution and the window, for what knows no other filters."""
        return {
            "institution_id": self.institution_id,
            "from_at": self.from_at,
            "to_at": self.to_at,
        }


@dataclass(frozen=True, kw_only=True)
class Page:
    """Rows of a report, and the cursor of the page after them (None at the end)."""

    rows: list[dict[str, Any]]
    next_cursor: str | None


def redemptions(store: Store, filters: Filters, *, limit: int, cursor: str | None) -> Page:
    """Return a page of redemptions (specification, Redemption)."""
    return _page(store, "redemptions", filters, limit=limit, cursor=cursor, present=_redemption)


def settlements(store: Store, filters: Filters, *, limit: int, cursor: str | None) -> Page:
    """Return a page of ledger entries (decisions, Ledger entry)."""
    return _page(store, "settlements", filters, limit=limit, cursor=cursor, present=_ledger_entry)


def exported_redemptions(store: Store, filters: Filters, *, limit: int, cursor: str | None) -> Page:
    """Return a page of redemptions, each with its purchase and its merchant beside it."""
    return _page(store, "redemptions", filters, limit=limit, cursor=cursor, present=_exported)


def exported_settlements(store: Store, filters: Filters, *, limit: int, cursor: str | None) -> Page:
    """Return a page of ledger entries, each with its purchase, its offer and its merchant."""
    return _page(store, "settlements", filters, limit=limit, cursor=cursor, present=_exported_entry)


def unresolved(
    store: Store,
    filters: Filters,
    *,
    limit: int = MOST_ROWS,
    order: UnresolvedOrder = "purchases",
    each_currency: bool = False,
) -> list[Row]:
    """Return the merchant identifiers that resolve to nothing, most purchases first.

    They are the first `limit` of all, or of each currency. `merchant_descriptor` is the text that
    most often came with it, of so many `descriptors`.
    """
    rows = store.rows(
        "services/reports:unresolved",
        **filters.window,
        each_currency=each_currency,
        order=order,
        limit=limit,
    )
    return [{**row, "amount": quantize(row["amount"], row["currency"])} for row in rows]


def unresolved_totals(store: Store, filters: Filters) -> list[Row]:
    """Return, per currency, `purchases`, `amount`, `cardholders`, and how many `rows` there are."""
    rows = store.rows("services/reports:unresolved_totals", **filters.window)
    return [{**row, "amount": quantize(row["amount"], row["currency"])} for row in rows]


def count_redemptions(
    store: Store, filters: Filters, by: By, *, limit: int = MOST_ROWS
) -> list[Row]:
    """Return how many redeemed and for how much money, by day, offer or merchant and by currency.

    Newest days come first (UTC, days without any between the others too), of offers and merchants
    the most redeemed. A day counts what was decided on it and, as `purchase_day_…`, the same
    redemptions on the day of their purchase. What was reversed counts in full, as it does among the
    redemptions, and is told as `reversed` too.
    """
    rows = store.rows(f"services/reports:redemptions_by_{by}", **_parameters(filters), limit=limit)
    names = ("merchant_funded_amount", "institution_payout_amount", "purchase_day_payout_amount")
    return [
        {**row, **{name: quantize(row[name], row["currency"]) for name in names if name in row}}
        for row in rows
    ]


def settlement_totals(store: Store, filters: Filters) -> list[Row]:
    """Return what ledger entries come to, per institution, currency and state."""
    rows = store.rows("services/reports:settlement_totals", **_parameters(filters))
    return [{**row, **_amounts(row)} for row in rows]


def _page(
    store: Store,
    report: str,
    filters: Filters,
    *,
    limit: int,
    cursor: str | None,
    present: Callable[[Row], Row],
) -> Page:
    own = {"settlement_no": filters.settlement_no} if report == "settlements" else {}
    purpose = repr((report, *_parameters(filters).values(), *filter(None, own.values())))
    after_at, after_id = (None, None) if cursor is None else decode_cursor(cursor, purpose)
    rows = [
        present(row)
        for row in store.rows(
            f"services/reports:{report}",
            **_parameters(filters),
            **own,
            after_run_no=filters.after_run_no,
            to_run_no=filters.to_run_no,
            after_at=after_at,
            after_id=after_id,
            limit=limit + 1,
        )
    ]
    page = rows[:limit]
    more = len(rows) > limit
    last = page[-1] if more else None
    return Page(
        rows=page,
        next_cursor=encode_cursor(last["created_at"], last["id"], purpose) if last else None,
    )


def _parameters(filters: Filters) -> dict[str, Any]:
    return {
        "institution_id": filters.institution_id,
        "status": filters.status,
        "from_at": filters.from_at,
        "to_at": filters.to_at,
    }


def _amounts(row: Row) -> Row:
    names = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")
    return {name: quantize(row[name], row["currency"]) for name in names}


def _redemption(row: Row) -> Row:
    return {
        "id": row["redemption_id"],
        "created_at": row["created_at"],
        "status": row["status"],
        **_amounts(row),
        "currency": row["currency"],
        "offer": {
            "id": row["offer_id"],
            "title": row["offer_title"],
            "merchant_name": row["merchant_name"],
        },
        "cardholder_token_masked": mask(row["cardholder_token"]),
        "institution": row["institution"],
        "transaction_ref": row["transaction_ref"],
    }


def _exported(row: Row) -> Row:
    return {**_redemption(row), **_purchase(row), "merchant_id": row["merchant_id"]}


def _ledger_entry(row: Row) -> Row:
    entry = {name: value for name, value in row.items() if name not in _BESIDE}
    return {"id": row["entry_id"], **entry, **_amounts(row)}


def _exported_entry(row: Row) -> Row:
    named = {name: row[name] for name in ("merchant_name", "offer_title")}
    return {**_ledger_entry(row), **named, **_purchase(row)}


def _purchase(row: Row) -> Row:
    amount = quantize(row["purchase_amount"], row["currency"])
    return {"purchase_amount": amount, "transacted_at": row["transacted_at"]}
