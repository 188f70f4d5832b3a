"""Approvals: list what was asked for, show one, give or refuse it (rules.md#four-eyes).

Whoever asked cannot give it. That somebody tried is in the security log, as all else is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.approval_requests import find_approvals, log_approval
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import machine_at, run_record
from cardoffers_cli.kernel.words.approvals import may_be_one
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError
from cardoffers_cli.kernel.words.moments import format_minute

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.approval_requests import Answer, Approval, ApprovalState
    from cardoffers_cli.kernel.store.job import Job
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


def give(job: Job, approval: str, *, reason: str | None = None, dry_run: bool = False) -> Approval:
    """Approve what was asked for; raise `Refused` where it is the maker who would.

    Raises `Refused` too for a request that was answered or has expired.
    """
    return _answer(job, approval, "given", reason, dry_run=dry_run)


def refuse(job: Job, approval: str, reason: str, *, dry_run: bool = False) -> Approval:
    """Refuse what was asked for, which the maker may too; raises as `give` does."""
    if not reason.strip():
        raise UsageError(
            "A refusal needs a reason.", hint='Say why: --reason "the amount is wrong".'
        )
    return _answer(job, approval, "refused", reason.strip(), dry_run=dry_run)


def _answer(
    job: Job, approval: str, answer: Answer, reason: str | None, *, dry_run: bool
) -> Approval:
    """Answer in one transaction; that the maker tried to is kept, though it is refused."""
    with job.store() as store:
        with store.transaction(keep=not dry_run):
            request = _find(store, job, approval)
            _check_pending(request)
            moment = machine_at(store, job.now)
            is_maker = answer == "given" and may_be_one(request.maker, job.actor)
            with run_record(store, kind=f"approval_{answer}", now=job.now, actor=job.actor) as run:
                run.counts["approval_id"] = request.approval_id
                if is_maker:
                    run.counts["answered"] = False
                    event = "approval_denied_to_maker"
                    log_approval(store, event, request, now=moment, actor=job.actor, is_once=False)
                else:
                    actor, event = job.actor, f"approval_{answer}"
                    store.execute(
                        "approvals/work:answer",
                        approval_id=request.approval_id,
                        institution_id=request.institution_id,
                        answer=answer,
                        answered_by=actor,
                        answered_at=moment,
                        reason=reason,
                    )
                    log_approval(store, event, request, now=moment, actor=actor, reason=reason)
            after = _find(store, job, str(request.approval_id))
        if is_maker:
            raise _own(
                request, job.actor, "" if dry_run else " The attempt is in the security log."
            )
    return replace(after, dry_run=dry_run)


def _find(store: Store, job: Job, approval: str) -> Approval:
    """Return one request by its id; raise `NotFound`."""
    moment = machine_at(store, job.now)
    rows = find_approvals(store, moment, approval_id=whole_id(store, "approval", approval))
    if not rows:
        raise NotFound(
            "There is no request for an approval with this id.",
            code="approval_not_found",
            hint="`cardoffers approve list` shows them with their ids.",
        )
    return rows[0]


def _check_pending(request: Approval) -> None:
    """Raise `Refused` for a request that was answered, or that nobody answered in time."""
    if request.answer is not None and request.answered_at is not None:
        raise Refused(
            f"This was {request.answer} already, by {request.answered_by} at"
            f" {format_minute(request.answered_at)}.",
            code="approval_answered",
            hint="Nothing was changed; an answer is final.",
        )
    if request.state == "expired":
        raise Refused(
            f"The request expired at {format_minute(request.expires_at)}.",
            code="approval_expired",
            hint=f"{request.maker} types the command again, which asks for it again.",
        )


def _own(request: Approval, actor: str, note: str) -> Refused:
    """Say why somebody cannot approve: they asked for it, or may be who did; and what is kept."""
    if request.maker == actor:
        message = f"{actor} asked for this, and cannot approve it."
    else:
        message = f"{actor} may be who asked for this ({request.maker}), and cannot approve it."
    return Refused(
        message,
        code="approval_own",
        hint="Let a second person approve it; `cardoffers help approvals` says who counts as one."
        f"{note}",
    )
