"""Mask the card numbers that a store holds.

Every door refuses card numbers, so there are some only where they came by another way, or where a
declared length was taken back. In references, identifiers and tokens each is replaced by a text
that is drawn for it, the same wherever the number stands; in running text, by `[masked]`. The
number cannot be had back.

Ids of redemptions were told to others and stay, though they are made from references. What lies in
an archive outside of the store is never rewritten, and is counted as left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from cardoffers_cli.domain.cards import without_card_numbers
from cardoffers_cli.domain.records import Record
from cardoffers_cli.jobs.context.runs import run_record
from cardoffers_cli.services.card_numbers import FoundNumber, Mask, find_card_numbers, mask
from cardoffers_cli.store.snapshot import withdraw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.jobs.context.job import Job

INSTEAD = "[masked]"
"""What stands in running text in the place of a card number."""


class MaskedNumbers(Record):
    """How many card numbers there were, by place, how many were masked, and how many are left."""

    card_numbers: int
    places: Sequence[Mapping[str, Any]]
    masked: int
    left: int
    dry_run: bool


def mask_card_numbers(job: Job, *, dry_run: bool = False) -> MaskedNumbers:
    """Mask every card number of the store; return how many there were, by place, and are left.

    The snapshot of the store is withdrawn, as it holds them too. Old blocks of the store's file
    hold them until it is compacted.
    """
    with job.store(read_only=dry_run) as store:
        found = find_card_numbers(store)
        masked = Counter[str]()
        for each in found:
            masked[each.place.column] += each.rows
        left, all_of_them = 0, masked.total()
        if found and not dry_run:
            drawn: defaultdict[tuple[UUID | None, str], str] = defaultdict(_draw)
            with store.transaction():
                with run_record(store, kind="mask", now=job.now, actor=job.actor) as run:
                    mask(store, (_mask_of(drawn, each) for each in found))
                    left = sum(each.rows for each in find_card_numbers(store))
                    run.counts.update(masked=all_of_them - left, left=left)
                withdraw(job.path)  # before the commit: no copy may hold them longer than the store
    return MaskedNumbers(
        card_numbers=all_of_them,
        places=[{"place": place, "rows": rows} for place, rows in sorted(masked.items())],
        masked=0 if dry_run else all_of_them - left,
        left=left,
        dry_run=dry_run,
    )


def _draw() -> str:
    return f"masked-{uuid4().hex}"


def _mask_of(drawn: Mapping[tuple[UUID | None, str], str], found: FoundNumber) -> Mask:
    place = found.place
    if place.is_whole:
        masked = drawn[place.institution_id, found.text]
    else:
        masked = without_card_numbers(found.text, instead=INSTEAD, joined=True)
    return Mask(
        place=place.column,
        institution_id=place.institution_id,
        text=found.text,
        masked=masked,
    )
