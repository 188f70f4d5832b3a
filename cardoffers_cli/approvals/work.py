"""Approvals: list what was asked for, show one, sign or refuse it; and who may sign.

Two approvers sign a request with SSH keys of their own (rules.md#four-eyes): who asks, and who
approves. That somebody tried to be both is in the security log, as all else is.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.approval_requests import (
    ON,
    approvable,
    check_approvers,
    find_approvals,
    keep_signature,
    log_approval,
    require_approval,
    who_decides,
)
from cardoffers_cli.kernel.store.approvers import (
    compact,
    document_of,
    find_approvers,
    has_two_approvers,
    public_key,
    sign,
    signer_of,
)
from cardoffers_cli.kernel.store.institutions import find_institution, list_institutions
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import machine_at, run_record
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import quantize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path
    from typing import Any

    from cardoffers_cli.kernel.store.approval_requests import Answer, Approval, ApprovalState
    from cardoffers_cli.kernel.store.approvers import Approver
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store


def list_approvals(
    job: Job,
    institution: str | None = None,
    *,
    state: ApprovalState | None = None,
    limit: int | None = None,
) -> list[Approval]:
    """Return the requests of one institution or of all, the newest first."""
    with reading(job) as source:
        store = source.store
        owner = find_institution(store, institution).id if institution else None
        moment = machine_at(store, job.now)
        return find_approvals(store, moment, institution_id=owner, state=state, limit=limit)


def show_approval(job: Job, approval: str) -> Approval:
    """Return one request; raise `NotFound`."""
    with reading(job) as source:
        return _find(source.store, job, approval)


def waiting(
    job: Job, ids: Sequence[str] = (), *, every: bool = False, action: str | None = None
) -> list[Approval]:
    """Return the requests of ids, or `every` one that waits; of one action alone if one is named.

    Raises `NotFound`, and `Refused` for a request that was answered or has expired.
    """
    with reading(job) as source:
        store = source.store
        requests = [_find(store, job, each) for each in dict.fromkeys(ids)]
        if every:
            requests = find_approvals(store, machine_at(store, job.now), state="pending")
    for request in requests:
        _check_pending(request)
    return [one for one in requests if action in {None, one.action}]


def give(
    job: Job,
    requests: Sequence[Approval],
    *,
    key: Path | None = None,
    signature: str = "",
    leave_others: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
) -> list[Approval]:
    """Sign requests: the first approver asks by that, the second approves what is asked for.

    `key` is the SSH key that signs; else `signature` is one that was made elsewhere. Of requests
    that the approver may not sign, or has signed, those of `leave_others` are left out. Raises
    `Refused` for one of them else, where the key is no approver's, and where the signature is of
    anything else than the requests as they are.
    """
    requests = list(requests)
    if key is not None:
        with reading(job) as source:
            approvers = find_approvers(source.store)
        signature = sign(document_of(requests), key)
        signer = signer_of(document_of(requests), signature, approvers)
        if leave_others and signer is not None:
            own = [one for one in requests if signer.may_sign(one) and one.signed_by != signer.name]
            if own and own != requests:
                signature = sign(document_of(own), key)
            requests = own
    if not requests:
        return []
    with job.store() as store:
        with store.transaction(keep=not dry_run):
            requests = [_find(store, job, str(one.approval_id)) for one in requests]
            for request in requests:
                _check_pending(request)
            signed_before = _sign_all(store, job, requests, compact(signature), reason)
            after = [_find(store, job, str(one.approval_id)) for one in requests]
        if signed_before:
            raise Refused(
                f"{signed_before[0].signed_by} asked for this, and cannot approve it.",
                code="approval_own",
                hint="Let a second approver sign it; `cardoffers help approvals` says who is one."
                + ("" if dry_run else " The attempt is in the security log."),
            )
    return [replace(one, dry_run=dry_run) for one in after]


def _sign_all(
    store: Store, job: Job, requests: Sequence[Approval], signature: str, reason: str | None
) -> list[Approval]:
    """Keep a signature as who asks, or as the answer; return those that its approver signed."""
    signer = signer_of(document_of(requests), signature, find_approvers(store))
    if signer is None:
        raise Refused.from_table("approvals", "approval_signature_wrong")
    if foreign := [one for one in requests if not signer.may_sign(one)]:
        raise Refused.from_table(
            "approvals", "approver_not_allowed", signer=signer, approval_id=foreign[0].approval_id
        )
    own = [one for one in requests if one.signed_by == signer.name]
    moment = machine_at(store, job.now)
    with run_record(store, kind="approval_given", now=job.now, actor=job.actor) as run:
        run.counts["approval_id"] = ", ".join(str(one.approval_id) for one in requests)
        for one in own:
            event = "approval_denied_to_maker"
            log_approval(store, event, one, now=moment, actor=job.actor, is_once=False)
        for one in requests if not own else ():
            if one.signed_by is None:
                keep_signature(store, job, one, signer.name, signature)
            else:
                _write_answer(
                    *(store, job, one, "given"), by=signer.name, reason=reason, signature=signature
                )
    return own


def refuse(job: Job, approval: str, reason: str, *, dry_run: bool = False) -> Approval:
    """Refuse what was asked for, which needs no key; raise `Refused` as `give` does."""
    if not reason.strip():
        raise UsageError(
            "A refusal needs a reason.", hint='Say why: --reason "the amount is wrong".'
        )
    with job.store() as store, store.transaction(keep=not dry_run):
        request = _find(store, job, approval)
        _check_pending(request)
        with run_record(store, kind="approval_refused", now=job.now, actor=job.actor) as run:
            run.counts["approval_id"] = request.approval_id
            _write_answer(store, job, request, "refused", by=job.actor, reason=reason.strip())
        after = _find(store, job, str(request.approval_id))
    return replace(after, dry_run=dry_run)


def _write_answer(
    store: Store,
    job: Job,
    request: Approval,
    answer: Answer,
    *,
    by: str,
    reason: str | None,
    signature: str | None = None,
) -> None:
    moment = machine_at(store, job.now)
    store.execute(
        "approvals/work:answer",
        approval_id=request.approval_id,
        institution_id=request.institution_id,
        answer=answer,
        answered_by=by,
        answered_at=moment,
        reason=reason,
        signature=signature,
    )
    event = f"approval_{answer}"
    log_approval(store, event, request, now=moment, actor=job.actor, approver=by, reason=reason)


def _find(store: Store, job: Job, approval: str) -> Approval:
    """Return one request by its id; raise `NotFound`."""
    moment = machine_at(store, job.now)
    rows = find_approvals(store, moment, approval_id=whole_id(store, "approval", approval))
    if not rows:
        raise NotFound.from_table("approvals", "approval_not_found")
    return rows[0]


def _check_pending(request: Approval) -> None:
    """Raise `Refused` for a request that was answered, or that nobody answered in time."""
    if request.answer is not None and request.answered_at is not None:
        raise Refused.from_table(
            "approvals",
            "approval_answered",
            request=request,
            answered_at=format_minute(request.answered_at),
        )
    if request.state == "expired":
        raise Refused(
            f"The request expired at {format_minute(request.expires_at)}.",
            code="approval_expired",
            hint=f"{request.maker} types the command again, which asks for it again.",
        )


# Approvers


def add_approver(
    job: Job,
    name: str,
    key: Path,
    institution: str | None = None,
    *,
    limit: Decimal | None = None,
    dry_run: bool = False,
) -> Approver:
    """Add an approver: at once until two without a limit could approve it, then with an approval.

    A limit is in the currency of the institution, or of all. Raises `UsageError` for what is no
    public key or no amount of one currency, `Refused` approver_known for a name or a key that was
    used before, and `ApprovalNeeded`.
    """
    public = public_key(key)
    with approvable(job, dry_run=dry_run) as store:
        owner = find_institution(store, institution) if institution else None
        for one in find_approvers(store, removed=True):
            if name == one.name or public == one.public_key:
                raise Refused(
                    f"{one.name} {'was' if one.removed_at else 'is'} an approver with"
                    f" {'this name' if name == one.name else 'this key'}.",
                    code="approver_known",
                    hint="A name and a key are those of one approver, also when removed.",
                )
        owners = [owner] if owner else list_institutions(store)
        currencies = sorted({each.currency for each in owners})
        currency = currencies[0] if limit is not None and len(currencies) == 1 else None
        if limit is not None and (currency is None or limit != quantize(limit, currency)):
            raise UsageError(
                f"{limit} is no amount of one currency.",
                hint="Write one with the currency's decimals, and the institution with -i.",
            )
        details = {"name": name, "public_key": public, "institution": owner and owner.slug}
        with _approver_run(
            store, job, "approver_add", {**details, "limit": limit}, owner, dry_run=dry_run
        ) as (run, approval):
            store.execute(
                "approvals/work:add",
                name=name,
                public_key=public,
                institution_id=owner and owner.id,
                limit_amount=limit,
                currency=currency,
                run_no=run.run_no,
            )
        (added,) = [one for one in find_approvers(store) if one.name == name]
    return replace(added, approval=approval, dry_run=dry_run)


def remove_approver(job: Job, name: str, *, dry_run: bool = False) -> Approver:
    """Remove an approver, whose signatures stand; raise `NotFound`, and as `add_approver` does.

    Raises `Refused` approvers_missing where an institution whose approvals are on would be left
    with fewer than two that have no limit.
    """
    with approvable(job, dry_run=dry_run) as store:
        known = [one for one in find_approvers(store) if one.name == name]
        if not known:
            raise NotFound.from_table("approvals", "approver_not_found", name=name)
        with _approver_run(
            *(store, job, "approver_remove", {"name": name}),
            find_institution(store, known[0].institution) if known[0].institution else None,
            dry_run=dry_run,
        ) as (run, approval):
            store.execute("approvals/work:remove", name=name, run_no=run.run_no)
            for each in list_institutions(store):
                if each.approvals == ON:
                    check_approvers(store, each.slug)
        (after,) = [one for one in find_approvers(store, removed=True) if one.name == name]
    return replace(after, approval=approval, dry_run=dry_run)


@contextmanager
def _approver_run(
    store: Store,
    job: Job,
    action: str,
    details: Mapping[str, Any],
    owner: Institution | None,
    *,
    dry_run: bool,
) -> Iterator[tuple[Run, str | None]]:
    """Open the run of a change of approvers; where two could give it, it needs an approval."""
    name, decides = details["name"], owner or who_decides(store)
    with run_record(store, kind=action, now=job.now, actor=job.actor) as run:
        approval = None
        if decides and has_two_approvers(store, decides.slug):
            approval = require_approval(
                *(store, run, decides),
                action=action,
                subject=name,
                details=details,
                always=True,
                dry_run=dry_run,
            )
        run.counts["approver"] = name
        yield run, approval
