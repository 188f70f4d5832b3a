"""The security log as a whole: take in what calls left, list it, and prove that it is intact.

Uses of keys are noted in the usage journal, because they happen while other jobs hold the store.
`collect` brings them over; whoever shows the log, or a key, collects first.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.approval_requests import find_approvals, wrong_signatures
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.usage_journal import UsageJournal
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.store.usage_journal import Entries

REFUSED = "key_refused"
_CALLER = "api caller"
_HEAD = re.compile(r"(\d{1,18})[:,]([0-9a-f]{64})(,\S+)?", re.ASCII)
_FAULTS = {
    "entry_changed": "Entry {} is not what it was when it was written.",
    "entry_doubled": "Entry {} is there more than once.",
    "entries_missing_before": "Before entry {}, entries are missing.",
    "entry_not_chained": "Entry {} does not follow the entry before it.",
    "log_cut_off": "Entry {}, the head that was given, is missing: the end was cut off.",
    "head_differs": "Entry {} is not the one whose head was given: the log was written anew.",
    "signature_wrong": "The approval of entry {} is not signed by the two approvers that it names.",
}


def collect(store: Store, usage: UsageJournal) -> Entries:
    """Take failed and last uses into the store, in the caller's transaction.

    Returns what to `usage.forget` once that transaction has committed. Told twice, a failure is
    still one entry, so a crash between the two loses nothing and repeats nothing.
    """
    entries = usage.entries()
    for failure in entries.failures:
        acts.append(
            store,
            REFUSED,
            acts.ChangeAuthor(run_no=None, now=failure.happened_at, actor=_CALLER),
            event_id=failure.event_id,
            institution_id=failure.institution_id,
            key_id=failure.key_id,
            details={
                "code": failure.code,
                "request_id": failure.request_id,
                "times": failure.times,
            },
        )
    for use in entries.uses:
        store.execute("keys/questions:use", key_id=use.key_id, used_at=use.used_at)
    return entries


def catch_up(store: Store, job: Job) -> None:
    """Collect what waits in the usage journal, in a transaction of its own."""
    with UsageJournal(job.path) as usage:
        with store.transaction():
            collected = collect(store, usage)
        usage.forget(collected)


def list_security(
    job: Job,
    institution: str | None = None,
    *,
    event: str | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int = 100,
) -> list[acts.SecurityEntry]:
    """Return the latest events of the security log, the newest first."""
    with job.store() as store:
        owner = find_institution(store, institution) if institution else None
        catch_up(store, job)
        return acts.entries(
            store,
            institution_id=owner.id if owner else None,
            event=event,
            from_at=from_at,
            to_at=to_at,
            limit=limit,
        )


class SecurityLogFault(acts.ChainFault):
    """A fault of the chain, in words too."""

    message: str


class ChainCheck(Record):
    """Whether the security log is whole, its present head, and what is wrong."""

    ok: bool
    entries: int
    head: str
    faults: Sequence[SecurityLogFault]


def verify_security(job: Job, head: str | None = None) -> ChainCheck:
    """Check the chain, the signatures of approvals and, given some, earlier heads.

    A head (`number:hash`) that was kept elsewhere, or a file with one in each line, is what proves
    that the end was not cut off, and that the log was not written anew from the beginning. Raises
    `UsageError` for what is neither.
    """
    earlier = _parsed(head) if head else []
    with job.store() as store:
        catch_up(store, job)
        faults = [(row.entry_no, row.fault) for row in acts.faults(store)]
        for number, kept_hash in earlier:
            hash_now: str | None = "0" * 64
            if number:
                hash_now = store.value("kernel/store/acts:hash_of", act_no=number)
            if hash_now is None:
                faults.append((number, "log_cut_off"))
            elif hash_now != kept_hash:
                faults.append((number, "head_differs"))
        given = [one for one in find_approvals(store, job.now) if one.answer == "given"]
        if wrong := {str(one.approval_id) for one in wrong_signatures(store, given)}:
            logged = acts.entries(store, event="approval_given", limit=len(given))
            numbers = {entry.subject: entry.entry_no for entry in logged}
            faults += [(numbers.get(subject, 0), "signature_wrong") for subject in sorted(wrong)]
        present = acts.head(store)
    return ChainCheck(
        ok=not faults,
        entries=int(present.partition(":")[0]),
        head=present,
        faults=[
            SecurityLogFault(entry_no=number, fault=fault, message=_FAULTS[fault].format(number))
            for number, fault in faults
        ],
    )


def _parsed(head: str) -> list[tuple[int, str]]:
    """Return the number and the hash of a head, or of each in a file."""
    is_file = os.path.isfile(head)  # noqa: PTH113 - also of what is too long for a name
    lines = Path(head).read_text(errors="replace").splitlines() if is_file else [head]
    matches = [_HEAD.fullmatch(line.strip()) for line in lines]
    if not matches or None in matches:
        raise UsageError.from_table("keys", "head_invalid")
    return [(int(match[1]), match[2]) for match in matches if match]
