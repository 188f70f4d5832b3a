"""Deliver: send the events that are due, or one again."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.events import deliver
from cardoffers_cli.events.questions import EventTimeline, find_delivery, show_delivery
from cardoffers_cli.events.sending import Sending
from cardoffers_cli.kernel.identifiers import subject_id as whole_subject_id
from cardoffers_cli.kernel.store.clock import Clock, Watch
from cardoffers_cli.kernel.store.lock import sender_lock
from cardoffers_cli.kernel.store.runs import Run, finish_run, start_run
from cardoffers_cli.kernel.store.signing_secrets import missing, read_secrets
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class Unsent(Record):
    """What is still to be sent, and what cannot be: institution, reason and number of events."""

    still_due: int
    next_attempt_at: datetime | None
    held: Sequence[Mapping[str, Any]]


class SendResult(Record):
    """What a run of sending came to, in events; `unknown` are those that one before cut off.

    A dry run has no id, and attempts what it would.
    """

    run_id: UUID | None
    attempted: int
    delivered: int
    failed: int
    exhausted: int
    unknown: int
    still_due: int
    next_attempt_at: datetime | None
    held: Sequence[Mapping[str, Any]]
    dry_run: bool


def send(
    job: Job, *, wait: bool = False, dry_run: bool = False, watch: Watch | None = None
) -> SendResult:
    """Send what is due.

    With `wait` stay until nothing is due within the schedule. Raises `StoreBusy` where another
    process is sending.
    """
    if dry_run:
        return _dry_run(job)
    watch = watch or Watch(clock=Clock(job.now))
    with _begin(job, "webhook_send", watch) as begun:
        sending = Sending(job, run_no=begun.run.run_no, due=begun.due, watch=watch)
        sending.send_due()
        while wait and not watch.stop.is_set() and (moment := _next(job, watch)) is not None:
            watch.clock.wait_until(moment, watch.stop)
            sending.send_due()
        with job.store() as store, store.transaction():
            counts = {"run_id": begun.run.run_id, **sending.counts, "unknown": begun.cut_off}
            counts |= _outlook(store, job, watch)
            finish_run(store, begun.run, counts)
    return SendResult.of({**counts, "dry_run": False})


def resend(
    job: Job,
    subject: str,
    event: str = ANNOUNCEMENT.name,
    *,
    dry_run: bool = False,
    watch: Watch | None = None,
) -> EventTimeline:
    """Send an event of a subject again, by hand and whatever its state; return it with its log.

    The schedule is not touched, except that a success ends it. With `dry_run` it is looked whether
    it could be sent. Raises `NotFound`, `Refused` where there is no webhook to send it to, or
    nothing to take back (rules.md#reversed-events), `StoreBusy`.
    """
    watch = watch or Watch(clock=Clock(job.now))
    secrets = read_secrets(job.path)
    if dry_run:
        with job.store() as store, store.transaction(keep=False):
            wanted = whole_subject_id(store, subject, event)
            _claim_one(store, wanted, event, secrets, watch)
            return show_delivery(store, wanted, event, secrets, dry_run=True)
    with _begin(job, "webhook_resend", watch) as begun:
        with job.store() as store, store.transaction():
            wanted = whole_subject_id(store, subject, event)
            claims = _claim_one(store, wanted, event, secrets, watch)
        sending = Sending(job, run_no=begun.run.run_no, due=1, watch=watch, is_manual=True)
        sending.send_claims(claims)
        with job.store() as store, store.transaction():
            finish_run(store, begun.run, sending.counts)
            return show_delivery(store, wanted, event, secrets, dry_run=False)


def _claim_one(
    store: Store, subject_id: str, event: str, secrets: Mapping[str, str], watch: Watch
) -> list[deliver.Claim]:
    found = find_delivery(store, subject_id, event)
    if found.moot_because == "not_announced":
        raise Refused(
            "The redemption was reversed before anything was sent of it: there is nothing to take"
            " back.",
            code="not_announced",
            hint=f"`cardoffers webhook show {subject_id}` shows its first event.",
        )
    claims = deliver.claim_one(store, subject_id, event, secrets, now=watch.clock.now())
    if not claims:
        raise _not_claimed(store, found.institution, secrets)
    return claims


@dataclass(frozen=True, kw_only=True)
class _Sending:
    """A run of the only sender: what the one before left cut off, and what is due."""

    run: Run
    cut_off: int
    due: int


@contextmanager
def _begin(job: Job, kind: str, watch: Watch) -> Iterator[_Sending]:
    with sender_lock(job.path):
        with job.store() as store, store.transaction():
            run = start_run(store, kind=kind, now=job.now, actor=job.actor)
            cut_off = deliver.release(store, run_no=run.run_no)
            secrets = read_secrets(job.path)
            due = deliver.waiting(store, secrets, now=watch.clock.now())["due_now"]
        yield _Sending(run=run, cut_off=cut_off, due=due)


def _next(job: Job, watch: Watch) -> Any:
    with job.store(read_only=True) as store:
        found = deliver.waiting(store, read_secrets(job.path), now=watch.clock.now())
        return found["next_attempt_at"]


def _outlook(store: Store, job: Job, watch: Watch) -> Unsent:
    now, secrets = watch.clock.now(), read_secrets(job.path)
    found = deliver.waiting(store, secrets, now=now)
    return Unsent(
        still_due=found["still_due"],
        next_attempt_at=found["next_attempt_at"],
        held=deliver.held(store, secrets, now=now),
    )


def _dry_run(job: Job) -> SendResult:
    watch = Watch(clock=Clock(job.now))
    with job.store(read_only=True) as store:
        due = deliver.waiting(store, read_secrets(job.path), now=job.now)["due_now"]
        return SendResult(
            run_id=None,
            attempted=due,
            delivered=0,
            failed=0,
            exhausted=0,
            unknown=0,
            **_outlook(store, job, watch),
            dry_run=True,
        )


def _not_claimed(store: Store, institution: str, secrets: Mapping[str, str]) -> Refused:
    """Say why an event cannot be sent: its webhook is not set, or its signing secret is gone."""
    if institution in missing(store, secrets):
        return Refused(
            f"The signing secret of {institution} is not beside the store any more.",
            code="secret_missing",
            hint="Put the file of secrets back from a backup; or make a new secret with "
            f"`cardoffers webhook rotate-secret -i {institution}`.",
        )
    return Refused(
        f"{institution} has no webhook to send to.",
        code="webhook_missing",
        hint=f"Set one with `cardoffers webhook set -i {institution} --url URL`.",
    )
