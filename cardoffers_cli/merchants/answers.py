"""What a person answers to a suggested merchant: accept, refuse, a new merchant, or take it back.

An answer is written the way of the catalogue, into its audit log, and kept with its reason; the
next match takes up the purchases that waited. What was redeemed stands (rules.md#suggestions). Of a
reviewed list each row is judged for itself. Accepting pays, so it may need a second person where an
institution whose purchases wait wants one (rules.md#four-eyes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from cardoffers_cli.catalogue.merchants import find_merchant
from cardoffers_cli.catalogue.rows import write_row
from cardoffers_cli.kernel.store.approval_requests import approvable, require_approval
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.records import Record, shown
from cardoffers_cli.merchants import suggestions
from cardoffers_cli.merchants.work import check_is_new

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.catalogue.merchants import Merchant
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount
    from cardoffers_cli.merchants.suggestions import Suggestion


# A person's answers to whose an unknown identifier is (rules.md#suggestions).


class MerchantIdentifier(Record):
    """An identifier that purchases or a catalogue carried, and the merchant that it is of."""

    identifier_no: int
    merchant_identifier_type: str
    merchant_identifier: str
    merchant_id: UUID | None
    merchant_name: str | None


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
    identifiers = store.records(
        MerchantIdentifier,
        "merchants/answers:find",
        merchant_identifier=identifier,
        merchant_identifier_type=identifier_type,
    )
    if not identifiers:
        raise NotFound.from_table("merchants", "identifier_not_found", identifier=identifier)
    if len(identifiers) > 1:
        types = ", ".join(row.merchant_identifier_type for row in identifiers)
        raise UsageError(
            f"{identifier} is an identifier of several types: {types}.",
            code="ambiguous_identifier",
            hint=f"Name one with --type {identifiers[0].merchant_identifier_type}.",
        )
    return identifiers[0]


def keep_answer(
    store: Store,
    identifier: MerchantIdentifier,
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
        "merchants/answers:keep",
        identifier_no=identifier.identifier_no,
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
        "merchants/answers:log",
        subject_id=f"{identifier.merchant_identifier_type}:{identifier.merchant_identifier}",
        old_value=str(merchant_id) if is_taken else None,
        new_value=None if is_taken else str(merchant_id),
        run_no=run_no,
        now=now,
        actor=actor,
    )


STALE = (
    "The evidence is not what it was when the list was written:"
    " `cardoffers merchant suggest -o review.csv` writes it anew."
)
_TWICE = "An earlier row of the list gives it to another merchant."
_TOLD = {"stale": STALE}


class Reviewed(Record):
    """A row of a reviewed list: the suggestion, as it was then, and why it is right."""

    merchant_identifier_type: str
    merchant_identifier: str
    merchant_id: str
    facts: str
    reason: str


class AnsweredIdentifier(Record, sheet="* merchant_id -dry_run"):
    """What became of an identifier that a person answered; `code` says why nothing did."""

    merchant_identifier_type: str = shown("type", gives_way=2)
    merchant_identifier: str = shown("identifier")
    merchant_id: UUID = shown(gives_way=4)
    merchant_name: str = shown("merchant")
    answer: str | None
    code: str | None
    message: str | None = shown(gives_way=1)
    reason: str = shown(gives_way=3)
    dry_run: bool


class UnlinkedIdentifier(Record):
    """An identifier that is no merchant's any more, and what it redeemed, which stands."""

    merchant_identifier_type: str
    merchant_identifier: str
    merchant_id: UUID
    merchant_name: str
    redeemed: Sequence[RedeemedByIdentifier]
    reason: str
    dry_run: bool


def accept(
    job: Job,
    identifier: str,
    merchant: str,
    reason: str,
    *,
    identifier_type: str | None = None,
    is_cluster: bool = False,
    dry_run: bool = False,
) -> list[AnsweredIdentifier]:
    """Say whose an identifier is; with `is_cluster` of all of its name that are suggested alike.

    Raises `Refused` identifier_taken or already_answered, and as `find_identifier` does.
    """
    _check_reason(reason)
    with approvable(job, dry_run=dry_run) as store:
        first = find_identifier(store, identifier, identifier_type)
        owner = find_merchant(store, merchant)
        if against := _against(first, owner):
            raise against
        group = [first, *(_cluster(store, first, owner) if is_cluster else ())]
        with run_record(store, kind="merchant_accept", now=job.now, actor=job.actor) as run:
            _accept(store, [(item, owner, reason) for item in group], run, dry_run=dry_run)
    return [_answered(item, owner, "accepted", reason, dry_run=dry_run) for item in group]


def accept_reviewed(
    job: Job, reviewed: Sequence[Reviewed], *, dry_run: bool = False
) -> list[AnsweredIdentifier]:
    """Accept the rows of a list, those whose facts are as they were; return what became of each."""
    results: list[AnsweredIdentifier] = []
    with approvable(job, dry_run=dry_run) as store:
        facts = {_key(suggestion): suggestion.facts for suggestion in _suggested(store)}
        accepted: dict[int, tuple[MerchantIdentifier, Merchant, str]] = {}
        for row in reviewed:
            _check_reason(row.reason)
            identifier = find_identifier(
                store, row.merchant_identifier, row.merchant_identifier_type
            )
            merchant = find_merchant(store, row.merchant_id)
            against = _against(identifier, merchant)
            code = against.code if against else None
            if code is None and facts.get(_key(row)) != row.facts:
                code = "stale"
            message = against.message if against else _TOLD.get(code or "")
            earlier = accepted.get(identifier.identifier_no)
            if code is None and earlier and earlier[1].merchant_id != merchant.merchant_id:
                code, message = "identifier_taken", _TWICE
            if code is None:
                accepted[identifier.identifier_no] = (identifier, merchant, row.reason)
            answer = None if code else "accepted"
            results.append(
                _answered(
                    *(identifier, merchant, answer, row.reason),
                    dry_run=dry_run,
                    code=code,
                    message=message,
                )
            )
        with run_record(store, kind="merchant_accept", now=job.now, actor=job.actor) as run:
            _accept(store, [*accepted.values()], run, dry_run=dry_run)
    return results


def refuse(
    job: Job,
    identifier: str,
    merchant: str,
    reason: str,
    *,
    identifier_type: str | None = None,
    dry_run: bool = False,
) -> AnsweredIdentifier:
    """Reject a suggested merchant for an identifier; it is not suggested again.

    Raises `Refused` already_answered, where it is the merchant's or was refused before.
    """
    _check_reason(reason)
    with job.store() as store, store.transaction(keep=not dry_run):
        row = find_identifier(store, identifier, identifier_type)
        owner = find_merchant(store, merchant)
        newest = store.row(
            "merchants/answers:newest",
            identifier_no=row.identifier_no,
            merchant_id=owner.merchant_id,
        )
        if row.merchant_id == owner.merchant_id:
            raise _already(f"{identifier} is an identifier of {owner.name}.", identifier)
        if newest and newest["answer"] == "refused":
            raise _already(
                f"{newest['actor']} refused this at {format_minute(newest['answered_at'])}:"
                f" {newest['reason']}",
                identifier,
            )
        with run_record(store, kind="merchant_refuse", now=job.now, actor=job.actor) as run:
            keep_answer(store, row, owner.merchant_id, "refused", reason.strip(), **run.by)
    return _answered(row, owner, "refused", reason, dry_run=dry_run)


def make_merchant(
    job: Job,
    identifier: str,
    category: str,
    *,
    name: str | None = None,
    identifier_type: str | None = None,
    dry_run: bool = False,
) -> AnsweredIdentifier:
    """Make a merchant of an unknown identifier; called what purchases call it, if not said."""
    with approvable(job, dry_run=dry_run) as store:
        row = find_identifier(store, identifier, identifier_type)
        if row.merchant_id is not None:
            raise _taken(row)
        # what waiting purchases mostly call it
        named: str | None = name or store.value(
            "merchants/answers:descriptor", identifier_no=row.identifier_no
        )
        if not named:
            raise UsageError(
                f"No purchase says what {identifier} is called.", hint="Say it: --name NAME."
            )
        check_is_new(store, named, None)
        merchant_id = str(uuid4())
        with run_record(store, kind="merchant_new", now=job.now, actor=job.actor) as run:
            cells = {"merchant_id": merchant_id, "name": named, "category": category}
            write_row(store, "merchants", cells, run)
            owner = find_merchant(store, merchant_id)
            reason = "a new merchant"
            _accept(store, [(row, owner, reason)], run, dry_run=dry_run, answer="new")
    return _answered(row, owner, "new", reason, dry_run=dry_run)


def unlink(
    job: Job,
    identifier: str,
    reason: str,
    *,
    identifier_type: str | None = None,
    dry_run: bool = False,
) -> UnlinkedIdentifier:
    """Take an identifier from its merchant; what it redeemed stands, and is told.

    Raises `Refused` identifier_of_nobody where it has none.
    """
    _check_reason(reason)
    with job.store() as store, store.transaction(keep=not dry_run):
        row = find_identifier(store, identifier, identifier_type)
        if row.merchant_id is None:
            raise Refused.from_table("merchants", "identifier_of_nobody", identifier=identifier)
        with run_record(store, kind="merchant_unlink", now=job.now, actor=job.actor) as run:
            store.execute("merchants/answers:unlink", identifier_no=row.identifier_no)
            keep_answer(store, row, row.merchant_id, "unlinked", reason.strip(), **run.by)
        redeemed = store.records(
            RedeemedByIdentifier, "merchants/answers:redeemed", identifier_no=row.identifier_no
        )
    return UnlinkedIdentifier(
        merchant_identifier_type=row.merchant_identifier_type,
        merchant_identifier=row.merchant_identifier,
        merchant_id=row.merchant_id,
        merchant_name=row.merchant_name or "",
        redeemed=redeemed,
        reason=reason,
        dry_run=dry_run,
    )


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise UsageError("An answer needs a reason.", hint='Say why: --reason "same till receipt".')


def _suggested(store: Store) -> list[Suggestion]:
    return suggestions.listed(store, suggestions.choose(store, suggestions.compare(store)))


def _key(row: Reviewed | Suggestion) -> tuple[str, str, str]:
    return row.merchant_identifier_type, row.merchant_identifier, str(row.merchant_id)


def _cluster(
    store: Store, first: MerchantIdentifier, merchant: Merchant
) -> list[MerchantIdentifier]:
    """Return the other identifiers of the name that the merchant is suggested for too."""
    likely = [row for row in _suggested(store) if row.merchant_id == merchant.merchant_id]
    names = {row.known_as for row in likely if row.merchant_identifier == first.merchant_identifier}
    keys = {
        (row.merchant_identifier, row.merchant_identifier_type): None
        for row in likely
        if row.known_as in names
    }
    group = [find_identifier(store, *key) for key in keys]
    return [item for item in group if item.identifier_no != first.identifier_no]


def _against(identifier: MerchantIdentifier, merchant: Merchant) -> Refused | None:
    """Return what is against accepting, if anything is."""
    if identifier.merchant_id is None:
        return None
    if identifier.merchant_id != merchant.merchant_id:
        return _taken(identifier)
    return _already(
        f"{identifier.merchant_identifier} is an identifier of {merchant.name} already.",
        identifier.merchant_identifier,
    )


def _taken(identifier: MerchantIdentifier) -> Refused:
    number = identifier.merchant_identifier
    return Refused(
        f"{number} is an identifier of {identifier.merchant_name}.",
        code="identifier_taken",
        hint=f'If that is wrong: `cardoffers merchant unlink {number} --reason "…"`, then again.',
    )


def _already(message: str, identifier: str) -> Refused:
    return Refused(
        message,
        code="already_answered",
        hint=f'Nothing was changed. `cardoffers merchant unlink {identifier} --reason "…"` takes an'
        " accepted one back; a refused one may still be accepted.",
    )


def _accept(
    store: Store,
    pairs: Sequence[tuple[MerchantIdentifier, Merchant, str]],
    run: Run,
    *,
    dry_run: bool,
    answer: str = "accepted",
) -> None:
    """Write whose identifiers are, once a second person approved it where one has to."""
    _approve(store, pairs, run, dry_run=dry_run)
    for identifier, merchant, reason in pairs:
        cells: dict[str, str | None] = {
            "merchant_id": str(merchant.merchant_id),
            "merchant_identifier_type": identifier.merchant_identifier_type,
            "merchant_identifier": identifier.merchant_identifier,
        }
        write_row(store, "merchant_identifiers", cells, run)
        keep_answer(store, identifier, merchant.merchant_id, answer, reason.strip(), **run.by)
    run.counts["identifiers"] = len(pairs)


def _approve(
    store: Store,
    pairs: Sequence[tuple[MerchantIdentifier, Merchant, str]],
    run: Run,
    *,
    dry_run: bool,
) -> None:
    """Ask for the approval of each institution whose purchases wait, by what was spent in them."""
    sums = store.records(
        WaitingSum,
        "merchants/answers:waiting",
        identifier_nos=[identifier.identifier_no for identifier, *_ in pairs],
    )
    named = {
        f"{identifier.merchant_identifier_type}:{identifier.merchant_identifier}": merchant.name
        for identifier, merchant, _ in pairs
    }
    first = next(iter(named), "")
    more = f" and {len(named) - 1} more" if len(named) > 1 else ""
    for waiting_sum in sums:
        require_approval(
            store,
            run,
            find_institution(store, waiting_sum.slug),
            action="merchant_accept",
            subject=f"{first}{more}",
            details={"identifiers": named, "purchases": waiting_sum.purchases},
            amount=waiting_sum.amount,
            currency=waiting_sum.currency,
            dry_run=dry_run,
        )


def _answered(
    identifier: MerchantIdentifier,
    merchant: Merchant,
    answer: str | None,
    reason: str,
    *,
    dry_run: bool,
    code: str | None = None,
    message: str | None = None,
) -> AnsweredIdentifier:
    return AnsweredIdentifier(
        merchant_identifier_type=identifier.merchant_identifier_type,
        merchant_identifier=identifier.merchant_identifier,
        merchant_id=merchant.merchant_id,
        merchant_name=merchant.name,
        answer=answer,
        code=code,
        message=message,
        reason=reason,
        dry_run=dry_run,
    )
