"""Find: what was received, by what somebody remembers of it, at one institution or at all.

Each row says its reason: of a purchase that redeemed nothing that of its nearest offer, as `why`
tells it; of another its state; of a rejected row its code. Where nothing is found, what may have
been meant is looked for: merchants with a like name, and other institutions that sent the
reference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cardoffers_cli.answers.explanations import reasons
from cardoffers_cli.answers.search import (
    Hit,
    PurchaseFilter,
    SearchResult,
    SearchScope,
    search,
    senders,
)
from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.masking import without_card_references, without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import UsageError
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

_NOTHING = "not_redeemed"
_NEAR = 3


class FindResult(Record):
    """What was found, as of when, at `institution` if it is one, or at all `institutions`.

    `near` are merchants that may have been meant where nothing is found, and `received_from` the
    other institutions that sent the reference.
    """

    institution: str | None
    institutions: list[str]
    as_of: datetime
    searched: SearchScope
    limit: int
    more: bool
    data: list[Hit]
    near: list[str]
    received_from: list[str]


def find(
    institution: str | None,
    wanted: PurchaseFilter,
    job: Job,
    *,
    limit: int,
    everywhere: bool = False,
) -> FindResult:
    """Return what passes every filter, at one institution or with `everywhere` at all.

    Without an institution it is the only one. Raises `UsageError` where nothing says what to look
    for.
    """
    if wanted == PurchaseFilter():
        raise UsageError(
            "Nothing says what to look for.",
            code="nothing_wanted",
            hint="Add --ref, --cardholder, --card, --redemption, --merchant, --amount, --day or "
            "--state.",
        )
    with reading(job) as source:
        owners = asked_institutions(source.store, institution, everywhere=everywhere)
        results = [_searched(source.store, owner, wanted, limit) for owner in owners]
        result = _together(results, limit)
        near, received_from = ([], []) if result.data else _meant(source.store, owners, wanted)
    slugs = [owner.slug for owner in owners]
    return FindResult(
        institution=slugs[0] if len(slugs) == 1 else None,
        institutions=slugs,
        as_of=job.now,
        **result,
        near=near,
        received_from=received_from,
    )


def _searched(store: Store, owner: Institution, wanted: PurchaseFilter, limit: int) -> SearchResult:
    result = search(store, owner.id, owner.slug, wanted, limit=limit)
    refs = [
        hit.transaction_ref for hit in result.data if hit.transaction_ref and hit.state == _NOTHING
    ]
    reason_of = reasons(store, owner.id, refs) if refs else {}
    hits = [
        replace(hit, reason=reason_of[hit.transaction_ref])
        if hit.transaction_ref and hit.state == _NOTHING
        else hit
        for hit in result.data
    ]
    masked_hits = without_cards(without_card_references(store, owner.id, hits))
    return replace(result, data=masked_hits)


def _together(results: Sequence[SearchResult], limit: int) -> SearchResult:
    """Put together what was found of several institutions: each kind with the newest first."""
    hits = [hit for result in results for hit in result.data]
    if len(results) > 1:
        kinds = list(dict.fromkeys(("purchase", *(hit.kind for hit in hits))))
        hits.sort(key=lambda hit: hit.get("transacted_at", hit.received_at), reverse=True)
        hits.sort(key=lambda hit: kinds.index(hit.kind))
    searched: dict[str, Any] = {}
    for name in dict.fromkeys(name for result in results for name in result.searched):
        values = [value for result in results if (value := result.searched[name]) is not None]
        searched[name] = max(values, default=None) if name == "last_import_at" else sum(values)
    return SearchResult(
        searched=SearchScope(**searched),
        limit=limit,
        more=len(hits) > limit or any(result.more for result in results),
        data=hits[:limit],
    )


def _meant(
    store: Store, owners: Sequence[Institution], wanted: PurchaseFilter
) -> tuple[list[str], list[str]]:
    """Return the merchants that may have been meant, and who else sent the reference."""
    near: list[str] = []
    if wanted.merchant:
        rows = store.rows("answers/search:near_merchants", merchant=wanted.merchant, limit=_NEAR)
        near = [row["name"] for row in rows]
    of_others: list[str] = []
    if wanted.ref and len(owners) == 1:
        of_others = senders(store, [wanted.ref], but=owners[0].id).get(wanted.ref, [])
    return without_cards(near), of_others
