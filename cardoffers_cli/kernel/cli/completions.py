"""What a shell may offer while somebody types: slugs, offer ids, key ids.

Each look is under the store's lock like any other reading, but never waits for it: whoever presses
a key is not kept waiting, and a busy store offers nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.kernel.store.job import Job

_MOST = 200
"""Values that a person may still look through."""


def institution_slugs(job: Job) -> list[str]:
    """Return the slugs of all institutions."""
    return [row["value"] for row in _rows(job, "institutions")]


def offer_ids(job: Job, beginning: str, institution: str | None = None) -> list[str]:
    """Return the ids of some offers that begin so, of a program (slug or id) or of all."""
    rows = _rows(job, "offers", beginning=beginning, slug_or_id=institution, most=_MOST)
    return [row["value"] for row in rows]


def key_ids(job: Job) -> list[tuple[str, str]]:
    """Return the ids of the keys that are not revoked, each with its institution and name."""
    return [(row["value"], row["meaning"]) for row in _rows(job, "keys")]


def _rows(job: Job, query: str, **parameters: Any) -> Sequence[Mapping[str, Any]]:
    with job.store(read_only=True, wait_s=0) as store:
        return store.rows(f"kernel/cli/completions:{query}", **parameters)
