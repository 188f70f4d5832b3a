"""Erasures of cardholders (rules.md#erasure): find one by token, put a tombstone in its place.

Full tokens stand in three places: cardholders, instruments, and the bodies of events; and in what
people wrote. Everything else of a cardholder hangs on a number, and stays as it is. The list of
erasures beside the store (`kernel/store/erasures.py`) says who was erased by keyed hash, so the
same statements erase one person now and all of the list in a store that was put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.store import acts
from cardoffers_cli.kernel.store.erasures import pads_of
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.erasures import ErasureList, ListedErasure
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


TOLD_APART = 8
"""How long a text is at most that may stand anywhere by chance, and is not looked for."""

TEXTS = (
    *("ledger_entries_reversal_reason", "ledger_moves_reason", "refund_links_reason"),
    *("refund_dismissals_reason", "finding_acceptances_reason", "payouts_reason"),
    *("payouts_withdrawn_reason", "watch_findings_reason", "merchant_answers_reason"),
    *("approvals_reason", "legal_holds_reason", "erasures_reason", "runs_counts"),
    *("withdrawn_imports_reason", "bank_allocations_reason", "invoice_settlements_reason"),
)
"""What people wrote, in which a token is replaced wherever it stands."""
_PARTS = ("outbox", "instruments", "cardholders")
"""What is erased, in this order: events are found by the tokens that go last."""


class ErasedCounts(Record):
    """What there is of cardholders who are erased, which stays, with tombstones for tokens."""

    cardholders: int
    instruments: int
    links: int
    purchases: int
    redemptions: int
    events: int


class Erasure(Record):
    """An erasure that the store knows; `cardholder_no` is None where there was nobody to erase."""

    erasure_id: UUID
    erased_at: datetime
    cardholder_no: int | None
    run_no: int


def unknown_to(store: Store, erasures: Iterable[ListedErasure]) -> list[ListedErasure]:
    """Return those of a list that a store does not know."""
    ids = {row["erasure_id"] for row in store.rows("privacy/erasures:known_ids")}
    return [erasure for erasure in erasures if erasure.erasure_id not in ids]


def erase(
    store: Store, erasures: Iterable[ListedErasure], key: bytes, *, run_no: int
) -> tuple[ErasedCounts, list[str]]:
    """Erase the cardholders that these name, in the caller's transaction; return what they had.

    The tokens that are gone are returned too, those that can be told apart. Done again it changes
    nothing. The old tokens stay in freed blocks of the file until it is written anew.
    """
    rows = [dict(erasure) for erasure in erasures]
    erasing = store.make("privacy/erasures:erasing", erasures=rows, **pads_of(key))
    counts = store.records(ErasedCounts, "privacy/erasures:counts", erasing)[0]
    erased = store.rows("privacy/erasures:erased_tokens", erasing, longer=TOLD_APART)
    for row in erased:
        for part in ("reasons_sent", *(f"text_{name}" for name in TEXTS)):
            store.execute(f"privacy/erasures:erase_{part}", **row)
    for part in _PARTS:
        store.execute(f"privacy/erasures:erase_{part}", erasing)
    store.execute("privacy/erasures:keep", erasing, run_no=run_no)
    return counts, [row["token"] for row in erased]


def shared_instruments(store: Store, institution_id: UUID, cardholder_no: int) -> int:
    """Return how many tokens of the cardholder's cards others have too: with those they stay."""
    return int(
        store.value(
            "privacy/erasures:shared_instruments",
            institution_id=institution_id,
            cardholder_no=cardholder_no,
        )
    )


# Erasures that a store does not know, though the list beside it does, done again.
#
# A backup of before an erasure, or a crash between the list and the store, has the cardholder
# still. Whoever was erased and returned is somebody new: an erasure that the store knows is left
# alone.


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
            counts, _ = erase(store, missing, listed.key, run_no=run.run_no)
            run.counts.update(counts, again=len(missing))
        for erasure in missing:
            log_erasure(store, erasure, job, is_again=True)
    return counts.cardholders


def log_erasure(store: Store, erasure: ListedErasure, job: Job, *, is_again: bool = False) -> None:
    """Append an erasure to the security log, by the keyed hash of its token, once."""
    acts.append(
        store,
        "cardholder_erased",
        job,
        subject=erasure.erasure_id,
        event_id=erasure.erasure_id,
        institution_id=erasure.institution_id,
        details={"token_hash": erasure.token_hash, "reason": erasure.reason, "again": is_again},
    )
