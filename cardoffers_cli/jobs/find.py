"""Find: what was received, by what somebody remembers of it, at one institution or at all.

Each row says its reason: of a purchase that redeemed nothing that of its nearest offer, as `why`
tells it; of another its state; of a rejected row its code. Where nothing is found, what may have
been meant is looked for: merchants with a like name, and other institutions that sent the
reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.jobs.shown import without_card_references, without_cards
from cardoffers_cli.services.explanations import reasons
from cardoffers_cli.services.institutions import asked_institutions
from cardoffers_cli.services.search import Wanted, near_merchants, search, senders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.jobs.job import Job
    from cardoffers_cli.services.institutions import Institution
    from cardoffers_cli.store.store import Store

    Row = dict[str, Any]

_NOTHING = "not_redeemed"


def find(
    institution: str | None, wanted: Wanted, job: Job, *, limit: int, everywhere: bool = False
) -> Row:
    """Return what passes every filter, what was looked through, and as of when.

    Without an institution it is the only one, or with `everywhere` all. `near` and `received_from`
    say what may have been meant where nothing is found. Raises `UsageError` where nothing says what
    to look for.
    """
    if wanted == Wanted():
        raise UsageError(
            "Nothing says what to look for.",
            code="nothing_wanted",
            hint="Add --ref, --cardholder, --card, --redemption, --merchant, --amount, --day or "
            "--state.",
        )
    with reading(job) as source:
        owners = asked_institutions(source.store, institution, everywhere=everywhere)
        each = [_searched(source.store, owner, wanted, limit) for owner in owners]
        found = _together(each, limit)
        slugs = [owner.slug for owner in owners]
        meant = {} if found["data"] else _meant(source.store, owners, wanted)
    return {
        "institution": slugs[0] if len(slugs) == 1 else None,
        "institutions": slugs,
        "as_of": job.now,
        **found,
        "near": meant.get("near", []),
        "received_from": meant.get("received_from", []),
    }


def _searched(store: Store, owner: Institution, wanted: Wanted, limit: int) -> Row:
    found = search(store, owner.id, wanted, limit=limit)
    rows = _with_reasons(store, owner, found["data"])
    shown = without_cards(without_card_references(store, owner.id, rows))
    return {**found, "data": [{**row, "institution": owner.slug} for row in shown]}


def _with_reasons(store: Store, owner: Institution, rows: Sequence[Row]) -> list[Row]:
    refs = [row["transaction_ref"] for row in rows if row["state"] == _NOTHING]
    told = reasons(store, owner.id, refs) if refs else {}
    return [
        {
            **row,
            "reason": told[row["transaction_ref"]]
            if row["state"] == _NOTHING
            else row.get("code") or row["state"],
            "day": (row.get("transacted_at") or row["received_at"]).date(),
        }
        for row in rows
    ]


def _together(found: Sequence[Row], limit: int) -> Row:
    """Put together what was found of several institutions: each kind with the newest first."""
    rows = [row for each in found for row in each["data"]]
    if len(found) > 1:
        kinds = list(dict.fromkeys(("purchase", *(row["kind"] for row in rows))))
        rows.sort(key=lambda row: row.get("transacted_at") or row["received_at"], reverse=True)
        rows.sort(key=lambda row: kinds.index(row["kind"]))
    searched: Row = {}
    for name in dict.fromkeys(name for each in found for name in each["searched"]):
        values = [value for each in found if (value := each["searched"][name]) is not None]
        searched[name] = max(values, default=None) if name == "last_import_at" else sum(values)
    return {
        "searched": searched,
        "limit": limit,
        "more": len(rows) > limit or any(each["more"] for each in found),
        "data": rows[:limit],
    }


def _meant(store: Store, owners: Sequence[Institution], wanted: Wanted) -> Row:
    """Return the merchants that may have been meant, and who else sent the reference."""
    near = near_merchants(store, wanted.merchant) if wanted.merchant else []
    of_others: list[str] = []
    if wanted.ref and len(owners) == 1:
        of_others = senders(store, [wanted.ref], but=owners[0].id).get(wanted.ref, [])
    return {"near": without_cards(near), "received_from": of_others}
