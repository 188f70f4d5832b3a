from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from cardoffers_cli.kernel.words.approvals import (
    ACTIONS,
    Limit,
    approval_id,
    digest_of,
    is_needed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = Limit(Decimal("100.00"), "GBP")


# expected, action, amount, currency, limit
NEEDED = [
    (False, "redemption_reverse", "100.00", "GBP", LIMIT),
    (True, "redemption_reverse", "100.01", "GBP", LIMIT),
    (True, "redemption_reverse", "-100.01", "GBP", LIMIT),
    (True, "redemption_reverse", "1.00", "EUR", LIMIT),
    (True, "redemption_reverse", "0.01", "GBP", Limit(None, "GBP")),
    (True, "redemption_reverse", None, None, LIMIT),
    (False, "file_undo", "100.00", "GBP", LIMIT),
    (False, "finding_accept", "100.00", "GBP", LIMIT),
    (True, "statement_close", "1.00", "GBP", LIMIT),
    (True, "payout_export", "1.00", "GBP", LIMIT),
    (True, "payout_withdraw", "1.00", "GBP", LIMIT),
    (True, "account_set", None, None, LIMIT),
    (True, "approver_add", None, None, LIMIT),
    (True, "approver_remove", None, None, LIMIT),
    (True, "bank_file", None, None, LIMIT),
    (False, "invoice_set", "100.00", "GBP", LIMIT),
    (False, "refund_link", "100.00", "GBP", LIMIT),
    (False, "refund_dismiss", "100.00", "GBP", LIMIT),
    (False, "offer_terms", "100.00", "GBP", LIMIT),
    (True, "offer_terms", None, None, LIMIT),
    (True, "cardholder_erase", None, None, LIMIT),
    (False, "merchant_accept", "100.00", "GBP", LIMIT),
    (True, "approvals_set", None, None, LIMIT),
    (True, "time_zone_set", None, None, LIMIT),
    (False, "receipt_allocate", "100.00", "GBP", LIMIT),
    (True, "receipt_allocate", "100.01", "GBP", LIMIT),
    (False, "invoice_settle", "100.00", "GBP", LIMIT),
    (True, "invoice_settle", "100.01", "GBP", LIMIT),
]


@pytest.mark.parametrize(("expected", "action", "amount", "currency", "limit"), NEEDED)
def test_what_has_a_limit_needs_an_approval_above_it(
    expected: bool, action: str, amount: str | None, currency: str | None, limit: Limit
) -> None:
    exact = None if amount is None else Decimal(amount)
    assert expected == is_needed(action, exact, currency, limit)


def test_the_table_has_every_action() -> None:
    assert set(ACTIONS) == {action for _, action, *_ in NEEDED}


def test_a_digest_is_of_everything_but_the_order_of_details() -> None:
    of: dict[str, Any] = {
        "action": "redemption_reverse",
        "subject": "r-1",
        "amount": Decimal("2.20"),
        "currency": "GBP",
        "details": {"offer_id": "of-1", "reason": "returned"},
    }
    changes: list[Mapping[str, Any]] = [
        {"action": "finding_accept"},
        {"subject": "r-2"},
        {"amount": Decimal("2.21")},
        {"currency": "EUR"},
        {"details": {"offer_id": "of-1", "reason": "returned "}},
        {"details": {"offer_id": "of-1"}},
    ]
    digests = {digest_of(**of), *(digest_of(**{**of, **change}) for change in changes)}
    assert len(changes) + 1 == len(digests)
    assert digest_of(**of) == digest_of(
        **{**of, "details": {"reason": "returned", "offer_id": "of-1"}}
    )


def test_an_id_is_derived_from_what_it_is_for() -> None:
    owner, other = UUID(int=1), UUID(int=2)
    ids = {approval_id(owner, "d", 1), approval_id(owner, "d", 2), approval_id(other, "d", 1)}
    assert 3 == len(ids | {approval_id(owner, "d", 1)})
