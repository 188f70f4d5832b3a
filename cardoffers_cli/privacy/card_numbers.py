"""Mask the card numbers that a store holds, and recognise what was masked.

Every door refuses card numbers, so there are some only where a declared length was taken back, or
where more numbers have come since. In references, identifiers and tokens each is replaced by a
keyed hash of it (HMAC-SHA256, of which 128 bits are kept), so it stays unique; in running text, by
`[masked]`. The key is drawn once and lies in the folder of the store, as `mask-key`: it is in no
snapshot, so who has only the store cannot try numbers. With it a masked reference is a duplicate
when its number is taken again. Ids of redemptions were told to others and stay; what lies in an
archive outside of the store is never rewritten, and is counted as left.
"""

from __future__ import annotations

import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any

from cardoffers_cli.intake.copies import MASK
from cardoffers_cli.kernel.disk.outputs import new_private_file, read_private_file
from cardoffers_cli.kernel.store.card_numbers import (
    CardNumberRow,
    Mask,
    find_card_numbers,
    mask,
    masked_text,
)
from cardoffers_cli.kernel.store.layout import mask_key_path
from cardoffers_cli.kernel.store.runs import run_record
from cardoffers_cli.kernel.store.snapshot import withdraw
from cardoffers_cli.kernel.words.cards import without_card_numbers
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.kernel.store.job import Job


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
        numbers = find_card_numbers(store)
        masked = Counter[str]()
        for number in numbers:
            masked[number.place.column] += number.rows
        remaining, all_of_them = 0, masked.total()
        if numbers and not dry_run:
            path = mask_key_path(job.path)
            if not path.exists():
                with new_private_file(path, f"{secrets.token_hex(32)}\n"):
                    pass
            key = read_private_file(path).strip()
            with store.transaction():
                with run_record(store, kind="mask", now=job.now, actor=job.actor) as run:
                    mask(store, (_mask_of(key, number) for number in numbers))
                    remaining = sum(number.rows for number in find_card_numbers(store))
                    run.counts.update(masked=all_of_them - remaining, left=remaining)
                withdraw(job.path)  # before the commit: no copy may hold them longer than the store
    return MaskedNumbers(
        card_numbers=all_of_them,
        places=[{"place": place, "rows": rows} for place, rows in sorted(masked.items())],
        masked=0 if dry_run else all_of_them - remaining,
        left=remaining,
        dry_run=dry_run,
    )


def _mask_of(key: str, row: CardNumberRow) -> Mask:
    place = row.place
    if place.is_whole:
        masked = masked_text(key, place.institution_id, row.text)
    else:
        masked = without_card_numbers(row.text, instead=MASK, joined=True)
    return Mask(
        place=place.column, institution_id=place.institution_id, text=row.text, masked=masked
    )
