"""List what was changed in the catalogue and in settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.institutions import changes
from cardoffers_cli.kernel.store.institutions import find_institution
from cardoffers_cli.kernel.store.reading import reading

if TYPE_CHECKING:
    from datetime import datetime

    from cardoffers_cli.kernel.store.job import Job


def list_changes(
    job: Job,
    institution: str | None = None,
    *,
    subject: str | None = None,
    subject_id: str | None = None,
    field: str | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    limit: int | None = None,
) -> list[changes.ValueChange]:
    """Return changes, the newest first; None filters nothing. Raises `NotFound`.

    Of an institution these are its own, and those of the offers in its program.
    """
    with reading(job) as source:
        owner = find_institution(source.store, institution) if institution else None
        return changes.list_changes(
            source.store,
            institution_id=owner.id if owner else None,
            subject=subject,
            subject_id=subject_id,
            field=field,
            from_at=from_at,
            to_at=to_at,
            limit=limit,
        )
