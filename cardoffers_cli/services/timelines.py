"""Timelines: everything that happened to a purchase, from any id that leads to it.

A ref, or the id of a redemption (which is also that of its webhook), ledger entry, settlement,
import or call, link, or transaction. Settlements and imports are of many purchases; what happened
to them together stands in one row. What is missing shows as the time between two events.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cardoffers_cli.domain.moments import format_length
from cardoffers_cli.domain.money import quantize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

_WAYS = ("known_by_ref", "known_by_id", "known_by_line")
"""Where what is written down is looked for, the quickest first."""

_DERIVED = ("link", "transaction")
"""What has its id made of what it is, and never written down: every one there is must be made."""

_DERIVED_VERSION = 8
"""RFC 9562: ids that are drawn are of version 4."""

_OF_MANY = {"settlement", "import"}


def kind_of(store: Store, institution_id: UUID, id_: str) -> str | None:
    """Return what an institution has under an id, or None.

    One of ref (of a purchase, or of rows that were not accepted), redemption, entry, settlement,
    import, link, transaction. Looking for the last two takes seconds where there are millions, and
    what it finds is kept for `timeline`, in the same opening of the store.
    """
    for way in _WAYS:
        kind: str | None = store.value(
            f"services/timelines:{way}", institution_id=institution_id, id=id_
        )
        if kind:
            return kind
    beginning = _beginning(id_)
    if beginning is None:
        return None
    of: Row = {"institution_id": institution_id, "id": id_, "beginning": beginning}
    kinds = _derived(store, institution_id)
    return next((kind for kind in kinds if store.execute(_following(kind), **of)), None)


def timeline(store: Store, institution_id: UUID, id_: str, kind: str, now: datetime) -> Row:
    """Return the events of what an id leads to, the earliest first, and what is expected next."""
    of: Row = {"institution_id": institution_id, "id": id_}
    single = {"is_single": kind not in _OF_MANY}
    if kind not in _DERIVED:
        store.execute(_following(kind), **of)
    store.execute("services/timelines:refs", **of, **single)
    store.execute("services/timelines:links_followed", **of, **single)
    events = store.rows("services/timelines:events", **of, **single)
    (waiting,) = store.rows("services/timelines:waiting", institution_id=institution_id)
    return {
        "events": [*_with_gaps([_event(row) for row in events])],
        "expected": [*_expected(waiting, now)],
    }


def _following(kind: str) -> str:
    return f"services/timelines:follow_{kind}"


def _derived(store: Store, institution_id: UUID) -> Iterator[str]:
    """Yield what may be known by a derived id; that of a purchase is told to calls only."""
    yield "link"
    if store.value("services/timelines:takes_calls", institution_id=institution_id):
        yield "transaction"


def _beginning(id_: str) -> str | None:
    """Return the digits before the version of an id that is derived; None for any other."""
    try:
        named = UUID(id_)
    except ValueError:
        return None
    return named.hex[:12] if named.version == _DERIVED_VERSION else None


def _event(row: Row) -> Row:
    amount = row["amount"]
    return {**row, "amount": None if amount is None else quantize(amount, row["currency"])}


def _with_gaps(events: list[Row]) -> Iterator[Row]:
    """Yield events with the time since the one before, in seconds and for the eye."""
    yield from ({**event, "gap_s": None, "gap": None} for event in events[:1])
    for before, event in pairwise(events):
        gap = event["happened_at"] - before["happened_at"]
        shown = format_length(gap) if gap else None
        yield {**event, "gap_s": int(gap.total_seconds()), "gap": shown}


def _expected(waiting: Row, now: datetime) -> Iterator[Row]:
    steps = (
        ("to_match", "decided", None, "cardoffers match"),
        ("unresolved", "merchant known", None, "cardoffers catalog import, then cardoffers match"),
        ("to_settle", "settled", waiting["settles_at"], "cardoffers settle"),
        ("to_deduct", "deducted", None, "cardoffers settle"),
        ("to_send", "delivered", waiting["sends_at"], "cardoffers webhook send"),
        ("exhausted", "delivered", None, "cardoffers webhook retry"),
    )
    for count, event, at, how in steps:
        if waiting[count]:
            overdue = at is not None and at <= now
            yield {"event": event, "at": at, "overdue": overdue, "times": waiting[count], "by": how}
