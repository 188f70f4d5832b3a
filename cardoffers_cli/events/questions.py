"""The webhook of an institution, and how far its events are.

The URL, and which events are sent, stand with the institution. Here are the hashes of its signing
secrets, of which the newest that is active signs, and the events with every attempt. The texts of
the secrets are in `kernel/store/signing_secrets.py`, and are handed in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT, EVENTS
from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.signing import signature_headers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class EventProgress(Record):
    """How far one event is; one of anything but a redemption says of what in other fields.

    `subject_id` is the id that its body has, `subject` what people call it.
    """

    redemption_id: UUID | None
    event: str = shown(gives_way=7)
    institution: str = shown(gives_way=3)
    offer_id: str | None = shown("offer", gives_way=4)
    occurred_at: datetime = shown(gives_way=5)
    state: str
    attempts: int
    next_attempt_at: datetime | None = shown("next attempt", gives_way=1)
    subject_id: UUID | None = if_any()
    subject: str | None = if_any(gives_way=1)


class StoredEvent(EventProgress):
    """An event with the text that is sent, to the byte.

    `moot_because` says why it is not to be told, any more or yet; `other_event` is another one of
    its subject, if there is one.
    """

    moot_because: str | None
    body: str
    other_event: str | None


class ListedEvent(EventProgress, sheet="* event subject -subject_id"):
    """An event of a list, with what became of its last attempt."""

    last_attempt_at: datetime | None = shown("last attempt", gives_way=6)
    last_http_status: int | None = shown("status", gives_way=2)
    last_error: str | None = shown("error", gives_way=2)


class LoggedAttempt(Record, sheet="* -delay_ms"):
    """One attempt to send an event; `manual` is outside of the schedule.

    `delay_ms` is the delay before the next one, jitter and Retry-After included.
    """

    number: int = shown("no")
    started_at: datetime
    http_status: int | None = shown("status")
    error: str | None
    duration_ms: int | None = shown("ms")
    manual: bool
    delay_ms: int | None
    next_attempt_at: datetime | None = shown("next attempt")


class EventTimeline(EventProgress):
    """An event with the log of its attempts and the headers that signed the last one.

    They are what its receiver should have seen; None where nothing was sent yet, or where the
    secret of then is not there any more. `dry_run` is of an event that is sent again.
    """

    other_event: str | None
    body_bytes: int
    headers: Mapping[str, str] | None
    log: Sequence[LoggedAttempt]
    dry_run: bool | None = if_any()


class EventHealth(Record):
    """How the events of one institution fare: the number of `events`, and of each state.

    `…_p50` and `…_p95` are what half and 95 of 100 of the delivered ones needed at most: attempts,
    and milliseconds of the attempt that succeeded.
    """

    institution: str
    events: int
    delivered: int
    due: int
    failed: int
    stopped: int
    exhausted: int
    attempts_p50: int | None
    attempts_p95: int | None
    duration_ms_p50: int | None
    duration_ms_p95: int | None


def find_delivery(store: Store, subject_id: str, event: str | None = None) -> StoredEvent:
    """Return an event of a subject, the newest where none is named; raise `NotFound`."""
    of = {"subject_id": subject_id, "event": event}
    row = store.record(StoredEvent, "events/questions:find", **of)
    if row is None:
        kind = EVENTS.get(event or "", ANNOUNCEMENT)
        raise NotFound(
            f"There is no event {kind.name} of a {kind.subject} with this id.",
            code=f"{kind.subject}_not_found",
            hint="`cardoffers webhook list` lists events with the ids of what they are of.",
        )
    return row


def show_delivery(
    store: Store,
    subject_id: str,
    event: str,
    at_hand: Mapping[str, str],
    *,
    dry_run: bool | None = None,
) -> EventTimeline:
    """Return an event with its log; `at_hand` are the texts of secrets by SHA-256.

    Raises `NotFound`.
    """
    of = {"subject_id": subject_id, "event": event}
    delivery = find_delivery(store, **of)
    body = delivery.body.encode()
    signed = store.row("events/questions:last_signature", **of)
    secret = at_hand.get(signed["secret_sha256"]) if signed else None
    headers = signature_headers(body, secret, signed["signed_at_s"]) if signed and secret else None
    return EventTimeline(
        **EventProgress.cut(delivery),
        other_event=delivery.other_event,
        body_bytes=len(body),
        headers=headers,
        log=store.records(LoggedAttempt, "events/questions:log", **of),
        dry_run=dry_run,
    )


def has_secret(store: Store, institution_id: UUID) -> bool:
    """Whether an institution has a signing secret, active or to come."""
    return bool(store.value("events/questions:has_secret", institution_id=institution_id))


def waiting_events(store: Store, institution_id: UUID) -> int:
    """Count the events of an institution that are not delivered and might be, held back or not."""
    return int(store.value("events/questions:waiting", institution_id=institution_id))
