"""What is shown of refunds: a list, one of them, and what those without a reference may be of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.records import shown
from cardoffers_cli.refunds.questions import (
    RefundCandidate,
    RefundProgress,
    find_refund,
    list_refunds,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.refunds.questions import RefundRow, RefundState


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
