"""Timeline: everything that happened, from any id, and what is expected next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.errors import NotFound
from cardoffers_cli.domain.nearest import did_you_mean
from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.jobs.shown import without_cards
from cardoffers_cli.services.explanations import near_refs
from cardoffers_cli.services.ids import whole_id
from cardoffers_cli.services.institutions import find_institution
from cardoffers_cli.services.timelines import kind_of, timeline

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def tell_timeline(id_: str, institution: str, job: Job) -> dict[str, Any]:
    """Return kind, events and what is expected next of an id or ref; raise `NotFound`."""
    with reading(job) as source:
        owner = find_institution(source.store, institution)
        kind = kind_of(source.store, owner.id, id_)
        if kind is None:
            id_ = whole_id(source.store, "told", id_, owner.id)
            kind = kind_of(source.store, owner.id, id_)
        if kind is None:
            raise _unknown(id_, owner.slug, near_refs(source.store, owner.id, id_))
        told = without_cards(timeline(source.store, owner.id, id_, kind, job.now))
    return {
        "id": id_,
        "kind": kind,
        "institution": owner.slug,
        "as_of": job.now,
        **told,
    }


def _unknown(id_: str, slug: str, near: list[str]) -> NotFound:
    hint = f"`cardoffers find -i {slug}` looks by day, amount or merchant."
    return NotFound(
        f"{slug} has nothing under {id_!r}.",
        code="not_received",
        hint=did_you_mean(near) or hint,
        near=near,
    )
