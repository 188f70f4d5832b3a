"""Why a purchase did, or did not, redeem: from what was decided then (rules.md#reasons).

Terms, links, budgets and uses are those that the deciding run knew, so that the answer of today is
the answer of then. `explain` takes refs by the list, and a ref that is no purchase is looked for
among rejected rows. Nothing of another institution is ever looked at here, but for what its
purchases held of a budget that is shared.

Offers are those that the cardholder could have: in the institution's program, or added. Each says
by which version of its terms the purchase was judged, and since when that one counts: None for the
first, which counts from the beginning.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.answers.money_trails import DocumentLine, documents_of
from cardoffers_cli.kernel.store.interning import purchases_of_refs
from cardoffers_cli.kernel.words.findings import CODES
from cardoffers_cli.kernel.words.ids import mask
from cardoffers_cli.kernel.words.nearest import are_near, pattern, spellings
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.river.outcomes import (
    FITTED,
    NEAREST,
    Check,
    OfferEvaluation,
    checks,
    compared,
    nearest,
    reward_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

    Row = Mapping[str, Any]

_NOT_REDEEMED = "not_redeemed"
_SUGGESTED = 5
_NEWEST = 2_000_000
"""How many purchases are looked through for a reference that was mistaken."""
_UNKNOWN = "merchant_unresolved"


class OfferTerms(Record):
    """The version of an offer that a purchase was judged by, since when it counts, its figures."""

    version: int
    since: datetime | None
    currency: str
    min_spend: Amount
    cashback_amount: Amount
    cashback_percent: Decimal | None = if_any()
    commission_rate: Decimal
    max_redemptions_per_cardholder: int | None


class Evaluation(OfferEvaluation, sheet="offer_id outcome expected actual"):
    """What was decided of one offer, and the terms that a purchase was judged by."""

    terms: OfferTerms


class ExplainedPurchase(Record):
    """A purchase as it was received: in line `line` of a file, or item of a call (`file_kind`)."""

    amount: Amount
    transacted_at: datetime
    received_at: datetime
    currency: str
    file: str | None
    line: int | None
    import_id: UUID | None
    merchant_name: str | None
    merchant_identifier_type: str | None
    merchant_identifier: str | None
    merchant_descriptor: str | None
    sent_merchant_id: UUID | None
    file_kind: str | None
    cardholder_token_masked: str


class ExplainedRedemption(Record):
    """What a purchase earned, what became of it (rules.md#stories), and how far its webhook is."""

    redemption_id: UUID
    offer_id: str
    status: str
    currency: str
    institution_payout_amount: Amount
    settles_at: datetime
    settled_at: datetime | None
    reversed_at: datetime | None
    reversal_reason: str | None
    story: str
    story_at: datetime
    story_amount: Amount
    delivery: str
    delivered_at: datetime | None
    webhook_state: str | None
    webhook_attempts: int | None
    webhook_next_attempt_at: datetime | None
    webhook_error: str | None


class RedemptionCredit(Record):
    """What the last reconciliation said of a redemption (rules.md#verdicts).

    `credited_amount` stands as credited, in so many rows; `credit_ref` is the last that credited.
    Nobody expects it sooner than `credit_days` after the redemption.
    """

    verdict: str
    credited_amount: Amount
    currency: str
    credited_rows: int
    credit_ref: str | None
    credited_at: datetime | None
    reconciled_at: datetime
    credit_days: int


class RejectedRow(Record, sheet="file line column code message fix"):
    """One error of a row that was not accepted, and how to mend it."""

    file: str
    file_kind: str
    import_id: UUID
    imported_at: datetime
    line: int
    column: str | None
    code: str
    message: str
    fix: str


class RepeatedRow(Record, sheet="file line conflict imported_at"):
    """A row whose reference was known already; in `conflict` if it had other content."""

    file: str
    file_kind: str
    import_id: UUID
    imported_at: datetime
    line: int
    conflict: bool


class WithdrawnRow(Record, sheet="file line imported_at withdrawn_at actor reason"):
    """A purchase that left with its file: when, who took that back, and why."""

    file: str
    import_id: UUID
    imported_at: datetime = shown("taken at", gives_way=1)
    line: int | None
    withdrawn_at: datetime = shown("taken back at")
    actor: str = shown("by", gives_way=2)
    reason: str


class ExplainedRefund(
    Record,
    sheet="refund_ref transaction_ref kind amount currency refunded_at state outcome"
    " purchase_amount net_after how moved_at",
):
    """A refund, the purchase that it is of, and what it took back.

    `net_after` is what it left of the purchase; the offer had asked for `min_spend`.
    """

    refund_ref: str = shown("refund")
    kind: str = shown(gives_way=8)
    amount: Amount
    currency: str = shown(gives_way=5)
    refunded_at: datetime = shown("refunded at", gives_way=3)
    received_at: datetime
    original_transaction_ref: str | None
    transaction_ref: str | None = shown("purchase", gives_way=6)
    state: str
    outcome: str | None = shown(gives_way=1)
    how: str | None = shown(gives_way=7)
    actor: str | None
    reason: str | None
    moved_at: datetime | None = shown("since", gives_way=9)
    purchase_amount: Amount | None = shown("of purchase", gives_way=4)
    net_after: Amount | None = shown("left of it", gives_way=2)
    redemption_id: UUID | None
    min_spend: Amount | None
    institution_payout_amount: Amount | None
    file: str | None
    line: int | None


class MerchantLink(Record):
    """Since when a merchant is known by an identifier, and the person who said so, and why."""

    since: datetime
    actor: str
    reason: str


class Explanation(Record):
    """What is known of a reference.

    `status` is what was decided, or `not_matched_yet`, `rejected`, `duplicate`, `withdrawn` or
    `not_received`; `reason` is the outcome with the nearest offer, `offer_id`, whose `checks` are
    told in full. Of the reference of a refund both are how far it is, and what became of it.
    """

    transaction_ref: str
    status: str
    reason: str
    merchant_id: UUID | None = shown(kind="text", gives_way=4, default=None)
    redemption_id: UUID | None = shown(kind="text", gives_way=3, default=None)
    offer_id: str | None = shown("offer", gives_way=2, default=None)
    evaluations: list[Evaluation] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    purchase: ExplainedPurchase | None = None
    decided_at: datetime | None = None
    run_id: UUID | None = None
    redemption: ExplainedRedemption | None = None
    rejects: list[RejectedRow]
    duplicates: list[RepeatedRow]
    withdrawn: list[WithdrawnRow] | None = if_any()
    refunds: list[ExplainedRefund] | None = if_any()
    merchant_known: MerchantLink | None = if_any()
    credit: RedemptionCredit | None = if_any()
    documents: list[DocumentLine] | None = if_any()


class FullExplanation(Explanation):
    """An explanation with what is not told: the number of the purchase, and the nearest offer.

    `nearest` is the row of its evaluation, as `river/outcomes.py` has it.
    """

    purchase_no: int | None = None
    nearest: Row | None = None


def explain(store: Store, institution_id: UUID, refs: Sequence[str]) -> dict[str, FullExplanation]:
    """Return what is known of each ref, by ref, in the order given."""
    sought = list(dict.fromkeys(refs))
    of = {"institution_id": institution_id, "refs": sought}
    by_ref: dict[str, Row] = {}
    evaluations: dict[int, Sequence[Row]] = {}
    merchants: dict[int, MerchantLink] = {}
    if _judge(store, institution_id, refs):
        rows = store.rows("answers/explanations:purchases")
        by_ref = {row["transaction_ref"]: row for row in rows}
        evaluations = _evaluations(store)
        links = store.rows("answers/explanations:known_merchants")
        merchants = {link["purchase_no"]: MerchantLink.part(link) for link in links}
        redeemed = [row["redemption_no"] for row in rows if row["redemption_no"] is not None]
        documents = documents_of(store, institution_id, redeemed)
        by_ref = {
            ref: {**row, "documents": documents.get(row["redemption_no"])}
            for ref, row in by_ref.items()
        }
    rejects = _by_ref(store.rows("answers/explanations:rejects", **of))
    duplicates = _by_ref(store.rows("answers/explanations:duplicates", **of))
    withdrawn = _by_ref(store.rows("answers/explanations:withdrawn", **of))
    refunds = store.records(ExplainedRefund, "answers/explanations:refunds", **of)
    return {
        ref: FullExplanation(
            transaction_ref=ref,
            rejects=[RejectedRow(**row, fix=CODES[row["code"]].fix) for row in rejects[ref]],
            duplicates=[RepeatedRow(**row) for row in duplicates[ref]],
            **_decided(by_ref[ref], evaluations)
            if ref in by_ref
            else _not_a_purchase(ref, rejects[ref], duplicates[ref], withdrawn[ref], refunds),
            withdrawn=[WithdrawnRow(**row) for row in withdrawn[ref]] or None,
            refunds=_refunds_of(ref, refunds, is_purchase=ref in by_ref) or None,
            merchant_known=merchants.get(by_ref[ref]["purchase_no"]) if ref in by_ref else None,
        )
        for ref in sought
    }


def reasons(store: Store, institution_id: UUID, refs: Sequence[str]) -> dict[str, str]:
    """Return the reasons that `explain` has for the refs of decided purchases, and only these."""
    _judge(store, institution_id, refs)
    outcomes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in store.rows("answers/explanations:outcomes"):
        outcomes[row["transaction_ref"], row["decided"]] += filter(None, [row["outcome"]])
    return {
        ref: nearest(own_outcomes) if decided == _NOT_REDEEMED else decided
        for (ref, decided), own_outcomes in outcomes.items()
    }


def near_refs(store: Store, institution_id: UUID, ref: str) -> list[str]:
    """Return the refs of an institution that may have been meant, those of like length first.

    All that are near among its newest purchases and its rejected rows; of older ones the likeliest
    spellings, which are looked up: to read every reference takes longer the longer the history is.
    """
    rows = store.rows(
        "answers/explanations:near",
        institution_id=institution_id,
        ref=ref,
        pattern=pattern(ref),
        newest=_NEWEST,
        purchase_nos=purchases_of_refs(store, spellings(ref), institution_id),
    )
    near = [row["transaction_ref"] for row in rows if are_near(ref, row["transaction_ref"])]
    return sorted(near, key=lambda item: (abs(len(item) - len(ref)), item))[:_SUGGESTED]


def titles(store: Store, offer_ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the titles of offers by offer and language."""
    by_offer: dict[str, dict[str, str]] = defaultdict(dict)
    for row in store.rows("answers/explanations:titles", offer_ids=list(offer_ids)):
        by_offer[row["offer_id"]][row["language"]] = row["title"]
    return by_offer


def _judge(store: Store, institution_id: UUID, refs: Sequence[str]) -> bool:
    """Make `asked`, `judged` and `facing` of refs; return whether there is any purchase of them."""
    numbers = purchases_of_refs(store, refs, institution_id)
    of = {"institution_id": institution_id, "purchase_nos": numbers}
    store.execute("answers/explanations:asked", **of)
    store.execute("answers/explanations:judged")
    store.execute("answers/explanations:facing")
    return bool(numbers)


def _decided(row: Row, evaluations: dict[int, Sequence[Row]]) -> Row:
    own = evaluations.get(row["purchase_no"], [])
    judged = [item for item in own if item["outcome"] != _UNKNOWN]
    best = min(judged, key=lambda item: NEAREST.index(item["outcome"]), default=None)
    status = row["decided"] or "not_matched_yet"
    reason = status
    ordered = sorted(own, key=lambda item: (item is not best, NEAREST.index(item["outcome"])))
    if status == _NOT_REDEEMED:
        reason = nearest(item["outcome"] for item in judged)
    return {
        "status": status,
        "reason": reason,
        "merchant_id": row["merchant_id"],
        "redemption_id": row["redemption_id"],
        "offer_id": best["offer_id"] if best else None,
        "evaluations": [_evaluation(item) for item in ordered],
        "checks": checks(best) if best else [],
        "purchase": ExplainedPurchase.part(
            row, cardholder_token_masked=mask(row["cardholder_token"])
        ),
        "decided_at": row["decided_at"],
        "run_id": row["run_id"],
        "redemption": _redemption(row),
        "credit": RedemptionCredit.part(row) if row["verdict"] else None,
        "documents": row["documents"],
        "purchase_no": row["purchase_no"],
        "nearest": best,
    }


def _not_a_purchase(
    ref: str,
    rejects: Sequence[Row],
    duplicates: Sequence[Row],
    withdrawn: Sequence[Row],
    refunds: Sequence[ExplainedRefund],
) -> Row:
    own = [refund for refund in refunds if refund.refund_ref == ref]
    if own:
        status = f"refund_{own[0].state}"
        reason = own[0].outcome or status
        return {"status": status, "reason": reason, "redemption_id": own[0].redemption_id}
    by_status = {"rejected": rejects, "duplicate": duplicates, "withdrawn": withdrawn}
    status = next((name for name, rows in by_status.items() if rows), "not_received")
    return {"status": status, "reason": status}


def _refunds_of(
    ref: str, refunds: Sequence[ExplainedRefund], *, is_purchase: bool
) -> list[ExplainedRefund]:
    """Return the refunds of a purchase, or else the refund of this reference."""
    if is_purchase:
        return [
            row for row in refunds if ref in {row.transaction_ref, row.original_transaction_ref}
        ]
    return [row for row in refunds if row.refund_ref == ref]


def _evaluations(store: Store) -> dict[int, Sequence[Row]]:
    """Return the evaluations of the purchases in `judged`, with the offer that each redeemed."""
    rows = store.rows("answers/explanations:evaluations")
    evaluations: dict[int, Sequence[Row]] = {}
    for purchase_no, group in groupby(rows, key=lambda row: row["purchase_no"]):
        own = list(group)
        best = next((evaluation for evaluation in own if evaluation["outcome"] == "redeemed"), None)
        best_offer = {
            "best_offer_id": best["offer_id"] if best else None,
            "best_cashback": best["reward_amount"] if best else None,
        }
        evaluations[purchase_no] = [{**evaluation, **best_offer} for evaluation in own]
    return evaluations


def _evaluation(row: Row) -> Evaluation:
    expected, actual = compared(row)
    return Evaluation(
        offer_id=row["offer_id"],
        outcome=row["outcome"],
        expected=expected,
        actual=actual,
        reward=reward_text(row) if row["outcome"] in FITTED else None,
        terms=OfferTerms.part(row, since=row["version_since"]),
    )


def _redemption(row: Row) -> ExplainedRedemption | None:
    if row["redemption_id"] is None:
        return None
    return ExplainedRedemption.part(
        row,
        offer_id=row["redeemed_offer_id"],
        status=row["redemption_status"],
    )


def _by_ref(rows: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    refs: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        ref = row["transaction_ref"]
        refs[ref].append({name: value for name, value in row.items() if name != "transaction_ref"})
    return refs
