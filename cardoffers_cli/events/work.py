"""The events of webhooks: show one with its attempts, make failed ones due again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.events import questions as webhooks
from cardoffers_cli.kernel.identifiers import subject_id as whole_subject_id
from cardoffers_cli.kernel.store import signing_secrets
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.store.runs import finish_run, start_run
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.events import ANNOUNCEMENT, EVENTS
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


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
