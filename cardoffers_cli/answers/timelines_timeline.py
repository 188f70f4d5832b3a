"""Timeline: everything that happened, from any id, and what is expected next."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

from cardoffers_cli.answers.explanations import near_refs
from cardoffers_cli.answers.search import senders
from cardoffers_cli.answers.timelines import Timeline, kind_of, timeline
from cardoffers_cli.kernel.identifiers import whole_id
from cardoffers_cli.kernel.store.institutions import asked_institutions
from cardoffers_cli.kernel.store.masking import without_cards
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.kernel.words.errors import NotFound, UsageError
from cardoffers_cli.kernel.words.nearest_nearest import did_you_mean
from cardoffers_cli.kernel.words.sentences import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store


def tell_timeline(
    id_: str, institution: str | None, job: Job, *, everywhere: bool = False
) -> Timeline:
    """Return the timeline of an id or ref; raise `NotFound`.

    With `everywhere` it is that of the institution that has it; where several have, `UsageError`
    reference_ambiguous.
    """
    with reading(job) as source:
        owners = asked_institutions(source.store, institution, everywhere=everywhere)
        known = [found for owner in owners if (found := _known(source.store, owner, id_))]
        if not known:
            raise _unknown(source.store, owners, id_)
        if len(known) > 1:
            raise UsageError(
                f"{id_} is one of {listed([owner.slug for owner, *_ in known])}.",
                code="reference_ambiguous",
                hint="Name the institution with -i.",
            )
        ((owner, whole, kind),) = known
        if len(owners) > 1:
            kind_of(source.store, owner.id, whole)  # what it left for `timeline` is another's now
        told = timeline(source.store, owner.id, whole, kind, job.now, institution=owner.slug)
    shown: Timeline = without_cards(told)
    return replace(shown, id=whole)  # who asks has written it


def _known(store: Store, owner: Institution, id_: str) -> tuple[Institution, str, str] | None:
    """Return the whole id that an institution has, and what it is of; None if it has none."""
    if kind := kind_of(store, owner.id, id_):
        return owner, id_, kind
    whole = whole_id(store, "told", id_, owner.id)
    kind = kind_of(store, owner.id, whole)
    return (owner, whole, kind) if kind else None


def _unknown(store: Store, owners: Sequence[Institution], id_: str) -> NotFound:
    """Say that nothing is known of an id, who else sent it, or what may have been meant."""
    if len(owners) > 1:
        hint = "`cardoffers find --all-institutions` looks by day, amount or merchant."
        return NotFound(f"No institution has {id_!r}.", code="not_received", hint=hint)
    (owner,) = owners
    others = senders(store, [id_], but=owner.id).get(id_, [])
    if others:
        message = f"{owner.slug} did not send {id_!r}; {listed(others)} did."
        hint = f"`cardoffers timeline {quote(id_)} -i {others[0]}` tells of it."
        return NotFound(message, code="not_received", hint=hint, received_from=others)
    near = near_refs(store, owner.id, id_)
    hint = f"`cardoffers find -i {owner.slug}` looks by day, amount, merchant or card."
    return NotFound(
        f"{owner.slug} has nothing under {id_!r}.",
        code="not_received",
        hint=did_you_mean(near) or hint,
        near=near,
    )
