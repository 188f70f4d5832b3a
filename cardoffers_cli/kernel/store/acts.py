"""The log of acts (rules.md#acts): who did what to keys, settings and money, chained by hash.

Whoever keeps the head (number and hash of the last row) can tell later whether a row before it was
changed, removed or put elsewhere, and whether the end was cut off.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


class ChangeAuthor(Record):
    """Who makes a change, as audit logs keep it."""

    run_no: int | None
    now: datetime
    actor: str


class SecurityEntry(Record, sheet="* key_id event_id"):
    """An act in the log; what `details` holds is its own.

    `happened_at` is the time its run was given, `recorded_at` what the clock of the machine said;
    null where no run did it.
    """

    entry_no: int = shown("no")
    event_id: UUID = shown(gives_way=5)
    happened_at: datetime
    institution: str | None = shown(gives_way=1)
    key_id: UUID | None = shown(gives_way=4)
    event: str
    subject: str | None = shown(gives_way=6)
    actor: str = shown(gives_way=2)
    approver: str | None = shown(gives_way=7)
    details: Mapping[str, Any] = shown(gives_way=3)
    recorded_at: datetime | None = shown(gives_way=8)


class ChainFault(Record):
    """A row of the log that breaks the chain, and how."""

    entry_no: int
    fault: str


def append(
    store: Store,
    kind: str,
    by: Job | ChangeAuthor,
    *,
    subject: object = None,
    event_id: UUID | None = None,
    institution_id: UUID | None = None,
    key_id: UUID | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Append an act; one whose `event_id` is there already is not written again.

    Call it after the rows of its `subject` were written: the act has their digest (`act_rows`).
    """
    named = None if subject is None else str(subject)
    row_sha256 = named and store.value("kernel/store/acts:row_sha256", kind=kind, subject=named)
    act = {"event_id": event_id, "institution_id": institution_id, "key_id": key_id, "kind": kind}
    act |= {"subject": named, "row_sha256": row_sha256}
    _append(store, {**act, "details": details or {}}, by)


def append_run(store: Store, by: ChangeAuthor, statement: str) -> None:
    """Append the acts of a run that a statement (`acts.sql`) finds and the log does not have."""
    for row in store.rows(statement, run_no=by.run_no):
        _append(store, {**row, "event_id": None, "key_id": None, "details": {}}, by)


def _append(store: Store, act: Mapping[str, Any], by: Job | ChangeAuthor) -> None:
    store.execute(
        "kernel/store/acts:append",
        **{**act, "details": dumps(act["details"])},
        run_no=getattr(by, "run_no", None),
        happened_at=by.now,
        actor=by.actor,
    )


def head(store: Store) -> str:
    """Return the head of the chain as `number:hash`."""
    row = store.rows("kernel/store/acts:head")[0]
    return f"{row['act_no']}:{row['hash']}"


def entries(
    store: Store,
    *,
    institution_id: UUID | None = None,
    event: str | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int = 100,
) -> list[SecurityEntry]:
    """Return the latest events, the newest first; the window is half-open."""
    rows = store.rows(
        "kernel/store/acts:entries",
        institution_id=institution_id,
        event=event,
        from_at=from_at,
        to_at=to_at,
        limit=limit,
    )
    return [SecurityEntry(**{**row, "details": json.loads(row["details"])}) for row in rows]


def faults(store: Store) -> list[ChainFault]:
    """Return where the chain is broken, the first hundred."""
    return store.records(ChainFault, "kernel/store/acts:faults")
