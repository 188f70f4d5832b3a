"""Events: the purchases that calls carry, taken together with those of other calls.

One transaction serves every call of an institution that waits, because a call alone would pay for
opening the store, for looking through the history and for the commit all by itself. Each call is an
import of its own: what was received, accepted, known already and invalid stands in its record.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.json_text import dumps
from cardoffers_cli.files.chunks import Reading
from cardoffers_cli.files.documents import as_objects
from cardoffers_cli.files.fingerprints import with_fingerprints
from cardoffers_cli.files.records import judge_pages, unknown_fields
from cardoffers_cli.jobs.runs import finish_run, start_run
from cardoffers_cli.pipeline.admit import admit
from cardoffers_cli.pipeline.judge import judge
from cardoffers_cli.pipeline.number import number
from cardoffers_cli.pipeline.receipts import Receipt, receipts, stage_calls
from cardoffers_cli.pipeline.stage import stage_whole
from cardoffers_cli.services.imports import next_import_no, record_calls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.files.documents import Objects
    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.services.institutions import Institution
    from cardoffers_cli.store.store import Store

MOST_ITEMS = 1000
"""The most events a call may carry (rules.md#batches)."""

_STRIDE = 1024  # lines of a call; more than any call has items


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The events of one call as parsed JSON values; `marked` as `files.documents` marks them."""

    call_id: UUID
    items: Sequence[Any] = field(repr=False)
    body_sha256: str
    size_bytes: int
    key_prefix: str
    marked: bool = False


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What came of one call; `unknown_fields` were ignored."""

    received: int
    receipt: Receipt
    unknown_fields: int


def take_events(store: Store, owner: Institution, calls: Sequence[Sent], job: Job) -> list[Taken]:
    """Take the events of every call in one transaction; return what came of each, in order."""
    pages = [_page(number, call) for number, call in enumerate(calls)]
    unknown = [unknown_fields(page) for page in pages]
    with store.transaction():
        _judge(store, owner, pages, job)
        _admit(store, owner, calls, unknown, job)
        found = receipts(store, owner.id, job.now, stride=_STRIDE)
    return [
        Taken(received=len(call.items), receipt=found[number], unknown_fields=unknown[number])
        for number, call in enumerate(calls)
    ]


def _page(call_no: int, call: Sent) -> Objects:
    return as_objects(call.items, first=call_no * _STRIDE, marked=call.marked)


def _judge(store: Store, owner: Institution, pages: Sequence[Objects], job: Job) -> None:
    reading = Reading(
        now=job.now,
        currency=owner.currency,
        decimals=owner.minor_unit,
        institution_id=str(owner.id),
        alone=True,
    )
    chunk = judge_pages(pages, reading)
    rows = with_fingerprints(chunk.rows, secrets.randbits(64))
    stage_whole(store, [(rows, chunk.findings, chunk.doubts)])
    number(store, owner.id)
    judge(store, owner.id)


def _admit(
    store: Store, owner: Institution, calls: Sequence[Sent], unknown: Sequence[int], job: Job
) -> None:
    run = start_run(store, kind="receive", now=job.now, actor=job.actor)
    import_no = next_import_no(store)
    admitted = admit(
        store,
        import_no=import_no,
        institution_id=owner.id,
        currency=owner.currency,
        received_at=job.now,
        stride=_STRIDE,
    )
    stage_calls(store, [*map(_record, range(len(calls)), calls, unknown)], stride=_STRIDE)
    record_calls(
        store,
        import_no=import_no,
        institution_id=owner.id,
        run_no=run.run_no,
        currency=owner.currency,
        imported_at=job.now,
    )
    received = sum(len(call.items) for call in calls)
    counts = {"calls": len(calls), "received": received, "accepted": admitted.accepted}
    finish_run(store, run, counts)


def _record(call_no: int, call: Sent, unknown: int) -> dict[str, Any]:
    return {
        "call_no": call_no,
        "call_id": call.call_id,
        "body_sha256": call.body_sha256,
        "size_bytes": call.size_bytes,
        "received": len(call.items),
        "options": dumps({"key": call.key_prefix, "unknown_fields": unknown}),
    }
