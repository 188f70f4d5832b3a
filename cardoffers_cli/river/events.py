"""Events: the purchases that calls carry, taken together with those of other calls.

One transaction serves every call of an institution that waits, because a call alone would pay for
opening the store, for looking through the history and for the commit all by itself. Each call is an
import of its own: what was received, accepted, known already and invalid stands in its record.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.chunks import FileReading, Judge, with_fingerprints
from cardoffers_cli.intake.documents import as_objects
from cardoffers_cli.intake.records import judge_pages, unknown_fields
from cardoffers_cli.kernel.store.card_numbers import keep_numbers, numbers_of
from cardoffers_cli.kernel.store.runs import write_run
from cardoffers_cli.kernel.words.json_text import dumps
from cardoffers_cli.kernel.words.row_kinds import PURCHASES
from cardoffers_cli.river.admit import Receipt, admit, receipts, stage_calls
from cardoffers_cli.river.judge import find_known, find_repeats, refuse_card_numbers
from cardoffers_cli.river.number import number
from cardoffers_cli.river.stage import stage_whole
from cardoffers_cli.river.stored_imports import next_import_no, record_calls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cardoffers_cli.intake.documents import Objects
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.card_forms import NumberEvidence
    from cardoffers_cli.river.stage import Chunk

MOST_ITEMS = 1000
"""The most events a call may carry (rules.md#batches)."""

_STRIDE = 1024  # lines of a call; more than any call has items


@dataclass(frozen=True, kw_only=True)
class EventCall:
    """The events of one call as parsed JSON values; `marked` as `intake.documents` marks them."""

    call_id: UUID
    items: Sequence[Any] = field(repr=False)
    body_sha256: str
    size_bytes: int
    key_prefix: str
    marked: bool = False


@dataclass(frozen=True, kw_only=True)
class EventCallResult:
    """What came of one call; `unknown_fields` were ignored."""

    received: int
    receipt: Receipt
    unknown_fields: int


def take_events(
    store: Store, owner: Institution, calls: Sequence[EventCall], job: Job
) -> list[EventCallResult]:
    """Take the events of every call in one transaction; return what came of each, in order."""
    pages = [
        as_objects(call.items, first=call_no * _STRIDE, marked=call.marked)
        for call_no, call in enumerate(calls)
    ]
    unknown = [unknown_fields(page) for page in pages]
    with store.transaction():
        chunk, numbers = _judged(store, owner, pages, job)
        (staged,) = stage_whole(store, [(chunk,)], [PURCHASES], is_file=False)
        refuse_card_numbers(store, staged, numbers)
        numbered = number(store, staged, owner.id)
        repeats = find_repeats(store, staged, find_known(store, staged, numbered, owner.id))
        place: dict[str, Any] = {
            "import_no": next_import_no(store),
            "institution_id": owner.id,
            "currency": owner.currency,
        }
        accepted = admit(
            *(store, staged, numbered, repeats), **place, received_at=job.now, stride=_STRIDE
        )
        keep_numbers(store, numbers)
        received = sum(len(call.items) for call in calls)
        counts = {"calls": len(calls), "received": received, "accepted": accepted}
        run_no = write_run(store, kind="receive", now=job.now, actor=job.actor, counts=counts)
        sent = [*map(_record, range(len(calls)), calls, unknown)]
        call_rows = stage_calls(store, sent, staged, repeats, stride=_STRIDE)
        record_calls(store, call_rows, **place, run_no=run_no, imported_at=job.now)
        by_call = receipts(store, staged, repeats, owner.id, job.now, stride=_STRIDE)
    return [
        EventCallResult(
            received=len(call.items), receipt=by_call[call_no], unknown_fields=unknown[call_no]
        )
        for call_no, call in enumerate(calls)
    ]


def _judged(
    store: Store, owner: Institution, pages: Sequence[Objects], job: Job
) -> tuple[Chunk, NumberEvidence]:
    reading = FileReading(
        now=job.now,
        currency=owner.currency,
        decimals=owner.minor_unit,
        institution_id=str(owner.id),
        numbers=numbers_of(store, owner.id, owner.numbers),
    )
    judge = Judge(reading)
    chunk = judge_pages(pages, judge)
    rows = with_fingerprints(chunk.rows, secrets.randbits(64))
    errors = chunk.findings
    if errors.height:
        errors = errors.filter(errors["level"] == "error")
    return (rows, errors, chunk.doubts), judge.numbers


def _record(call_no: int, call: EventCall, unknown: int) -> dict[str, Any]:
    return {
        "call_no": call_no,
        "call_id": call.call_id,
        "body_sha256": call.body_sha256,
        "size_bytes": call.size_bytes,
        "received": len(call.items),
        "options": dumps({"key": call.key_prefix, "unknown_fields": unknown}),
    }
