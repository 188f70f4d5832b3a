from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from cardoffers_cli.kernel.words.approvals import (
    ACTIONS,
    Limit,
    actor_named,
    approval_id,
    digest_of,
    is_needed,
    may_be_one,
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
    (False, "refund_dismiss", "100.00", "GBP", LIMIT),
    (True, "cardholder_erase", None, None, LIMIT),
    (False, "merchant_accept", "100.00", "GBP", LIMIT),
    (True, "approvals_set", None, None, LIMIT),
    (False, "receipt_allocate", "100.00", "GBP", LIMIT),
    (True, "receipt_allocate", "100.01", "GBP", LIMIT),
]


@pytest.mark.parametrize(("expected", "action", "amount", "currency", "limit"), NEEDED)
def test_what_has_a_limit_needs_an_approval_above_it(
    expected: bool, action: str, amount: str | None, currency: str | None, limit: Limit
) -> None:
    exact = None if amount is None else Decimal(amount)
    assert expected == is_needed(action, exact, currency, limit)


def test_the_table_has_every_action() -> None:
    assert set(ACTIONS) == {action for _, action, *_ in NEEDED}


# expected, maker, approver
PEOPLE = [
    (False, "alice", "bob"),
    (True, "alice", "alice"),
    (False, "alice as ops", "bob as ops"),
    (True, "alice as ops", "alice as ops"),
    (True, "alice as ops", "alice"),
    (True, "alice", "alice as ops"),
    (True, "alice as ops", "ops"),
    (True, "ops", "alice as ops"),
    (False, "alice as ops", "bob"),
    (False, "alice as ops", "bob as root"),
    (True, "alice as ops", "alice as root"),
    (True, "alice", "bob as alice"),
]


@pytest.mark.parametrize(("expected", "maker", "approver"), PEOPLE)
def test_who_may_be_one_person_is_none_too_many(expected: bool, maker: str, approver: str) -> None:
    """rules.md#second-persons."""
    assert expected == may_be_one(maker, approver) == may_be_one(approver, maker)


def test_a_person_is_named_beside_the_user() -> None:
    assert ["ops", "ops", "alice as ops"] == [
        actor_named(name, "ops") for name in (None, "ops", "alice")
    ]


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
