"""What is shown of credited rows: a list, and one of them beside what is owed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.credits.credits import Credit, CreditRow, DueCredit, find_credit, list_credits
from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.records import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cardoffers_cli.credits.credits import CreditStatus
    from cardoffers_cli.kernel.store.job import Job


class ListedCredit(Credit, sheet="institution *"):
    """A credited row as it was sent, in the shape of `credit list --format json`."""

    institution: str = shown(gives_way=6)


class CreditDetails(ListedCredit, DueCredit):
    """One credited row with its redemption, and the other rows that were credited for that."""

    others: Sequence[Credit]


def credit_rows(
    job: Job,
    institution: str | None,
    *,
    status: CreditStatus | None = None,
    limit: int,
    everywhere: bool = False,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
) -> tuple[list[ListedCredit], int]:
    """Return the credited rows of an institution, the newest first, and how many there are in all.

    `from_at` and `to_at` are the beginning and the end of when they were credited, if any.
    """
    listed: list[ListedCredit] = []
    credited = 0
    span = {"from_at": from_at, "to_at": to_at}
    with reading(job) as source:
        for owner in asked_institutions(source.store, institution, everywhere=everywhere):
            found = list_credits(source.store, owner.id, status=status, limit=limit, **span)
            listed += [ListedCredit.part(each, institution=owner.slug) for each in found]
            credited += found[0].credits if found else 0
    return [without_cards(each) for each in listed[:limit]], credited


def show_credit(job: Job, institution: str | None, credit_ref: str) -> CreditDetails:
    """Return one credited row with all that is known of it; raise `NotFound`."""
    with reading(job) as source:
        (owner,) = asked_institutions(source.store, institution)
        found = find_credit(source.store, owner.id, credit_ref)
        of = found.owed_redemption_id
        same = (
            source.store.records(
                CreditRow,
                "credits/credits:of_redemption",
                institution_id=owner.id,
                redemption_id=of,
                transaction_ref=found.owed_transaction_ref,
            )
            if of
            else []
        )
    others = [Credit.part(each) for each in same if each.credit_ref != credit_ref]
    shown: CreditDetails = without_cards(
        CreditDetails(**found, institution=owner.slug, others=others)
    )
    return shown
