"""The webhook of an institution: its URL, its events, and the secret that signs them.

A secret is shown when it is made and never again. The store has its hash; its text stays in the
store's folder, which has it before the store names it, and loses it after the store does. An
institution that sets its webhook for the first time may have events from before: those that wait
are sent too, or held back, as is said (`past`); held back if nothing is said. Nothing but this
stops the events of an institution (rules.md#first-webhook). It is sent the kinds of events that it
wants (`kernel/words/events.toml`), those of redemptions at first.
"""

from __future__ import annotations

import secrets
import string
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.events import questions as webhooks
from cardoffers_cli.institutions.changes import record_changes
from cardoffers_cli.institutions.work import change_institution
from cardoffers_cli.kernel.disk.outputs import new_private_file
from cardoffers_cli.kernel.identifiers import subject_id as whole_subject_id
from cardoffers_cli.kernel.store import acts, signing_secrets
from cardoffers_cli.kernel.store.institutions import Institution, find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.addresses import check_url
from cardoffers_cli.kernel.words.errors import NoSpace, Refused, UsageError
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT, EVENTS, WORDS, events_of
from cardoffers_cli.kernel.words.records import Record, if_any
from cardoffers_cli.kernel.words.signing import secret_sha256
from cardoffers_cli.river.publish import publish

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


_LETTERS = string.digits + string.ascii_letters
_LENGTH = 43
"""Letters of base62 that hold as much chance as 32 bytes."""


class NewSecret(Record):
    """A signing secret as it is shown, this once, or the file that holds it."""

    signing_secret: str | None = if_any()
    signing_secret_file: str | None = if_any()


class WebhookSet(Record):
    """A webhook as it was set: what it is sent, what waits for it, from when, a new secret."""

    webhook_url: str
    events: tuple[str, ...]
    changed: bool
    past_events: int
    from_: str | None
    signing_secret: str | None = if_any()
    signing_secret_file: str | None = if_any()
    dry_run: bool | None = if_any()


class SecretRotated(Record):
    """What became of a webhook whose secret was rotated; of a dry run there is no new one."""

    webhook_url: str | None
    activate_at: datetime
    signing_secret: str | None = if_any()
    signing_secret_file: str | None = if_any()
    dry_run: bool


def past_events(job: Job, institution: str) -> int:
    """Return how many events wait for an institution's first webhook; 0 where it has one.

    Raises `NotFound`.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        if webhooks.has_secret(source.store, owner.id):
            return 0
        return webhooks.waiting_events(source.store, owner.id)


def set_webhook(
    job: Job,
    institution: str,
    url: str | None = None,
    *,
    events: Sequence[str] | None = None,
    past: str | None = None,
    secret_file: Path | None = None,
    dry_run: bool = False,
) -> WebhookSet:
    """Set the webhook of an institution; return it, and the signing secret if it is new.

    `events` are words of `kernel/words/events.toml`; they, and the URL, stay as they are where
    None. `past` is `all` to send those of before and those that wait, `now` to hold these back,
    None for `now` the first time and else for as it was. Raises `NotFound`, and `UsageError` for a
    URL to which nothing may be sent, none where there is none yet, and unknown events.
    """
    wanted = None if events is None else _wanted(events)
    with _changing(job, dry_run=dry_run) as (store, stack):
        owner = find_institution(store, institution)
        url = url or owner.webhook_url
        if url is None:
            raise UsageError(
                f"{owner.slug} has no webhook yet, and no --url says where it is.",
                hint=f"`cardoffers webhook set -i {owner.slug} --url URL` sets it.",
            )
        check_url(url, allow_insecure=job.settings.allow_insecure_webhooks)
        run = start_run(store, kind="webhook_set", now=job.now, actor=job.actor)
        is_changed = bool(change_institution(store, owner, {"webhook_url": url}, run))
        if wanted and wanted != owner.webhook_events:
            store.execute("events/questions:events", institution_id=owner.id, webhook_events=wanted)
            record_changes(store, owner, {"webhook_events": (owner.webhook_events, wanted)}, run)
            is_changed = True
        is_first = not webhooks.has_secret(store, owner.id)
        choice = past or ("now" if is_first else None)
        words = (wanted or owner.webhook_events).split(",")
        for kind in events_of(words) if choice == "all" else ():
            if not kind.only_new:
                publish(store, kind.what, institution_id=owner.id)
        report = WebhookSet(
            webhook_url=url,
            events=tuple(words),
            changed=is_changed,
            past_events=webhooks.waiting_events(store, owner.id),
            from_=choice,
        )
        if choice is not None:
            how = {"institution_id": owner.id, "is_held_back": choice == "now"}
            store.execute("events/questions:hold_back", **how)
        _log(store, job, owner, "webhook_set", report)
        if is_first and not dry_run:
            secret = _new_secret(store, job, owner, stack, secret_file, activate_at=job.now)
            report = replace(report, **secret)
        finish_run(store, run, {"changed": report.changed})
    return replace(report, dry_run=dry_run)


def rotate_secret(
    job: Job,
    institution: str,
    *,
    activate_at: datetime | None = None,
    secret_file: Path | None = None,
    dry_run: bool = False,
) -> SecretRotated:
    """Make a new signing secret; until it is active the one before signs. Return it, this once.

    Raises `NotFound`, `Refused` where there is no secret yet, `UsageError` for a past moment.
    """
    active_at = activate_at or job.now
    if active_at < job.now:
        raise UsageError(
            "The new secret cannot have been active before it was made.",
            hint="Give a time to come, or leave --activate-at out.",
        )
    with _changing(job, dry_run=dry_run) as (store, stack):
        owner = find_institution(store, institution)
        if not webhooks.has_secret(store, owner.id):
            raise Refused(
                f"{owner.slug} has no signing secret to rotate.",
                code="webhook_missing",
                hint=f"Set its webhook with `cardoffers webhook set -i {owner.slug} --url URL`.",
            )
        run = start_run(store, kind="webhook_rotate_secret", now=job.now, actor=job.actor)
        _log(store, job, owner, "webhook_secret_rotated", {"activate_at": active_at})
        secret = NewSecret()
        if not dry_run:
            secret = _new_secret(store, job, owner, stack, secret_file, activate_at=active_at)
        finish_run(store, run, {"activate_at": active_at})
    return SecretRotated(
        webhook_url=owner.webhook_url, activate_at=active_at, **secret, dry_run=dry_run
    )


@contextmanager
def _changing(job: Job, *, dry_run: bool) -> Iterator[tuple[Store, ExitStack]]:
    """Open the store for a change; what is on the stack is undone where that fails.

    Once a new secret is committed, the texts of those that it follows go; where that cannot be, as
    on a full disk, the next change removes them: the new one still has to be shown.
    """
    with job.store() as store:
        before = signing_secrets.named_in(store)
        with ExitStack() as stack, store.transaction(keep=not dry_run):
            yield store, stack
        after = signing_secrets.named_in(store)
        if after != before:
            with suppress(NoSpace, OSError):
                signing_secrets.forget_others(job.path, after)


def _new_secret(
    store: Store,
    job: Job,
    owner: Institution,
    stack: ExitStack,
    file: Path | None,
    *,
    activate_at: datetime,
) -> NewSecret:
    """Make and keep a secret; return it as it is shown, or the file that holds it."""
    secret = "whsec_" + "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    if file is not None:
        stack.enter_context(new_private_file(file, f"{secret}\n"))
    signing_secrets.add_secrets(job.path, [secret])
    named = secret_sha256(secret)
    # Until it is active the one that signs now goes on; one that was to follow is given up.
    of = {"institution_id": owner.id, "now": job.now}
    store.execute("events/questions:keep_the_one_that_signs", **of)
    new = {"secret_sha256": named, "activate_at": activate_at}
    store.execute("events/questions:add_secret", **of, **new)
    _log(store, job, owner, "webhook_secret_made", {"activate_at": activate_at})
    if file is None:
        return NewSecret(signing_secret=secret)
    return NewSecret(signing_secret_file=str(file))


def _wanted(events: Sequence[str]) -> str:
    """Return kinds of events in their order, as they are stored."""
    try:
        return ",".join(kind.word for kind in events_of(events))
    except ValueError:
        raise UsageError(
            f"The events of a webhook cannot be {', '.join(filter(None, events)) or 'none'}.",
            hint=f"Give --events {ANNOUNCEMENT.word}, or it with some of {', '.join(WORDS)}.",
        ) from None


def _log(
    store: Store, job: Job, owner: Institution, event: str, details: Mapping[str, Any]
) -> None:
    acts.append(store, event, job, subject=owner.slug, institution_id=owner.id, details=details)


class RetryResult(Record):
    """How many failed and exhausted events were made due."""

    run_id: UUID
    made_due: int
    dry_run: bool


def show_event(job: Job, subject: str, event: str = ANNOUNCEMENT.name) -> webhooks.EventTimeline:
    """Return one event of a subject with the log of its attempts; raise `NotFound`."""
    with reading(job) as source:
        secrets = signing_secrets.read_secrets(job.path)
        wanted = whole_subject_id(source.store, subject, event)
        return webhooks.show_delivery(source.store, wanted, event, secrets)


def retry(
    job: Job,
    *,
    subjects: Sequence[str] = (),
    institution: str | None = None,
    since: datetime | None = None,
    dry_run: bool = False,
) -> RetryResult:
    """Make failed and exhausted events due now, with the whole schedule before them.

    Without ids, all of them that the filters let through. Raises `NotFound` for an unknown id and
    `Refused` for one that is delivered, due anyway, or stopped.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution) if institution else None
        ids = [_retriable(store, subject) for subject in dict.fromkeys(subjects)]
        run = start_run(store, kind="webhook_retry", now=job.now, actor=job.actor)
        of = {"subject_ids": ids or None, "institution_id": owner.id if owner else None}
        store.execute("events/questions:chosen", **of, since=since)
        due = store.execute("events/questions:make_due", now=job.now)
        finish_run(store, run, {"run_id": run.run_id, "made_due": due})
    return RetryResult(run_id=run.run_id, made_due=due, dry_run=dry_run)


def _retriable(store: Store, subject: str) -> str:
    """Return the id of a subject; raise `Refused` where its newest event did not fail."""
    wanted = whole_subject_id(store, subject)
    delivery = webhooks.find_delivery(store, wanted)
    if delivery.state not in {"failed", "exhausted"}:
        raise Refused(
            f"The event of {EVENTS[delivery.event].subject} {subject} is {delivery.state}.",
            code="not_failed",
            hint="`cardoffers webhook resend` sends an event again whatever its state; "
            "`cardoffers webhook set -i INST --from all` sends those that are held back.",
        )
    return wanted
