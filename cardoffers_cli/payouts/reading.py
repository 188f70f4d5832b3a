"""What is shown of payouts and of what banks said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.periods import Period
from cardoffers_cli.kernel.words.records import shown
from cardoffers_cli.payouts.bank_codes import meaning_of
from cardoffers_cli.payouts.questions import (
    BankEntryRow,
    PayoutState,
    list_entries,
    payable_statement,
    payout_states,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from cardoffers_cli.kernel.store.job import Job


class ListedPayout(
    PayoutState,
    sheet="* age_days form account due_on exported_at booked_at payment_id closed_at attempt"
    " kept_amount withdrawn_reason -came_back",
):
    """What is paid of a statement, and what the bank means by its code."""

    meaning: str | None = shown(gives_way=3)


class ListedBankEntry(
    BankEntryRow,
    sheet="status direction number institution amount currency booked_at code meaning invoice"
    " candidates bank_ref payment_id file place message counts entry_id",
):
    """What a bank said of one payment, and what it means by its code."""

    meaning: str | None = shown(gives_way=4)


class PayoutDetails(ListedPayout):
    """What is paid of a statement, with all that the bank said of it, and what was withdrawn."""

    bank: Sequence[ListedBankEntry]
    withdrawn: Sequence[ListedPayout]


def payouts(
    job: Job, institution: str | None, *, period: str | None = None, **asked: Any
) -> list[ListedPayout]:
    """Return what is paid of statements, of an institution or of all, the newest first.

    A `period` is a month; a `state` and a `limit` are as of the statement. Payments that were
    withdrawn follow their statement.
    """
    if period:
        asked["period"] = str(Period.of(period, job.now))
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution).id if institution else None
        states = payout_states(store, job.now, institution_id=owner, withdrawn=True, **asked)
    return [_listed(state) for state in states]


def show_payout(job: Job, number: str) -> PayoutDetails:
    """Return what is paid of a statement, and what the bank said; raise `NotFound`, `Refused`."""
    with reading(job) as source:
        statement = payable_statement(source.store, number)
        owner = statement.institution_id
        states = payout_states(
            source.store, job.now, institution_id=owner, numbers=[number], withdrawn=True
        )
        entries = list_entries(source.store, institution_id=owner, number=number)
    if not states:
        raise Refused(
            f"The statement {number} pays nothing.",
            code="nothing_payable",
            hint=f"`cardoffers statement show {number}` shows what it says.",
        )
    first, *withdrawn = map(_listed, states)
    return PayoutDetails(**first, bank=[_entry(entry) for entry in entries], withdrawn=withdrawn)


def bank_entries(job: Job, institution: str | None, **asked: Any) -> list[ListedBankEntry]:
    """Return what banks said, of an institution or of all, as asked of `list_entries`."""
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution).id if institution else None
        entries = list_entries(store, institution_id=owner, **asked)
    return [_entry(entry) for entry in entries]


def _listed(state: PayoutState) -> ListedPayout:
    return ListedPayout(**state, meaning=meaning_of(state.bank_code))


def _entry(entry: BankEntryRow) -> ListedBankEntry:
    return ListedBankEntry(**entry, meaning=meaning_of(entry.code))
