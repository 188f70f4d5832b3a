"""Merchant discovery: suggest whose unknown identifiers are, and show the evidence.

Nothing is written: what one match would pay is tried in a transaction that is never kept, with
every suggestion accepted, so that shared budgets count as they would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import Refused
from cardoffers_cli.kernel.words.ids import MOST_ROWS
from cardoffers_cli.kernel.words.records import Record
from cardoffers_cli.merchants import suggestions
from cardoffers_cli.merchants.answers import find_identifier
from cardoffers_cli.river.engines import decide_at, target_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.merchants.suggestions import RatedPair, Suggestion


class Evidence(Record):
    """The merchants that an unknown identifier was held against, the likeliest first."""

    merchant_identifier_type: str
    merchant_identifier: str
    candidates: Sequence[Suggestion]


def suggest_merchants(
    job: Job, institution: str | None = None, *, limit: int = MOST_ROWS
) -> list[Suggestion]:
    """Return the likely merchants of unknown identifiers, the most money first; keep nothing."""
    with job.store() as store, store.transaction(keep=False):
        owner = find_institution(store, institution).id if institution else None
        of = {"institution_id": owner}
        chosen = suggestions.choose(store, suggestions.compare(store, owner))
        waiting = store.make("merchants/suggestions:waits", chosen["suggested"], **of)
        store.execute("merchants/suggestions:try", chosen["suggested"])
        run_id = decide_at(target_of(store, job), store, job).run_id  # which takes those that wait
        return suggestions.listed(
            store,
            chosen,
            paid=store.make("merchants/suggestions:would_pay", run_id=run_id, **of),
            waiting=waiting,
            **of,
            limit=limit,
        )


def rate_pairs(job: Job, pairs: Sequence[Mapping[str, Any]]) -> list[RatedPair]:
    """Return the likeliest known merchant of each pair of a file, as `rate` does; keep nothing."""
    with job.store() as store, store.transaction(keep=False):
        return suggestions.rate(store, pairs)


def likely_merchants(institution: str, job: Job, *, limit: int) -> list[Suggestion]:
    """Return what `suggest_merchants` does of one institution, without a match; only reads.

    The most spent, by how likely it is, comes first: what a match would pay is not known.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution).id
        chosen = suggestions.choose(source.store, suggestions.compare(source.store, owner))
        return suggestions.listed(source.store, chosen, institution_id=owner, limit=limit)


def show_evidence(job: Job, identifier: str, identifier_type: str | None = None) -> Evidence:
    """Return every merchant that an unknown identifier was held against.

    Raises `NotFound`, `UsageError` ambiguous_identifier, `Refused` where its merchant is known.
    """
    with reading(job) as source:
        store = source.store
        identifier_row = find_identifier(store, identifier, identifier_type)
        if identifier_row.merchant_id is not None:
            raise Refused(
                f"{identifier} is an identifier of {identifier_row.merchant_name}.",
                code="identifier_taken",
                hint="`cardoffers audit changes` tells since when, and by whom; "
                f'`cardoffers merchant unlink {identifier} --reason "…"` takes it back.',
            )
        chosen = suggestions.choose(store, suggestions.compare(store), identifier_row.identifier_no)
        return Evidence(
            merchant_identifier_type=identifier_row.merchant_identifier_type,
            merchant_identifier=identifier_row.merchant_identifier,
            candidates=suggestions.listed(store, chosen),
        )
