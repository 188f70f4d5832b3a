from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from cardoffers_cli.answers.headlines import answer
from cardoffers_cli.kernel.words.texts import texts_in
from cardoffers_cli.refunds.texts import refund_sentence

AT = datetime(2026, 3, 9, 23, 59)  # noqa: DTZ001 - moments are naive UTC
REFUND: dict[str, Any] = {
    "refund_ref": "rf-1",
    "kind": "refund",
    "amount": Decimal("15.01"),
    "currency": "GBP",
    "refunded_at": AT,
    "original_transaction_ref": "tx-1",
    "transaction_ref": "tx-1",
    "state": "linked",
    "outcome": "reversed",
    "actor": "sam",
    "reason": "sent twice",
    "purchase_amount": Decimal(25),
    "net_after": Decimal("9.99"),
    "min_spend": Decimal(10),
    "institution_payout_amount": Decimal("1.50"),
}
NO_PURCHASE = dict.fromkeys(
    ("transaction_ref", "purchase_amount", "net_after", "min_spend", "institution_payout_amount")
)
OF = "The refund rf-1 of GBP 15.01 is of tx-1, GBP 25.00, of which GBP 9.99 is left: "

SENTENCES = [
    (
        {},
        (
            f"{OF}that is less than the GBP 10.00 of the offer,"
            " so GBP 1.50 of cashback was taken back."
        ),
    ),
    ({"outcome": "kept"}, f"{OF}the offer asks for no more than GBP 10.00, so nothing moved."),
    (
        {"outcome": "outside_clawback_window"},
        f"{OF}the cashback had been settled too long before, so nothing moved.",
    ),
    (
        {"outcome": "refund_exceeds_purchase", "state": "refused"},
        f"{OF}it is more than what is left, so it was refused.",
    ),
    (
        {**NO_PURCHASE, "outcome": "purchase_not_received", "state": "waiting"},
        "The refund rf-1 of GBP 15.01 names tx-1: that purchase was not received, so it waits.",
    ),
    (
        {
            **NO_PURCHASE,
            "original_transaction_ref": None,
            "outcome": None,
            "state": "waiting",
        },
        "The refund rf-1 of GBP 15.01 waits: it names no purchase, and nobody linked it.",
    ),
    (
        {**NO_PURCHASE, "outcome": None, "state": "dismissed"},
        "The refund rf-1 of GBP 15.01 was laid aside by sam (sent twice).",
    ),
]


@pytest.mark.parametrize(("but", "expected"), SENTENCES)
def test_a_sentence_names_both_amounts_the_rule_and_what_moved(
    but: dict[str, Any], expected: str
) -> None:
    assert expected == refund_sentence({**REFUND, **but})


@pytest.mark.parametrize("kind", texts_in("en")["refunds"])
def test_a_cardholder_is_told_of_every_refund(kind: str) -> None:
    state = kind if kind in {"waiting", "refused"} else "linked"
    outcome = {"reversed_whole": "reversed", "linked": "not_redeemed"}.get(kind, kind)
    left = Decimal(0) if kind == "reversed_whole" else REFUND["net_after"]
    refund = {**REFUND, "state": state, "outcome": outcome, "net_after": left}
    found = {"status": f"refund_{state}", "refunds": [refund], "redemption": None}
    told = answer(found, {}, "en")
    assert told.endswith(".")
    assert not re.search(r"[{}]|None|\s\s|\s[.,;:]", told)
    amounts = {"waiting": 1, "refused": 1, "linked": 3, "reversed_whole": 3, "reversed": 5}
    assert amounts.get(kind, 3 if kind == "outside_clawback_window" else 4) == told.count("GBP")
