"""The inbox of an institution's team: list its messages, and mark them as read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.events import inbox_inbox as inbox
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import NotFound

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job


def read_messages(
    job: Job, institution: str, message_id: str | None, *, dry_run: bool = False
) -> list[inbox.ReadMessage]:
    """Mark a message, or with None all that are unread, as read; return it or them.

    With `dry_run` nothing is marked, and each says so. Raises `NotFound` for a message that the
    institution does not have.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution)
        found = inbox.messages(store, owner.id, unread_only=message_id is None)
        if message_id is not None:
            message_id = whole_id(store, "message", message_id, owner.id)
            found = [message for message in found if str(message.id) == message_id.lower()]
            if not found:
                raise _unknown(owner.slug)
        one = found[0].id if message_id is not None else None
        store.execute(
            "events/inbox_inbox:read", institution_id=owner.id, message_id=one, read_at=job.now
        )
    return [
        inbox.ReadMessage.part(
            message, read_at=message.read_at or job.now, dry_run=True if dry_run else None
        )
        for message in found
    ]


def _unknown(slug: str) -> NotFound:
    return NotFound(
        f"There is no such message in the inbox of {slug}.",
        code="message_not_found",
        hint=f"`cardoffers inbox list -i {slug}` shows the messages with their ids.",
    )
