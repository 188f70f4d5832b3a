"""The inbox of an institution's team: what somebody there has to know (rules.md#alerts).

What a message is about (`subject`) makes its id, so a job that runs again, or late, says nothing
twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, if_any, shown

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class Message(Record, sheet="created_at kind text read_at id"):
    """A message, under its public names; None while nobody has read it."""

    id: UUID
    kind: str = shown(gives_way=2)
    created_at: datetime
    text: str
    read_at: datetime | None = shown(gives_way=1)


class ReadMessage(Message):
    """A message that is read now, or would be."""

    dry_run: bool | None = if_any()


def post(
    store: Store, institution_id: UUID, *, kind: str, subject: str, text: str, now: datetime
) -> bool:
    """Write a message; return whether it is new."""
    written = store.execute(
        "events/inbox_inbox:post",
        institution_id=institution_id,
        kind=kind,
        subject=subject,
        text=text,
        created_at=now,
    )
    return bool(written)


def messages(store: Store, institution_id: UUID, *, unread_only: bool = False) -> list[Message]:
    """Return the messages of an institution, the newest first."""
    return store.records(
        Message,
        "events/inbox_inbox:messages",
        institution_id=institution_id,
        unread_only=unread_only,
    )
