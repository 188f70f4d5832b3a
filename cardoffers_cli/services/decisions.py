"""What was decided of purchases, with every check and its reason."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.money import quantize
from cardoffers_cli.domain.outcomes import compared, nearest

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

_AMOUNTS = ("merchant_funded_amount", "commission_amount", "institution_payout_amount")


def decisions_of_import(store: Store, institution_id: UUID, import_no: int) -> list[Row]:
    """Return every purchase of an import in the order of the file, as `simulate` answers it.

    One item per purchase: outcome `match` or `no_match`, the merchant, the offer and amounts of a
    match, and one evaluation per offer of the merchant that is in the program or linked, or of the
    cardholder's links while the merchant is unknown (rules.md#reasons).
    """
    of = {"institution_id": institution_id, "import_no": import_no}
    found = store.rows("services/decisions:evaluations_of_import", **of)
    evaluations = {
        purchase_no: [_evaluation(row) for row in rows]
        for purchase_no, rows in groupby(found, key=lambda row: row["purchase_no"])
    }
    return [
        _item(row, evaluations.get(row["purchase_no"], []))
        for row in store.rows("services/decisions:of_import", **of)
    ]


def _item(row: Row, evaluations: list[Row]) -> Row:
    redeemed = row["offer_id"] is not None
    amounts = {
        name: quantize(row[name], row["currency"]) if redeemed else None for name in _AMOUNTS
    }
    return {
        "line": row["line"],
        "transaction_ref": row["transaction_ref"],
        "outcome": "match" if redeemed else "no_match",
        "reason": _reason(row["outcome"], evaluations),
        "merchant_id": row["merchant_id"],
        "offer_id": row["offer_id"],
        **amounts,
        "currency": row["currency"],
        "evaluations": evaluations,
    }


def _reason(decided: str | None, evaluations: list[Row]) -> str:
    """Say what was decided or, where no offer was won, how near the nearest of them came."""
    if decided != "not_redeemed":
        return decided or "not_matched_yet"
    return nearest(evaluation["outcome"] for evaluation in evaluations)


def _evaluation(row: Row) -> Row:
    expected, actual = compared(row)
    return {
        "offer_id": row["offer_id"],
        "outcome": row["outcome"],
        "expected": expected,
        "actual": actual,
    }
