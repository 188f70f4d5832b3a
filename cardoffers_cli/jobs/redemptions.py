"""Redemptions: look at one, with all that belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardoffers_cli.jobs.reading import reading
from cardoffers_cli.services.redemptions import show_redemption

if TYPE_CHECKING:
    from cardoffers_cli.jobs.job import Job


def show(redemption_id: str, job: Job) -> dict[str, Any]:
    """Return a redemption, its purchase, money, webhook and history; raise `NotFound`."""
    with reading(job) as source:
        return show_redemption(source.store, redemption_id)
