"""Redemptions: look at one, with all that belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.identifiers import redemption_id
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading
from cardoffers_cli.river.redemptions import show_redemption

if TYPE_CHECKING:
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.river.redemptions import RedemptionDetails


def show(redemption: str, job: Job, *, institution: str | None = None) -> RedemptionDetails:
    """Return a redemption, its purchase, money, webhook and history; raise `NotFound`.

    It is named by its id, the beginning of that, its purchase's reference, or `latest`.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution).id if institution else None
        return show_redemption(source.store, redemption_id(source.store, redemption, owner))
