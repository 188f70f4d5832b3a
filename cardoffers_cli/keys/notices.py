"""Tell institutions that a key is about to end: each notice once, whenever the job runs.

A notice is a message in the institution's inbox and an entry in the security log. One that comes
late is still given, in words that are true on the day it is given; of several that are late only
the latest, as the others would say the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.institutions import inbox
from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.records import Record, shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


# Notices that a key is about to end (rules.md#key-notices): which are owed, and given.


class DueNotice(Record):
    """The notice that is owed of one key: `14_days`, `3_days` or `day_of`."""

    key_id: UUID
    institution_id: UUID
    institution: str
    name: str
    prefix: str
    replaced_by: UUID | None
    ends_at: datetime
    notice: str


class KeyNotice(Record, sheet="institution name prefix notice ends_at key_id"):
    """A notice that one key is about to end, with the text that its institution was sent."""

    key_id: UUID = shown(gives_way=2)
    institution: str
    name: str
    prefix: str = shown(gives_way=1)
    notice: str
    ends_at: datetime
    text: str


class NoticesResult(Record):
    """The notices that one run gave; a dry run has no id."""

    run_id: UUID | None
    notices: Sequence[KeyNotice]
    dry_run: bool


def give_notices(job: Job, *, dry_run: bool = False) -> NoticesResult:
    """Give every notice that is owed, in one transaction."""
    with job.store() as store, store.transaction(keep=not dry_run):
        return give_in(store, job, dry_run=dry_run)


def give_in(store: Store, job: Job, *, dry_run: bool = False) -> NoticesResult:
    """Give every notice that is owed in the caller's transaction, as one run."""
    with run_record(store, kind="key_notices", now=job.now, actor=job.actor) as run:
        owed = store.records(DueNotice, "keys/notices:due", now=job.now)
        notices = [_give(store, notice, job) for notice in owed]
        run.counts["notices"] = len(notices)
    return NoticesResult(run_id=None if dry_run else run.run_id, notices=notices, dry_run=dry_run)


def _give(store: Store, notice: DueNotice, job: Job) -> KeyNotice:
    key_id, ends_at, which = notice.key_id, notice.ends_at, notice.notice
    text = _text(notice, job.now)
    of = {"key_id": key_id, "ends_at": ends_at, "notice": which}
    store.execute("keys/notices:give", **of, given_at=job.now)
    inbox.post(
        store,
        notice.institution_id,
        kind="key_notice",
        subject=f"{key_id} {ends_at.isoformat()} {which}",
        text=text,
        now=job.now,
    )
    acts.append(
        store,
        "key_notice",
        job,
        institution_id=notice.institution_id,
        key_id=key_id,
        details={"notice": which, "ends_at": ends_at},
    )
    return KeyNotice(
        key_id=key_id,
        institution=notice.institution,
        name=notice.name,
        prefix=notice.prefix,
        notice=which,
        ends_at=ends_at,
        text=text,
    )


def _text(notice: DueNotice, now: datetime) -> str:
    ends_at = notice.ends_at
    key = f"The API key {notice.name} ({notice.prefix}…)"
    end = f"on {ends_at:%Y-%m-%d} at {ends_at:%H:%M} UTC"
    if ends_at <= now:
        todo = "Make a new one with `cardoffers key create`."
        return f"{key} ended {end}, and calls with it are refused. {todo}"
    if notice.replaced_by is not None:
        todo = "It has a successor: see that nothing uses the old key any more."
    else:
        rotate = f"`cardoffers key rotate {notice.key_id}`"
        todo = f"Make its successor with {rotate}, and put it to use before then."
    days = (ends_at.date() - now.date()).days
    how_soon = {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
    return f"{key} ends {end}, {how_soon}. {todo}"
