"""A person's answers to whose an unknown identifier is (rules.md#suggestions)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount


class MerchantIdentifier(Record):
    """An identifier that purchases or a catalogue carried, and the merchant that it is of."""

    identifier_no: int
    merchant_identifier_type: str
    merchant_identifier: str
    merchant_id: UUID | None
    merchant_name: str | None


class MerchantAnswer(Record):
    """An answer that somebody gave: accepted, refused, new or unlinked."""

    answer: str
    actor: str
    answered_at: datetime
    reason: str


class WaitingSum(Record):
    """What waits for some identifiers at one institution, in one currency."""

    slug: str
    currency: str
    purchases: int
    amount: Amount


class RedeemedByIdentifier(Record, sheet="* currency"):
    """What purchases of one identifier redeemed at an institution, net of what was reversed."""

    institution: str
    currency: str
    redemptions: int
    reversed: int
    institution_payout_amount: Amount = shown("payout")


def find_identifier(
    store: Store, identifier: str, identifier_type: str | None = None
) -> MerchantIdentifier:
    """Return an identifier; raise `NotFound`, and `UsageError` where several types have it."""
    found = store.records(
        MerchantIdentifier,
        "merchants/merchant_answers:find",
        merchant_identifier=identifier,
        merchant_identifier_type=identifier_type,
    )
    if not found:
        raise NotFound(
            f"No purchase and no merchant has the identifier {identifier!r}.",
            code="identifier_not_found",
            hint="`cardoffers merchant suggest` and `cardoffers report unresolved` list them.",
        )
    if len(found) > 1:
        types = ", ".join(each.merchant_identifier_type for each in found)
        raise UsageError(
            f"{identifier} is an identifier of several types: {types}.",
            code="ambiguous_identifier",
            hint=f"Name one with --type {found[0].merchant_identifier_type}.",
        )
    return found[0]


def keep_answer(
    store: Store,
    known: MerchantIdentifier,
    merchant_id: UUID,
    answer: str,
    reason: str,
    *,
    run_no: int,
    now: datetime,
    actor: str,
) -> None:
    """Write an answer, and whose an identifier is by it to the audit log."""
    store.execute(
        "merchants/merchant_answers:keep",
        identifier_no=known.identifier_no,
        merchant_id=merchant_id,
        answer=answer,
        reason=reason,
        run_no=run_no,
        answered_at=now,
        actor=actor,
    )
    if answer == "refused":
        return
    is_taken = answer == "unlinked"
    store.execute(
        "merchants/merchant_answers:log",
        subject_id=f"{known.merchant_identifier_type}:{known.merchant_identifier}",
        old_value=str(merchant_id) if is_taken else None,
        new_value=None if is_taken else str(merchant_id),
        run_no=run_no,
        now=now,
        actor=actor,
    )


def descriptor_of(store: Store, identifier_no: int) -> str | None:
    """Return what waiting purchases mostly call an identifier."""
    found: str | None = store.value(
        "merchants/merchant_answers:descriptor", identifier_no=identifier_no
    )
    return found
