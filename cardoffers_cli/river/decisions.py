"""What was decided of purchases, with every check and its reason."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.river.outcomes import compared, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class OfferEvaluation(Record):
    """What was decided of one offer: what its check asked for, if anything, and what was there."""

    offer_id: str
    outcome: str
    expected: Annotated[Any, "What the check asked for, if anything."]
    actual: Annotated[Any, "What was there."]


class SimulatedPurchase(
    Record,
    sheet="line transaction_ref reason offer_id currency institution_payout_amount",
):
    """One purchase as `simulate` answers it: `match` or `no_match`, and the amounts of a match.

    There is one evaluation for each offer of the merchant that is in the program or linked, or
    for each of the cardholder's links while the merchant is unknown (rules.md#reasons). An event
    that is asked for alone has no line.
    """

    line: int | None = if_any()
    transaction_ref: str
    outcome: str
    reason: Annotated[str, "What decided: `redeemed`, or why not."]
    merchant_id: UUID | None
    offer_id: str | None
    merchant_funded_amount: Amount | None
    commission_amount: Amount | None
    institution_payout_amount: Amount | None = shown("payout")
    currency: str
    evaluations: Sequence[OfferEvaluation]


def decisions_of_import(
    store: Store, institution_id: UUID, import_no: int
) -> list[SimulatedPurchase]:
    """Return every purchase of an import in the order of the file."""
    of = {"institution_id": institution_id, "import_no": import_no}
    all_rows = store.rows("river/decisions:evaluations_of_import", **of)
    evaluations = {
        purchase_no: [_evaluation(row) for row in rows]
        for purchase_no, rows in groupby(all_rows, key=lambda row: row["purchase_no"])
    }
    purchases = []
    for row in store.rows("river/decisions:of_import", **of):
        offers = evaluations.get(row["purchase_no"], [])
        purchases.append(
            SimulatedPurchase.part(
                row,
                outcome="no_match" if row["offer_id"] is None else "match",
                reason=_reason(row["outcome"], offers),
                evaluations=offers,
            )
        )
    return purchases


def _reason(decided: str | None, evaluations: Sequence[OfferEvaluation]) -> str:
    """Say what was decided or, where no offer was won, how near the nearest of them came."""
    if decided != "not_redeemed":
        return decided or "not_matched_yet"
    return nearest(evaluation.outcome for evaluation in evaluations)


def _evaluation(row: Mapping[str, Any]) -> OfferEvaluation:
    expected, actual = compared(row)
    return OfferEvaluation.part(row, expected=expected, actual=actual)
