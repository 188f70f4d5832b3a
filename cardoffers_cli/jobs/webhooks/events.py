"""The events of webhooks: list them, show one with its attempts, make failed ones due again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.domain.errors import Refused
from cardoffers_cli.domain.records import Record
from cardoffers_cli.jobs.context.reading import reading
from cardoffers_cli.jobs.context.runs import finish_run, start_run
from cardoffers_cli.services import webhooks
from cardoffers_cli.services.ids import redemption_id as whole_redemption_id
from cardoffers_cli.services.institutions import find_institution
from cardoffers_cli.store import signing_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.jobs.context.job import Job
    from cardoffers_cli.store.store import Store


class MadeDue(Record):
    """How many failed and exhausted events were made due."""

    run_id: UUID
    made_due: int
    dry_run: bool


def list_events(
    job: Job,
    *,
    institution: str | None = None,
    event: str | None = None,
    state: str | None = None,
    offer_id: str | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int | None = None,
) -> list[webhooks.ListedEvent]:
    """Return events with how far they are, the newest first; None filters nothing."""
    with reading(job) as source:
        owner = find_institution(source.store, institution) if institution else None
        return webhooks.list_deliveries(
            source.store,
            institution_id=owner.id if owner else None,
            event=event,
            state=state,
            offer_id=offer_id,
            from_at=from_at,
            to_at=to_at,
            limit=limit,
        )


def show_event(
    job: Job, redemption_id: str, event: str = webhooks.COMPLETED
) -> webhooks.EventTimeline:
    """Return one event of a redemption with the log of its attempts; raise `NotFound`."""
    with reading(job) as source:
        secrets = signing_secrets.read_secrets(job.path)
        wanted = whole_redemption_id(source.store, redemption_id)
        return webhooks.show_delivery(source.store, wanted, event, secrets)


def retry(
    job: Job,
    *,
    redemption_ids: Sequence[str] = (),
    institution: str | None = None,
    since: datetime | None = None,
    dry_run: bool = False,
) -> MadeDue:
    """Make failed and exhausted events due now, with the whole schedule before them.

    Without ids, all of them that the filters let through. Raises `NotFound` for an unknown id and
    `Refused` for one that is delivered, due anyway, or stopped.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution) if institution else None
        ids = [_retriable(store, each) for each in dict.fromkeys(redemption_ids)]
        run = start_run(store, kind="webhook_retry", now=job.now, actor=job.actor)
        due = webhooks.make_due(
            store,
            redemption_ids=ids or None,
            institution_id=owner.id if owner else None,
            since=since,
            now=job.now,
        )
        finish_run(store, run, {"run_id": run.run_id, "made_due": due})
    return MadeDue(run_id=run.run_id, made_due=due, dry_run=dry_run)


def _retriable(store: Store, redemption_id: str) -> UUID:
    """Return the redemption of an id; raise `Refused` where its newest event did not fail."""
    found = webhooks.find_delivery(store, whole_redemption_id(store, redemption_id))
    if found.other_event == webhooks.REVERSED:
        found = webhooks.find_delivery(store, str(found.redemption_id), webhooks.REVERSED)
    if found.state not in {"failed", "exhausted"}:
        raise Refused(
            f"The event of redemption {redemption_id} is {found.state}.",
            code="not_failed",
            hint="`cardoffers webhook resend` sends an event again whatever its state; "
            "`cardoffers webhook set -i INST --from all` sends those that are held back.",
        )
    return found.redemption_id
