"""Approvals of a second person (rules.md#four-eyes): what needs one, and for how long.

To add an action that needs one, add its name here, and let its job call `require_approval`.
"""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID, uuid5

from cardoffers_cli.kernel.words.json_text import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from typing import Any

LASTS = timedelta(days=7)
"""How long a request, and the approval that answers it, are valid."""


class Action(NamedTuple):
    """An action that needs an approval: what people call it, and whether small amounts are free."""

    title: str
    has_limit: bool


ACTIONS = {
    "redemption_reverse": Action("Reversing a redemption", has_limit=True),
    "file_undo": Action("Taking a file back", has_limit=True),
    "finding_accept": Action("Accepting a finding of the reconciliation", has_limit=True),
    "statement_close": Action("Closing a statement with open findings", has_limit=False),
    "payout_export": Action("Exporting a payout", has_limit=False),
    "payout_withdraw": Action("Withdrawing a payout", has_limit=False),
    "receipt_allocate": Action("Allocating a receipt", has_limit=True),
    "invoice_set": Action("Setting the legal number or the tax of an invoice", has_limit=True),
    "invoice_settle": Action("Settling an invoice elsewhere", has_limit=True),
    "account_set": Action("Changing the account of an institution", has_limit=False),
    "approver_add": Action("Adding an approver", has_limit=False),
    "approver_remove": Action("Removing an approver", has_limit=False),
    "bank_file": Action("Importing a bank file that was typed by hand", has_limit=False),
    "refund_link": Action("Linking a refund", has_limit=True),
    "refund_dismiss": Action("Dismissing a refund", has_limit=True),
    "offer_terms": Action("Letting offers cost more", has_limit=True),
    "cardholder_erase": Action("Erasing a cardholder", has_limit=False),
    "merchant_accept": Action("Accepting an identifier of a merchant", has_limit=True),
    "approvals_set": Action("Changing the settings of approvals", has_limit=False),
    "time_zone_set": Action("Changing the time zone of an institution", has_limit=False),
}


class Limit(NamedTuple):
    """Up to which amount, in which currency, an institution's actions need no approval."""

    amount: Decimal | None
    currency: str


def is_needed(action: str, amount: Decimal | None, currency: str | None, limit: Limit) -> bool:
    """Return whether an action of an amount needs an approval, where approvals are on.

    It does without a limit, above it, and in another currency than that of the limit.
    """
    if not ACTIONS[action].has_limit or limit.amount is None or amount is None:
        return True
    return currency != limit.currency or abs(amount) > limit.amount


def digest_of(
    action: str,
    subject: str,
    amount: Decimal | None,
    currency: str | None,
    details: Mapping[str, Any],
) -> str:
    """Return the SHA-256 of all that an approval is for: with anything else it is not valid."""
    members = {"action": action, "subject": subject, "amount": amount, "currency": currency}
    return sha256(dumps({**members, "details": dict(sorted(details.items()))}).encode()).hexdigest()


def approval_id(institution_id: UUID, digest: str, number: int) -> UUID:
    """Return the id of a request: `number` counts those of one institution that are alike."""
    return uuid5(institution_id, f"approval {digest} {number}")
