"""Erasures that a store does not know, though the list beside it does, done again.

A backup of before an erasure, or a crash between the list and the store, has the cardholder still.
Whoever was erased and returned is somebody new: an erasure that the store knows is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store import security_log
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.privacy.erasures import erase, unknown_to

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.erasures import ErasureList, ListedErasure
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

KIND = "erase"
"""The kind of the run that erases."""


def missing_erasures(store: Store, listed: ErasureList) -> list[ListedErasure]:
    """Return the erasures on a list that an open store does not know."""
    return unknown_to(store, listed.erasures)


def erase_again(store: Store, job: Job, listed: ErasureList) -> int:
    """Do what `missing_erasures` tells, in a transaction; return how many cardholders there were.

    The store that is open may be another than the job's: a copy that is to take its place.
    """
    missing = missing_erasures(store, listed)
    if not missing or listed.key is None:
        return 0
    with store.transaction():
        with run_record(store, kind=KIND, now=job.now, actor=job.actor) as run:
            found, _ = erase(store, missing, listed.key, run_no=run.run_no)
            run.counts.update(found, again=len(missing))
        for each in missing:
            log_erasure(store, each, job, is_again=True)
    return found.cardholders


def log_erasure(store: Store, erasure: ListedErasure, job: Job, *, is_again: bool = False) -> None:
    """Append an erasure to the security log, by the keyed hash of its token, once."""
    security_log.append(
        store,
        "cardholder_erased",
        event_id=erasure.erasure_id,
        institution_id=erasure.institution_id,
        details={
            "token_hash": erasure.token_hash,
            "reason": erasure.reason,
            "again": is_again,
        },
        now=job.now,
        actor=job.actor,
    )
