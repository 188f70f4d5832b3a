"""Refunds as they are: list them, show one, lay one aside; and the settings that are about them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
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
        raise NotFound.from_table("refunds", "refund_not_found")
    return refunds[0]


def dismiss(store: Store, refund: RefundRow, institution_id: UUID, **by: Any) -> None:
    """Lay a refund aside: `by` has actor, reason, run_no and now."""
    of = {"refund_no": refund.refund_no, "institution_id": institution_id}
    store.execute("refunds/questions:dismiss", **of, **by)


# What is shown of refunds: a list, one of them, and what those without a reference may be of.


class ListedRefund(RefundProgress, sheet="institution *"):
    """How far a refund is, in the shape of `refund list --format json`.

    One that waits and has no reference has `candidates`; `exact_candidates` have its amount.
    """

    institution: str = shown(gives_way=6)
    candidates: int | None = shown(gives_way=4)
    exact_candidates: int | None = shown("exact", gives_way=7)


class RefundDetails(ListedRefund):
    """One refund, with what was received of it, who moved it, and what it may be of."""

    purchase_amount: Amount | None
    how: str | None
    actor: str | None
    reason: str | None
    moved_at: datetime | None
    received_at: datetime
    line: int | None
    file: str | None
    import_id: UUID | None
    merchant_identifier_type: str | None
    merchant_identifier: str | None
    merchant_name: str | None
    cardholder_token_masked: str | None
    run_id: UUID | None
    found_at: datetime | None
    may_be_of: Sequence[RefundCandidate]


def refund_rows(
    job: Job,
    institution: str | None,
    *,
    state: RefundState | None = None,
    limit: int,
    everywhere: bool = False,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
) -> tuple[list[ListedRefund], int]:
    """Return the refunds of an institution, the newest first, and how many there are in all.

    `from_at` and `to_at` are the beginning and the end of when goods went back, if any.
    """
    listed: list[ListedRefund] = []
    refunds = 0
    with reading(job) as source:
        for owner in asked_institutions(source.store, institution, everywhere=everywhere):
            rows = list_refunds(
                source.store, owner.id, state=state, limit=limit, from_at=from_at, to_at=to_at
            )
            listed += _listed(source.store, owner.slug, rows)
            refunds += rows[0].refunds if rows else 0
    return [without_cards(row) for row in listed[:limit]], refunds


def show_refund(job: Job, institution: str | None, refund_ref: str) -> RefundDetails:
    """Return one refund with all that is known of it; raise `NotFound`."""
    with reading(job) as source:
        (owner,) = asked_institutions(source.store, institution)
        refund = find_refund(source.store, owner.id, refund_ref)
        (listed,) = _listed(source.store, owner.slug, [refund])
        of = {"institution_id": owner.id, "refund_ref": refund_ref}
        (more,) = source.store.rows("refunds/questions:shown", **of)
        may_be_of = _candidates(source.store, [refund.refund_no])
    row = {**listed, **more, "may_be_of": may_be_of}
    details: RefundDetails = without_cards(RefundDetails.of(row))
    return details


def suggestions(job: Job, institution: str | None) -> list[RefundCandidate]:
    """Return the candidates of all refunds of an institution that wait without a reference."""
    with reading(job) as source:
        (owner,) = asked_institutions(source.store, institution)
        return _candidates(source.store, None, owner.id)


def _listed(store: Store, slug: str, rows: Sequence[RefundRow]) -> list[ListedRefund]:
    waiting = [
        row.refund_no
        for row in rows
        if row.state == "waiting" and row.original_transaction_ref is None
    ]
    times: Counter[str] = Counter()
    exact: Counter[str] = Counter()
    for candidate in _found(store, waiting) if waiting else []:
        times[candidate.refund_ref] += 1
        exact[candidate.refund_ref] += candidate.equal_amount
    counted = set(waiting)
    return [
        ListedRefund.part(
            row,
            institution=slug,
            candidates=times[row.refund_ref] if row.refund_no in counted else None,
            exact_candidates=exact[row.refund_ref] if row.refund_no in counted else None,
        )
        for row in rows
    ]


def _found(
    store: Store, refund_nos: Sequence[int] | None, institution_id: UUID | None = None
) -> list[RefundCandidate]:
    asked = {"institution_id": institution_id, "refund_nos": refund_nos}
    refunds = store.make("refunds/apply:open_refunds", **asked)
    candidates = store.make("refunds/apply:candidates", refunds, by_policy=False)
    return store.records(RefundCandidate, "refunds/questions:candidates", candidates)


def _candidates(
    store: Store, refund_nos: Sequence[int] | None, institution_id: UUID | None = None
) -> list[RefundCandidate]:
    return [without_cards(candidate) for candidate in _found(store, refund_nos, institution_id)]
