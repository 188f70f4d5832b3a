"""A run of sending: claim (store open), send (store closed), record (store open), in batches.

The wire takes batches from here and gives outcomes back, each in a thread of its own. Every opening
of the store records what has ended and claims what comes next, so they are few however many events
there are. An event whose claim is not recorded is one that the next run finds cut off.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from random import SystemRandom
from typing import TYPE_CHECKING, Any

from cardoffers_cli.events import deliver
from cardoffers_cli.events.deliver import MOST_JITTER_PERMILLE, Claim, FinishedAttempt
from cardoffers_cli.events.questions import EventTimeline, find_delivery, show_delivery
from cardoffers_cli.institutions import inbox
from cardoffers_cli.kernel.identifiers import subject_id as whole_subject_id
from cardoffers_cli.kernel.net.sender import AttemptLimits, Delivery, Outcome, send_all
from cardoffers_cli.kernel.store.clock import Clock, Watch
from cardoffers_cli.kernel.store.journal import check_not_scratch
from cardoffers_cli.kernel.store.lock import sender_lock
from cardoffers_cli.kernel.store.runs import Run, finish_run, start_run
from cardoffers_cli.kernel.store.signing_secrets import missing, read_secrets
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT, EVENTS
from cardoffers_cli.kernel.words.moments import in_milliseconds
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.kernel.words.signing import signature_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.settings import Settings
    from cardoffers_cli.kernel.store.store import Store


# What the team of an institution is told about its webhook: once for each thing that happened.


def alert(store: Store, claim: Claim, attempt: FinishedAttempt, *, now: datetime) -> None:
    """Post what an attempt calls for: that it was the last."""
    if attempt.state != "exhausted" or claim.state == "exhausted":
        return
    number = claim.attempts + 1
    kind, name = EVENTS[claim.kind], claim.subject or claim.subject_id
    which = "" if kind is ANNOUNCEMENT else f"{kind.name} "
    status = f", HTTP status {attempt.http_status}" if attempt.http_status else ""
    inbox.post(
        store,
        claim.institution_id,
        kind="webhook_exhausted",
        subject=f"{claim.subject_id} {which}{number}",
        text=f"The event of {kind.noun} {name} was not delivered: attempt {number} "
        f"was the last ({attempt.error}{status}). Fix the receiver, then have it sent again: "
        f"cardoffers webhook retry {name}",
        now=now,
    )


BATCH = 4000
"""Events claimed in one opening of the store."""

MOST_OPEN = 256
"""Events of one institution under way, above which no more of its are claimed."""

ENOUGH = 2000
"""Outcomes that are worth an opening of the store; half of what is under way is worth one too."""

_RECORD_WAIT_S = 3600
"""How long to wait for a busy store: what was sent has to be recorded, or it is sent again."""

_LOOK_S = 1.0


def limits_of(settings: Settings) -> AttemptLimits:
    """Return what the settings say of how to send."""
    return AttemptLimits(
        deadline_s=settings.webhook_deadline_s,
        at_once=settings.webhook_at_once,
        per_lane=settings.webhook_at_once_per_institution,
        allow_insecure=settings.allow_insecure_webhooks,
        ca_file=settings.webhook_ca_file,
    )


class Sending:
    """Events under way, from their claim to their record, in one run."""

    def __init__(
        self, job: Job, *, run_no: int, due: int, watch: Watch, is_manual: bool = False
    ) -> None:
        patient = max(job.settings.lock_wait_s, _RECORD_WAIT_S)
        settings = replace(job.settings, lock_wait_s=patient)
        self._job = replace(job, settings=settings)
        self._run_no = run_no
        self._due = due
        self._clock = watch.clock
        self._stop = watch.stop
        self._tell = watch.tell
        self._is_manual = is_manual
        self._chance = SystemRandom()
        self._numbers = count(1)
        self._open: dict[int, Claim] = {}
        self._signed: dict[int, int] = {}
        self._outcomes: deque[Outcome] = deque()
        self._moved = threading.Event()
        self.counts: Counter[str] = Counter(attempted=0, delivered=0, failed=0, exhausted=0)

    def send_due(self) -> None:
        """Send what is due now, every event once, unless somebody says stop."""
        self._send(self._batches(self._clock.now()))

    def send_claims(self, claims: Sequence[Claim]) -> None:
        """Send events that are claimed already."""
        self._send(iter([self._deliveries(claims)]))

    def _send(self, batches: Iterator[Sequence[Delivery]]) -> None:
        try:
            send_all(
                batches,
                limits_of(self._job.settings),
                clock=self._clock.real,
                on_outcome=self._note,
                stop=self._stop.is_set,
            )
        finally:
            # Record what has ended, and release what was claimed and never begun.
            with self._job.store() as store, store.transaction():
                self._record(store)
                unbegun = self._open.keys() - self._signed.keys()
                event_nos = [self._open.pop(number).event_no for number in unbegun]
                if event_nos:
                    store.execute("events/deliver:unclaim", event_no=event_nos)

    def _batches(self, due_by: datetime) -> Iterator[Sequence[Delivery]]:
        """Yield batches, and wait between them until enough has ended; end when all has."""
        while not self._stop.is_set():
            with self._job.store() as store, store.transaction():
                self._record(store)
                claims = deliver.claim_due(
                    store,
                    read_secrets(self._job.path),
                    now=self._clock.now(),
                    due_by=due_by,
                    most=BATCH,
                    most_open=MOST_OPEN,
                )
            if claims:
                yield self._deliveries(claims)
            if not self._open:
                return
            self._wait()

    def _deliveries(self, claims: Iterable[Claim]) -> list[Delivery]:
        deliveries = []
        for claim in claims:
            number = next(self._numbers)
            self._open[number] = claim
            deliveries.append(
                Delivery(
                    number=number,
                    url=claim.url,
                    body=claim.body.encode(),
                    sign=self._signer(number, claim),
                    lane=str(claim.institution_id),
                )
            )
        return deliveries

    def _signer(self, number: int, claim: Claim) -> Callable[[int], Mapping[str, str]]:
        """Return what signs an event when its attempt begins."""

        def sign(now_s: int) -> Mapping[str, str]:
            self._signed[number] = now_s
            return signature_headers(claim.body.encode(), claim.secret, now_s)

        return sign

    def _note(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        if len(self._outcomes) >= min(ENOUGH, len(self._open) // 2):
            self._moved.set()

    def _wait(self) -> None:
        """Wait for outcomes that are worth recording."""
        while not self._moved.wait(_LOOK_S):
            if self._outcomes or self._stop.is_set():
                break
        self._moved.clear()

    def _record(self, store: Store) -> None:
        """Record what has ended, with the alerts that it calls for."""
        outcomes = [self._outcomes.popleft() for _ in range(len(self._outcomes))]
        claims = [self._open.pop(outcome.number) for outcome in outcomes]
        ended = [self._ended(*pair) for pair in zip(claims, outcomes, strict=True)]
        deliver.record(store, ended, run_no=self._run_no)
        now = self._clock.now()
        for claim, attempt in zip(claims, ended, strict=True):
            alert(store, claim, attempt, now=now)
        self._count(ended)

    def _count(self, ended: Sequence[FinishedAttempt]) -> None:
        """Count attempts by what became of them; one by hand that failed has failed, no more."""
        for attempt in ended:
            self.counts["attempted"] += 1
            failed = "failed" if self._is_manual else attempt.state
            self.counts["delivered" if attempt.error is None else failed] += 1
        self._tell(self.counts, self._due)

    def _ended(self, claim: Claim, outcome: Outcome) -> FinishedAttempt:
        attempt = FinishedAttempt(
            event_no=claim.event_no,
            secret_no=claim.secret_no,
            signed_at_s=self._signed.pop(outcome.number, None),
            started_at=in_milliseconds(self._clock.of_real(outcome.started_at)),
            http_status=outcome.http_status,
            error=outcome.error,
            duration_ms=outcome.duration_ms,
            state=claim.state,
            failures=claim.failures,
            next_attempt_at=claim.next_attempt_at,
        )
        if outcome.error is None:
            return attempt.delivered()
        if self._is_manual:
            return attempt
        jitter = self._chance.randint(-MOST_JITTER_PERMILLE, MOST_JITTER_PERMILLE)
        return attempt.failed(jitter, outcome.retry_after_s)


# Deliver: send the events that are due, or one again.


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
    delivery = find_delivery(store, subject_id, event)
    if delivery.moot_because == "not_announced":
        raise Refused.from_table("events", "not_announced", subject_id=subject_id)
    claims = deliver.claim_one(store, subject_id, event, secrets, now=watch.clock.now())
    if not claims:
        raise _not_claimed(store, delivery.institution, secrets)
    return claims


@dataclass(frozen=True, kw_only=True)
class _Sending:
    """A run of the only sender: what the one before left cut off, and what is due."""

    run: Run
    cut_off: int
    due: int


@contextmanager
def _begin(job: Job, kind: str, watch: Watch) -> Iterator[_Sending]:
    check_not_scratch(job.path)
    with sender_lock(job.path):
        with job.store() as store, store.transaction():
            run = start_run(store, kind=kind, now=job.now, actor=job.actor)
            cut_off = deliver.release(store, run_no=run.run_no)
            secrets = read_secrets(job.path)
            due = deliver.waiting(store, secrets, now=watch.clock.now())["due_now"]
        yield _Sending(run=run, cut_off=cut_off, due=due)


def _next(job: Job, watch: Watch) -> Any:
    with job.store(read_only=True) as store:
        waiting = deliver.waiting(store, read_secrets(job.path), now=watch.clock.now())
        return waiting["next_attempt_at"]


def _outlook(store: Store, job: Job, watch: Watch) -> Unsent:
    now, secrets = watch.clock.now(), read_secrets(job.path)
    waiting = deliver.waiting(store, secrets, now=now)
    return Unsent(
        still_due=waiting["still_due"],
        next_attempt_at=waiting["next_attempt_at"],
        held=store.rows("events/deliver:held", now=now, at_hand=list(secrets)),
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
