"""Deliver: claim events that are due, and record what became of each attempt.

Sending lies between the two, with the store closed: a claim that is never recorded was cut off by a
crash, and becomes an attempt of its own (`unknown`) before the event is sent again. So an event is
lost at no moment. The store names signing secrets by their hash. `at_hand` are the texts that are
there, by hash: an event whose secret is not among them is not claimed. How far a webhook is, in one
word: `delivered`; `to_send`; `to_retry`, it failed and is tried again; `failed`, for good;
`stopped`, it is held back; `no_webhook`, the institution has none to send to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.moments import format_minute
from cardoffers_cli.kernel.words.sentences import counted
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.binding import Table
    from cardoffers_cli.kernel.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Claim:
    """An event to be sent now, its place in the schedule, and how to sign it."""

    event_no: int
    kind: str
    subject_id: UUID
    subject: str | None
    institution_id: UUID
    url: str
    body: str = field(repr=False)
    secret_no: int
    secret: str = field(repr=False)
    state: str
    attempts: int
    failures: int
    next_attempt_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class FinishedAttempt:
    """An attempt that has ended, and what follows for its event: one row to record."""

    event_no: int
    secret_no: int
    signed_at_s: int | None
    started_at: datetime
    http_status: int | None
    error: str | None
    duration_ms: int
    state: str
    failures: int
    delay_ms: int | None = None
    next_attempt_at: datetime | None = None

    def delivered(self) -> FinishedAttempt:
        """Return it as the end of the schedule."""
        return replace(self, state="delivered", delay_ms=None, next_attempt_at=None)

    def failed(self, jitter_permille: int, retry_after_s: int | None) -> FinishedAttempt:
        """Return it as one more failure along the schedule, or as the last."""
        failures = self.failures + 1
        delay = delay_ms(failures, jitter_permille, retry_after_s=retry_after_s)
        if delay is None:
            return replace(self, state="exhausted", failures=failures, next_attempt_at=None)
        ended_at = self.started_at + timedelta(milliseconds=self.duration_ms)
        return replace(
            self,
            state="failed",
            failures=failures,
            delay_ms=delay,
            next_attempt_at=ended_at + timedelta(milliseconds=delay),
        )


def release(store: Store, *, run_no: int) -> int:
    """Record every claim that a crash left behind as `unknown`; return how many there were."""
    store.execute("events/deliver:cut_off", run_no=run_no)
    return store.execute("events/deliver:release")


def claim_due(
    store: Store,
    at_hand: Mapping[str, str],
    *,
    now: datetime,
    due_by: datetime,
    most: int,
    most_open: int,
) -> list[Claim]:
    """Claim up to `most` events that were due by a moment, of all institutions in turn.

    None of an institution that has `most_open` attempts under way, so that a slow receiver keeps
    only its own events waiting.
    """
    due = store.make(
        "events/deliver:due",
        now=now,
        due_by=due_by,
        most=most,
        most_open=most_open,
        at_hand=list(at_hand),
    )
    return _claim(store, due, at_hand, now=now, is_manual=False)


def claim_one(
    store: Store, subject_id: str, kind: str, at_hand: Mapping[str, str], *, now: datetime
) -> list[Claim]:
    """Claim an event of a subject, whatever its state, for an attempt outside of the schedule.

    Nothing is claimed where the institution has no webhook or no secret, or where there is nothing
    to take back.
    """
    of = {"subject_id": subject_id, "kind": kind}
    due = store.make("events/deliver:one", now=now, **of, at_hand=list(at_hand))
    return _claim(store, due, at_hand, now=now, is_manual=True)


def _claim(
    store: Store, due: Table, at_hand: Mapping[str, str], *, now: datetime, is_manual: bool
) -> list[Claim]:
    store.execute("events/deliver:claim", due, now=now, is_manual=is_manual)
    rows = store.rows("events/deliver:claimed", due, now=now)
    return [Claim(secret=at_hand[row.pop("secret_sha256")], **row) for row in rows]


def record(store: Store, ended: Sequence[FinishedAttempt], *, run_no: int) -> None:
    """Write attempts that have ended, and move their events on."""
    if ended:
        columns = {
            member.name: [getattr(row, member.name) for row in ended]
            for member in fields(FinishedAttempt)
        }
        rows = store.make("events/deliver:ended", **columns)
        store.execute("events/deliver:attempts", rows, run_no=run_no)
        store.execute("events/deliver:outbox", rows)


def waiting(store: Store, at_hand: Mapping[str, str], *, now: datetime) -> Mapping[str, Any]:
    """Return `still_due`, `due_now` and `next_attempt_at` of what can be sent, now or later."""
    return store.rows("events/deliver:waiting", now=now, at_hand=list(at_hand))[0]


if TYPE_CHECKING:
    Row = Mapping[str, Any]

HELD_BECAUSE = {
    "no_url": "it has no webhook URL",
    "no_secret": "it has no signing secret",
    "secret_missing": "its signing secret is not beside the store any more",
}
"""Why nobody can send the events of an institution, by reason."""

HELD_NEXT = {
    "no_url": "cardoffers webhook set -i {institution} --url URL",
    "no_secret": "cardoffers webhook set -i {institution} --url URL",
    "secret_missing": "put the file of secrets back, or cardoffers webhook rotate-secret"
    " -i {institution}",
}
"""What to type so that they can be sent, by reason; to be given the `institution`."""


def delivery_text(redemption: Row) -> str:
    """Say how far the webhook of a redemption is; a failure with its cause."""
    cause = shortened(redemption["webhook_error"] or "the outcome is unknown")
    tried = counted(redemption["webhook_attempts"], "attempt")
    match redemption["delivery"]:
        case "delivered":
            return f"the webhook was delivered at {format_minute(redemption['delivered_at'])}"
        case "to_retry":
            again = f"it is tried again at {format_minute(redemption['webhook_next_attempt_at'])}"
            return f"the webhook failed ({cause}, {tried}); {again}"
        case "failed":
            return f"the webhook failed ({cause}, {tried}) and is not tried again"
        case "stopped":
            return "the webhook is stopped"
        case "to_send":
            return "the webhook is not sent yet"
        case _:
            return "no webhook is configured, so the institution was not told"


# When a failed delivery is tried again (rules.md#retries): a schedule, its jitter, Retry-After.
#
# Each delay is drawn once, by whoever owns chance, and then stored, so the next attempt is a moment
# that everybody can read and not a matter of who asks.


DELAYS_S = (30, 60, 120, 240, 480, 960, 1920, 3840)
"""Seconds before each retry: 1 + 8 attempts, some two hours from the first to the last."""

MOST_JITTER_PERMILLE = 100
"""A delay is spread by up to this much, so that receivers are not hit in waves."""

MOST_STRETCH = 2
"""Retry-After may make a delay this many times as long, and never shorter."""


def delay_ms(
    failures: int, jitter_permille: int, *, retry_after_s: int | None = None
) -> int | None:
    """Return the milliseconds to wait after the failure of this number; None after the last."""
    if failures > len(DELAYS_S):
        return None
    own = DELAYS_S[failures - 1] * (1000 + jitter_permille)
    return max(own, min((retry_after_s or 0) * 1000, MOST_STRETCH * own))
