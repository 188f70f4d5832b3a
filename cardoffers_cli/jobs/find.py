"""Find: what was received, by what somebody remembers of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.jobs.shown import without_card_references, without_cards
from cardoffers_cli.services.institutions import find_institution
from cardoffers_cli.services.search import Wanted, search

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def find(institution: str, wanted: Wanted, job: Job, *, limit: int) -> dict[str, Any]:
    """Return what passes every filter, what was looked through, and as of when.

    Raises `UsageError` where nothing says what to look for.
    """
    if wanted == Wanted():
        raise UsageError(
            "Nothing says what to look for.",
            code="nothing_wanted",
            hint="Add --ref, --cardholder, --redemption, --merchant, --amount, --day or --state.",
        )
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        found = search(source.store, owner.id, wanted, limit=limit)
        rows = without_card_references(source.store, owner.id, found["data"])
        found["data"] = without_cards(rows)
    return {"institution": owner.slug, "as_of": job.now, **found}
