"""Four eyes (rules.md#four-eyes): a job asks for the approval of a second person with one call.

A job whose work may need one opens its store with `approvable`, and calls `require_approval` in it
before it changes anything. Where the approval is there, and its two signatures are right, it is
used up in the same transaction. Where it is not, the work is given up, and the request for it is
kept in a transaction of its own, signed where the setting `approver_key` names a key.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid5

from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.approvers import (
    document_of,
    find_approvers,
    has_two_approvers,
    sign,
    signer_of,
)
from cardoffers_cli.kernel.store.institutions import find_institution, list_institutions
from cardoffers_cli.kernel.store.runs import machine_at, run_record
from cardoffers_cli.kernel.words.approvals import (
    ACTIONS,
    LASTS,
    Limit,
    approval_id,
    digest_of,
    is_needed,
)
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.money import money_text, quantize
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.approvers import Approver
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.runs import Run
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Amount

ON = "on"
"""What the setting `approvals` of an institution says where it wants them."""
NEEDED = "needed"
"""What a dry run finds where nobody has asked for the approval yet."""


ApprovalState = Literal["pending", "given", "refused", "expired", "used"]
Answer = Literal["given", "refused"]


class ApprovalRequest(Record):
    """What an approval is asked for, by whom and until when.

    `number` counts the requests of the institution that are alike, which is of one `digest`.
    """

    approval_id: UUID
    institution_id: UUID
    institution: str = shown(gives_way=2)
    number: int
    action: str
    subject: str
    amount: Amount | None = shown(gives_way=1)
    currency: str | None = shown(gives_way=1)
    details: Mapping[str, Any]
    digest: str
    maker: str = shown("asked by")
    requested_at: datetime = shown("asked at", gives_way=4)
    expires_at: datetime = shown("until", gives_way=3)


class Approval(
    ApprovalRequest,
    sheet="* -institution_id -number -details -digest -request_signature -answer -answered_at"
    " -answer_signature -used_by -used_at -dry_run",
):
    """A request that is in the store: how far it is, its signatures, its answer, and its use.

    `signed_by` is the approver who asks, `answered_by` the one who agreed, or whoever refused.
    `dry_run` is there where it has just been signed or answered.
    """

    state: str
    signed_by: str | None = shown("signed by", gives_way=5)
    request_signature: str | None
    answer: str | None
    answered_by: str | None = shown("answered by", gives_way=5)
    answered_at: datetime | None
    answer_signature: str | None
    reason: str | None = shown(gives_way=6)
    used_by: str | None
    used_at: datetime | None
    dry_run: bool | None = if_any()


class ApprovalNeeded(Refused):
    """The action needs the approval of a second person.

    `known` is the newest request that is alike: the request itself, where it waits already; `other`
    one for the same that says something else.
    """

    def __init__(
        self,
        request: ApprovalRequest,
        known: Approval | None,
        other: Approval | None = None,
        signed_by: str | None = None,
    ) -> None:
        self.request, self.known, self.other = request, known, other
        who = f"an approver other than {signed_by} types" if signed_by else "two approvers type"
        super().__init__(
            f"{ACTIONS[request.action].title} needs the approval of a second person:"
            f" {_about(request)}. {_how_far(request, known)}{_difference(request, other)}",
            code="approval_required",
            hint=f"Until {format_minute(request.expires_at)} {who} `cardoffers approve give"
            f" {request.approval_id} --key FILE`; then type the same command again.",
            approval_id=request.approval_id,
            expires_at=request.expires_at,
        )


@contextmanager
def approvable(job: Job, *, dry_run: bool = False) -> Iterator[Store]:
    """Open the store and a transaction for work that may need an approval.

    A request that the work ends with is kept, although nothing else of the transaction is, and is
    signed with the key of who works here, if they have one.
    """
    with job.store() as store:
        try:
            with store.transaction(keep=not dry_run):
                yield store
        except ApprovalNeeded as needed:
            if needed.request is not needed.known:
                _keep(store, job, needed.request)
            moment = machine_at(store, job.now)
            (kept,) = find_approvals(store, moment, approval_id=str(needed.request.approval_id))
            name = kept.signed_by
            if name is None and (key := job.settings.approver_key):
                signature = sign(document_of([kept]), key)
                signer = signer_of(document_of([kept]), signature, find_approvers(store))
                if signer is not None and signer.may_sign(kept):
                    name = signer.name
                    with store.transaction():
                        keep_signature(store, job, kept, name, signature)
            raise ApprovalNeeded(needed.request, needed.known, needed.other, name) from None


def require_approval(
    store: Store,
    run: Run,
    institution: Institution | None,
    *,
    action: str,
    subject: str,
    details: Mapping[str, Any],
    amount: Decimal | None = None,
    currency: str | None = None,
    always: bool = False,
    dry_run: bool = False,
) -> str | None:
    """Use up the approval of an action, if it needs one; raise `ApprovalNeeded` without it.

    `action` is one of `kernel/words/approvals`; `details` are what the second person is to know and
    may not change until it is used; `always` needs one where approvals are off too. Returns the
    state that the approval has then, None where none is needed. A dry run changes nothing, and
    returns NEEDED or the state of the approval as it is. Raises `Refused` where a signature is not
    that of its approver.
    """
    if institution is None:
        return None
    amount = None if amount is None or currency is None else quantize(amount, currency)
    limit = Limit(institution.approval_limit, institution.currency)
    is_on = institution.approvals == ON and is_needed(action, amount, currency, limit)
    if not is_on and not always:
        return None
    moment = machine_at(store, run.as_of)
    digest = digest_of(action, subject, amount, currency, details)
    of = {"institution_id": institution.id}
    newest = next(iter(find_approvals(store, moment, **of, digest=digest, limit=1)), None)
    if dry_run:
        return newest.state if newest and newest.state in {"pending", "given"} else NEEDED
    if newest is not None and newest.state == "pending":
        raise ApprovalNeeded(newest, newest)
    if newest is None or newest.state != "given":
        request = next_request(
            newest,
            institution=institution.slug,
            institution_id=institution.id,
            action=action,
            subject=subject,
            amount=amount,
            currency=currency,
            details=details,
            digest=digest,
            maker=run.actor,
            now=moment,
        )
        other = asked_before(store, run, institution, action=action, subject=subject)
        raise ApprovalNeeded(request, newest, other)
    if wrong_signatures(store, [newest]):
        raise Refused.from_table("kernel/store", "approval_not_signed", newest=newest)
    store.execute(
        "kernel/store/approval_requests:use",
        approval_id=newest.approval_id,
        institution_id=newest.institution_id,
        used_by=run.actor,
        used_at=moment,
        used_run_no=run.run_no,
    )
    log_approval(store, "approval_used", newest, now=moment, actor=run.actor)
    return "used"


def who_decides(store: Store, institution: str | None = None) -> Institution | None:
    """Return whose approvals something needs: its institution's.

    What is of none needs those of the strictest institution that wants any (rules.md#four-eyes);
    None where the store has no institution.
    """
    if institution is not None:
        return find_institution(store, institution)
    return min(
        list_institutions(store),
        key=lambda owner: (owner.approvals != ON, owner.approval_limit or 0, owner.slug),
        default=None,
    )


def check_approvers(store: Store, institution: str) -> None:
    """Raise `Refused` where fewer than two approvers could sign all that is asked for."""
    if not has_two_approvers(store, institution):
        raise Refused.from_table("kernel/store", "approvers_missing", institution=institution)


def asked_before(
    store: Store, run: Run, institution: Institution, *, action: str, subject: str
) -> Approval | None:
    """Return the newest request for an action on a subject that waits or was given, whatever else.

    None where approvals are off.
    """
    if institution.approvals != ON:
        return None
    moment = machine_at(store, run.as_of)
    of = {"institution_id": institution.id, "action": action, "subject": subject}
    given = find_approvals(store, moment, **of, state="given")
    return next(iter(given or find_approvals(store, moment, **of, state="pending")), None)


def next_request(
    newest: Approval | None, *, institution_id: UUID, digest: str, now: datetime, **fields: Any
) -> ApprovalRequest:
    """Return the request that follows the newest one that is alike."""
    number = newest.number + 1 if newest else 1
    return ApprovalRequest(
        approval_id=approval_id(institution_id, digest, number),
        institution_id=institution_id,
        number=number,
        digest=digest,
        requested_at=now,
        expires_at=now + LASTS,
        **fields,
    )


def find_approvals(store: Store, moment: datetime, **filters: Any) -> list[Approval]:
    """Return requests as of a moment, the newest first; the filters are those of the statement."""
    names = ("institution_id", "state", "digest", "approval_id", "action", "subject", "signature")
    bounds = dict.fromkeys((*names, "limit"))
    rows = store.rows(
        "kernel/store/approval_requests:known", moment=moment, **{**bounds, **filters}
    )
    return [
        Approval.of({**row, "details": json.loads(row["details"], parse_float=Decimal)})
        for row in rows
    ]


def wrong_signatures(store: Store, approvals: Iterable[Approval]) -> list[Approval]:
    """Return those that were given, and not signed by two approvers who may, as they name them.

    What was signed together is found by its signature, which is equal then.
    """
    approvers = find_approvers(store, removed=True)
    signers: dict[str, Approver | None] = {"": None}
    wrong = []
    for one in approvals:
        names = []
        for signature in (one.request_signature or "", one.answer_signature or ""):
            if signature not in signers:
                together = find_approvals(store, one.requested_at, signature=signature)
                signers[signature] = signer_of(document_of(together), signature, approvers)
            signer = signers[signature]
            names.append(signer.name if signer and signer.may_sign(one) else None)
        if names != [one.signed_by, one.answered_by] or names[0] == names[1]:
            wrong.append(one)
    return wrong


def keep_signature(store: Store, job: Job, request: Approval, name: str, signature: str) -> None:
    """Keep which approver asks for a request, by a signature that was verified."""
    store.execute(
        "kernel/store/approval_requests:sign",
        approval_id=request.approval_id,
        institution_id=request.institution_id,
        signed_by=name,
        signature=signature,
    )
    moment = machine_at(store, job.now)
    log_approval(store, "approval_signed", request, now=moment, actor=job.actor, approver=name)


def log_approval(
    store: Store,
    event: str,
    request: ApprovalRequest,
    *,
    now: datetime,
    actor: str,
    is_once: bool = True,
    **more: str | None,
) -> None:
    """Append what happened to a request to the security log; `is_once`: it happens only once."""
    details = {
        "approval_id": request.approval_id,
        "action": request.action,
        "subject": request.subject,
        "amount": _money(request),
        "maker": request.maker,
        "digest": request.digest,
        **more,
    }
    acts.append(
        store,
        event,
        acts.ChangeAuthor(run_no=None, now=now, actor=actor),
        subject=request.approval_id,
        event_id=uuid5(request.approval_id, event) if is_once else None,
        institution_id=request.institution_id,
        details={name: value for name, value in details.items() if value is not None},
    )


def _keep(store: Store, job: Job, request: ApprovalRequest) -> None:
    """Keep a request, in a transaction of its own."""
    with (
        store.transaction(),
        run_record(store, kind="approval_request", now=job.now, actor=job.actor) as run,
    ):
        columns = {name: value for name, value in request.items() if name != "institution"}
        columns["details"] = dumps(request.details)
        store.execute("kernel/store/approval_requests:ask", **columns)
        moment = request.requested_at
        log_approval(store, "approval_requested", request, now=moment, actor=job.actor)
        run.counts["approval_id"] = request.approval_id


def _about(request: ApprovalRequest) -> str:
    """Name what an approval is for: `acme, r-1, GBP 12.50`."""
    return ", ".join(filter(None, (request.institution, request.subject, _money(request))))


def _how_far(request: ApprovalRequest, newest: Approval | None) -> str:
    """Say what became of the request, or of the last one that was alike."""
    if newest is None:
        return "It is asked for now, and nothing else was changed."
    if newest is request:
        return f"{newest.maker} asked for it at {format_minute(newest.requested_at)}, and it waits."
    if newest.state == "refused":
        return f"It is asked for again: {newest.answered_by} refused it before ({newest.reason})."
    before = "was used" if newest.state == "used" else "has expired"
    return f"It is asked for again: the last one {before}."


def _difference(request: ApprovalRequest, other: Approval | None) -> str:
    """Say in what a request differs from one for the same that waits or was given."""
    if other is None:
        return ""
    was, now = (
        {**approval.details, **({"amount": _money(approval)} if approval.amount else {})}
        for approval in (other, request)
    )
    names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    chosen = [name for name in names if not name.endswith("sha256")] or names
    parts = [f"{name} was {was.get(name)} and is {now.get(name)}" for name in chosen]
    verb = "approved" if other.state == "given" else "asked for"
    return f" What was {verb} before is another: {'; '.join(parts)}."


def _money(request: ApprovalRequest) -> str | None:
    if request.amount is None or request.currency is None:
        return None
    return money_text(request.amount, request.currency)
