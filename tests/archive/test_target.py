"""What an engine is given: the columns that plans read, ids as text, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cardoffers_cli.archive.target import CATALOGUE, stored
from cardoffers_cli.kernel.store.statements import statements
from tables import given, uid

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.store import Store

ID = "string"
NO = "int32"
ROW = "int64"
MONEY = "decimal128(18, 4)"
TIME = "timestamp[us]"


def test_ids_are_given_as_text_and_names_are_not_given(store: Store) -> None:
    given(store, "merchants", "merchant category\nbakery food")
    (row,) = stored(store, "merchants").to_pylist()
    assert {"merchant_no": 301, "merchant_id": str(uid("bakery"))} == row


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("merchants", {"merchant_no": NO, "merchant_id": ID}),
        ("identifiers", {"identifier_no": ROW, "merchant_id": ID}),
        ("link_starts", {"offer_no": NO, "cardholder_no": ROW, "counts_from": TIME}),
        (
            "terms_in_force",
            {"offer_no": NO, "offer_id": ID, "merchant_no": NO, "version_no": ROW}
            | {"known_from": TIME, "known_until": TIME, "min_spend": MONEY}
            | {"cashback_amount": MONEY, "merchant_funded_amount": MONEY}
            | {"cashback_percent": "decimal128(5, 2)", "commission_rate": "decimal128(9, 6)"}
            | {"commission_basis": "string", "max_commission_amount": MONEY}
            | {"minor_unit": NO}
            | {"max_redemptions_per_cardholder": NO, "budget_amount": MONEY}
            | {"starts_at": TIME, "expires_at": TIME},
        ),
        (
            "recent_purchases",
            {"purchase_no": ROW, "institution_id": ID, "transaction_ref": "string"}
            | {"cardholder_no": ROW, "instrument_no": ROW, "identifier_no": ROW}
            | {"merchant_id": ID, "amount": MONEY, "currency": "string"}
            | {"transacted_at": TIME, "received_at": TIME, "import_no": ROW, "line": ROW},
        ),
        (
            "recent_decisions",
            {"purchase_no": ROW, "run_no": ROW, "outcome": "string", "merchant_no": NO},
        ),
    ],
)
def test_what_plans_read_is_given_by_these_columns(
    store: Store, name: str, expected: dict[str, str]
) -> None:
    schema = stored(store, name).schema
    assert expected == {column.name: str(column.type) for column in schema}


def test_everything_that_can_be_given_is_tried_above() -> None:
    assert {*CATALOGUE, "recent_purchases", "recent_decisions"} == {*statements("archive/target")}
