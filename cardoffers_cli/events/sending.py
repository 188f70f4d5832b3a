"""A run of sending: claim (store open), send (store closed), record (store open), in batches.

The wire takes batches from here and gives outcomes back, each in a thread of its own. Every opening
of the store records what has ended and claims what comes next, so they are few however many events
there are. An event whose claim is not recorded is one that the next run finds cut off.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import replace
from itertools import count
from random import SystemRandom
from typing import TYPE_CHECKING

from cardoffers_cli.events import deliver
from cardoffers_cli.events.alerts import alert
from cardoffers_cli.events.backoff import MOST_JITTER_PERMILLE
from cardoffers_cli.events.deliver import Claim, FinishedAttempt
from cardoffers_cli.kernel.net.sender import AttemptLimits, Delivery, Outcome, send_all
from cardoffers_cli.kernel.store.signing_secrets import read_secrets
from cardoffers_cli.kernel.words.moments import in_milliseconds
from cardoffers_cli.kernel.words.signing import signature_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.clock import Watch
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.settings import Settings
    from cardoffers_cli.kernel.store.store import Store

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
        self,
        job: Job,
        *,
        run_no: int,
        due: int,
        watch: Watch,
        is_manual: bool = False,
    ) -> None:
        patient = max(job.settings.lock_wait_s, _RECORD_WAIT_S)
        settings = job.settings.model_copy(update={"lock_wait_s": patient})
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
            self._leave()

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
        made = []
        for claim in claims:
            number = next(self._numbers)
            self._open[number] = claim
            made.append(
                Delivery(
                    number=number,
                    url=claim.url,
                    body=claim.body.encode(),
                    sign=self._signer(number, claim),
                    lane=str(claim.institution_id),
                )
            )
        return made

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

    def _leave(self) -> None:
        """Record what has ended, and release what was claimed and never begun."""
        with self._job.store() as store, store.transaction():
            self._record(store)
            self._unclaim(store)

    def _unclaim(self, store: Store) -> None:
        """Release the claims whose attempt was never begun."""
        unbegun = self._open.keys() - self._signed.keys()
        deliver.unclaim(store, [self._open.pop(number) for number in unbegun])

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
