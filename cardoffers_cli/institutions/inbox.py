"""The inbox of an institution's team: list its messages, and mark them as read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.words.errors import NotFound
from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


# The inbox of an institution's team: what somebody there has to know (rules.md#alerts).
#
# What a message is about (`subject`) makes its id, so a job that runs again, or late, says nothing
# twice.


class Message(Record, sheet="created_at kind text read_at id"):
    """A message, under its public names; `read_at` is None while nobody has read it."""

    id: UUID
    kind: str = shown(gives_way=2)
    created_at: datetime
    text: str
    read_at: datetime | None = shown(gives_way=1)
    dry_run: bool | None = if_any()


def post(
    store: Store, institution_id: UUID, *, kind: str, subject: str, text: str, now: datetime
) -> bool:
    """Write a message; return whether it is new."""
    written = store.execute(
        "institutions/inbox:post",
        institution_id=institution_id,
        kind=kind,
        subject=subject,
        text=text,
        created_at=now,
    )
    return bool(written)


def read_messages(
    job: Job, institution: str, message_id: str | None, *, dry_run: bool = False
) -> list[Message]:
    """Mark a message, or with None all that are unread, as read; return it or them.

    With `dry_run` nothing is marked, and each says so. Raises `NotFound` for a message that the
    institution does not have.
    """
    with job.store() as store, store.transaction(keep=not dry_run):
        owner = find_institution(store, institution)
        rows = store.records(
            Message,
            "institutions/inbox:messages",
            institution_id=owner.id,
            unread_only=message_id is None,
        )
        if message_id is not None:
            message_id = whole_id(store, "message", message_id, owner.id)
            rows = [message for message in rows if str(message.id) == message_id.lower()]
            if not rows:
                raise NotFound.from_table("institutions", "message_not_found", owner=owner)
        one = rows[0].id if message_id is not None else None
        store.execute(
            "institutions/inbox:read", institution_id=owner.id, message_id=one, read_at=job.now
        )
    return [
        replace(message, read_at=message.read_at or job.now, dry_run=dry_run or None)
        for message in rows
    ]
