"""Reading for people: from the store or, while somebody holds it, from its snapshot.

An answer that is some hours old, and says so, is worth more than one that comes when the night has
ended. Only what changes nothing may be read so; and nothing of keys, because a snapshot would call
one valid that is being revoked.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from cardoffers_cli.kernel.store import snapshot
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.job import Reading
from cardoffers_cli.kernel.store.layout import snapshot_path
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.words import errors
from cardoffers_cli.kernel.words.periods import Period

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.records import Record

R = TypeVar("R", bound="Record")
PATIENCE_S = 2.0
"""How long a person is kept waiting for the store itself."""


@contextmanager
def reading(job: Job, *, patience_s: float | None = None) -> Iterator[Reading]:
    """Open the store for reading or, if it is held for longer than `patience_s`, the snapshot.

    `job.on_reading` is told which. Without patience given it is 2 s, but never longer than the
    settings let anybody wait. Where no snapshot can be read, the store is waited for as long as
    that, and `StoreBusy` raised in the end. One thread opens snapshots
    (`kernel/store/snapshot.py`).
    """
    with ExitStack() as opened:
        source = _open(opened, job, PATIENCE_S if patience_s is None else patience_s)
        job.on_reading(source)
        with _aged(source):
            yield source


def read_rows(job: Job, shape: type[R], address: str, **filters: Any) -> list[R]:
    """Return the records of a statement, for a person: their texts without card numbers.

    `institution`, or `one_institution`, is a slug or an id, None for any; `period` is a month.
    All else is given to the statement as it is.
    """
    if "period" in filters:
        period = filters.pop("period")
        month = Period.of(period, job.now) if period else None
        filters.update(from_at=month and month.from_at, to_at=month and month.to_at)
    with reading(job) as source:
        store = source.store
        for name in filters.keys() & {"institution", "one_institution"}:
            named = filters.pop(name)
            filters["institution_id"] = find_institution(store, named).id if named else None
        return [without_cards(record) for record in store.records(shape, address, **filters)]


def _open(opened: ExitStack, job: Job, patience_s: float) -> Reading:
    wait_s = float(job.settings.lock_wait_s)
    # Without a snapshot there is nothing to lose patience for.
    first_s = min(patience_s, wait_s) if snapshot_path(job.path).exists() else wait_s
    try:
        return Reading(opened.enter_context(job.store(read_only=True, wait_s=first_s)))
    except errors.StoreBusy as error:
        busy = error
    with suppress(errors.NoStore, errors.StoreVersion, errors.StoreDamaged):
        store, taken_at = opened.enter_context(open_published(job))
        return Reading(store, taken_at, busy)
    if first_s == wait_s:
        raise _without_snapshot(busy)
    try:
        return Reading(opened.enter_context(job.store(read_only=True, wait_s=wait_s - first_s)))
    except errors.StoreBusy as error:
        raise _without_snapshot(error) from None


@contextmanager
def _aged(source: Reading) -> Iterator[None]:
    """Let an error say of when it is: what a snapshot does not know may have come since."""
    try:
        yield
    except errors.CardoffersError as error:
        if source.snapshot_at is not None:
            error.details["snapshot_at"] = source.snapshot_at
        raise


def _without_snapshot(busy: errors.StoreBusy) -> errors.StoreBusy:
    hint = "With a snapshot (`cardoffers store publish`) it is answered from that meanwhile."
    return errors.StoreBusy(busy.message, hint=f"{busy.hint} {hint}", **busy.details)


@contextmanager
def open_published(job: Job) -> Iterator[tuple[Store, datetime]]:
    """Open the snapshot for reading, with the moment it shows.

    Raises `NoStore` where there is none and `StoreVersion` where it is of another schema.
    """
    with snapshot.open_snapshot(job.path, job.settings) as store:
        yield store, snapshot.taken_at(store)
