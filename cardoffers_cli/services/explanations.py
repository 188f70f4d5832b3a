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
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.deliveries import delivery_of
from cardoffers_cli.domain.findings import CODES
from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.near_refs import are_near, pattern
from cardoffers_cli.domain.outcomes import NEAREST, checks, compared, nearest
from cardoffers_cli.domain.tokens import mask

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

_NOT_REDEEMED = "not_redeemed"
_SUGGESTED = 5
_WEBHOOK = (
    *("delivered_at", "webhook_state", "webhook_attempts"),
    *("webhook_next_attempt_at", "webhook_error"),
)
_UNKNOWN = "merchant_unresolved"


def explain(store: Store, institution_id: UUID, refs: Sequence[str]) -> dict[str, Row]:
    """Return what is known of each ref, by ref, in the order given.

    `status` is what was decided, or `not_matched_yet`, `rejected`, `duplicate` or `not_received`;
    `reason` is the outcome with the nearest offer, whose `checks` are told in full.
    """
    of = _judge(store, institution_id, refs)
    found = {row["transaction_ref"]: row for row in store.rows("services/explanations:purchases")}
    evaluations = _evaluations(store)
    rejects = _by_ref(store.rows("services/explanations:rejects", **of))
    duplicates = _by_ref(store.rows("services/explanations:duplicates", **of))
    return {
        ref: {
            "transaction_ref": ref,
            **_decided(found.get(ref), evaluations, rejects[ref], duplicates[ref]),
            "rejects": [_reject(row) for row in rejects[ref]],
            "duplicates": duplicates[ref],
        }
        for ref in of["refs"]
    }


def reasons(store: Store, institution_id: UUID, refs: Sequence[str]) -> dict[str, str]:
    """Return the reasons that `explain` has for the refs of decided purchases, and only these."""
    _judge(store, institution_id, refs)
    outcomes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in store.rows("services/explanations:outcomes"):
        outcomes[row["transaction_ref"], row["decided"]] += filter(None, [row["outcome"]])
    return {
        ref: nearest(held) if decided == _NOT_REDEEMED else decided
        for (ref, decided), held in outcomes.items()
    }


def near_refs(store: Store, institution_id: UUID, ref: str) -> list[str]:
    """Return the refs of an institution that may have been meant, those of like length first."""
    rows = store.rows(
        "services/explanations:near", institution_id=institution_id, ref=ref, pattern=pattern(ref)
    )
    near = [row["transaction_ref"] for row in rows if are_near(ref, row["transaction_ref"])]
    return sorted(near, key=lambda each: (abs(len(each) - len(ref)), each))[:_SUGGESTED]


def titles(store: Store, offer_ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the titles of offers by offer and language."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in store.rows("services/explanations:titles", offer_ids=list(offer_ids)):
        found[row["offer_id"]][row["language"]] = row["title"]
    return found


def _judge(store: Store, institution_id: UUID, refs: Sequence[str]) -> Row:
    """Make `asked`, `judged` and `facing` of refs; return what they are asked by."""
    of: Row = {"institution_id": institution_id, "refs": list(dict.fromkeys(refs))}
    store.execute("services/explanations:asked", **of)
    store.execute("services/explanations:judged")
    store.execute("services/explanations:facing")
    return of


def _decided(
    row: Row | None, evaluations: dict[int, list[Row]], rejects: list[Row], duplicates: list[Row]
) -> Row:
    if row is None:
        return _not_a_purchase(rejects, duplicates)
    held = evaluations.get(row["purchase_no"], [])
    judged = [each for each in held if each["outcome"] != _UNKNOWN]
    best = min(judged, key=lambda each: NEAREST.index(each["outcome"]), default=None)
    status = row["decided"] or "not_matched_yet"
    reason = status
    if status == _NOT_REDEEMED:
        reason = nearest(each["outcome"] for each in judged)
    return {
        "status": status,
        "reason": reason,
        "merchant_id": row["merchant_id"],
        "redemption_id": row["redemption_id"],
        "offer_id": best["offer_id"] if best else None,
        "evaluations": [_evaluation(each) for each in _nearest_first(held, best)],
        "checks": checks(best) if best else [],
        "nearest": best,
        "purchase": _purchase(row),
        "decided_at": row["decided_at"],
        "run_id": row["run_id"],
        "redemption": _redemption(row),
    }


def _not_a_purchase(rejects: list[Row], duplicates: list[Row]) -> Row:
    status = "rejected" if rejects else "duplicate" if duplicates else "not_received"
    nothing = ("merchant_id", "redemption_id", "offer_id", "nearest", "purchase", "decided_at")
    return {
        "status": status,
        "reason": status,
        **dict.fromkeys(nothing),
        "evaluations": [],
        "checks": [],
        "run_id": None,
        "redemption": None,
    }


def _evaluations(store: Store) -> dict[int, list[Row]]:
    """Return the evaluations of the purchases in `judged`, with the offer that each redeemed."""
    rows = store.rows("services/explanations:evaluations")
    found = {no: list(group) for no, group in groupby(rows, key=lambda row: row["purchase_no"])}
    for held in found.values():
        best = next((each for each in held if each["outcome"] == "redeemed"), None)
        for each in held:
            each["best_offer_id"] = best["offer_id"] if best else None
            each["best_cashback"] = best["cashback_amount"] if best else None
    return found


def _nearest_first(held: list[Row], best: Row | None) -> list[Row]:
    return sorted(held, key=lambda each: (each is not best, NEAREST.index(each["outcome"])))


def _evaluation(row: Row) -> Row:
    expected, actual = compared(row)
    return {
        "offer_id": row["offer_id"],
        "outcome": row["outcome"],
        "expected": expected,
        "actual": actual,
        "terms": _terms(row),
    }


def _terms(row: Row) -> Row:
    """Return the version of an offer that a purchase was judged by, and its figures."""
    return {
        "version": row["version"],
        "since": row["version_since"],
        "currency": row["currency"],
        "min_spend": quantize(row["min_spend"], row["currency"]),
        "cashback_amount": quantize(row["cashback_amount"], row["currency"]),
        "commission_rate": row["commission_rate"],
        "max_redemptions_per_cardholder": row["max_redemptions_per_cardholder"],
    }


def _purchase(row: Row) -> Row:
    names = ("transacted_at", "received_at", "currency", "file", "line", "import_id")
    others = (
        *("merchant_name", "merchant_identifier_type", "merchant_identifier"),
        "merchant_descriptor",
    )
    return {
        "amount": quantize(row["amount"], row["currency"]),
        **{name: row[name] for name in (*names, *others, "sent_merchant_id")},
        "file_kind": row["file_kind"],
        "cardholder_token_masked": mask(row["cardholder_token"]),
        "purchase_no": row["purchase_no"],
    }


def _redemption(row: Row) -> Row | None:
    if row["redemption_id"] is None:
        return None
    times = ("settles_at", "settled_at", "reversed_at", "reversal_reason")
    return {
        "redemption_id": row["redemption_id"],
        "offer_id": row["redeemed_offer_id"],
        "status": row["redemption_status"],
        "currency": row["currency"],
        "institution_payout_amount": quantize(row["institution_payout_amount"], row["currency"]),
        **{name: row[name] for name in times},
        "delivery": delivery_of(
            row["webhook_state"],
            attempts=row["webhook_attempts"] or 0,
            has_webhook=row["has_webhook"],
        ),
        **{name: row[name] for name in _WEBHOOK},
    }


def _reject(row: Row) -> Row:
    return {**row, "fix": CODES[row["code"]].fix}


def _by_ref(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        ref = row["transaction_ref"]
        found[ref].append({name: value for name, value in row.items() if name != "transaction_ref"})
    return found
