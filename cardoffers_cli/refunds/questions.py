"""Refunds as they are: list them, show one, lay one aside; and the settings that are about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

RefundState = Literal["waiting", "linked", "refused", "dismissed"]


class RefundProgress(Record):
    """How far a refund is, and what it took back."""

    refund_ref: str = shown("refund")
    kind: str = shown(gives_way=9)
    amount: Amount
    currency: str = shown(gives_way=5)
    refunded_at: datetime = shown("refunded at", gives_way=3)
    original_transaction_ref: str | None = shown("names", gives_way=8)
    transaction_ref: str | None = shown("purchase")
    state: str
    outcome: str | None = shown(gives_way=1)
    net_after: Amount | None = shown("left of it", gives_way=2)
    redemption_id: UUID | None = shown(gives_way=12)


class RefundRow(RefundProgress):
    """A refund with its number; `refunds` says how many there are that were asked for."""

    refund_no: int
    refunds: int


class RefundCandidate(Record):
    """A purchase that a refund may be of, in the shape of `refund suggest --format json`.

    Rank 1 is the best. Who reviews a list writes a `reason` beside the one that is right.
    """

    refund_ref: str = shown("refund")
    transaction_ref: str = shown("purchase")
    rank: int
    equal_amount: bool = shown("equal amount", gives_way=1)
    same_instrument: bool = shown("same instrument", gives_way=1)
    lag_days: int = shown("days", gives_way=2)
    remaining: Amount
    amount: Amount = shown(gives_way=3)
    purchase_amount: Amount = shown("of purchase", gives_way=4)
    currency: str = shown(gives_way=5)
    refunded_at: datetime = shown("refunded at", gives_way=6)
    transacted_at: datetime = shown("purchased at", gives_way=7)
    reason: str | None = shown(gives_way=8)


class NamedRefund(Record):
    """What a person says of a refund, with the numbers that it is about, where there are any."""

    line: int
    refund_ref: str
    transaction_ref: str
    reason: str
    refund_no: int | None
    state: str | None
    purchase_no: int | None


def list_refunds(
    store: Store,
    institution_id: UUID,
    *,
    state: str | None = None,
    refund_refs: Sequence[str] | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int,
) -> list[RefundRow]:
    """Return the refunds of an institution, those of a state or of some references alone."""
    return store.records(
        RefundRow,
        "refunds/questions:listed",
        institution_id=institution_id,
        state=state,
        refund_refs=refund_refs,
        from_at=from_at,
        to_at=to_at,
        limit=limit,
    )


def find_refund(store: Store, institution_id: UUID, refund_ref: str) -> RefundRow:
    """Return one refund by its reference; raise `NotFound`."""
    refunds = list_refunds(store, institution_id, refund_refs=[refund_ref], limit=1)
    if not refunds:
        raise NotFound(
            "There is no refund with this reference.",
            code="refund_not_found",
            hint="`cardoffers refund list -i INST --all` lists them with their references.",
        )
    return refunds[0]


def dismiss(store: Store, refund: RefundRow, institution_id: UUID, **by: Any) -> None:
    """Lay a refund aside: `by` has actor, reason, run_no and now."""
    of = {"refund_no": refund.refund_no, "institution_id": institution_id}
    store.execute("refunds/questions:dismiss", **of, **by)
