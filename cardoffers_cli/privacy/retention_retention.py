"""What keeps files from going: everything of an institution that is still open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class StillOpen(Record):
    """Why something of an institution is open, and when its oldest purchase came (naive UTC)."""

    institution_id: UUID
    why: str
    since_at: datetime


class EndedRun(Record):
    """A nightly run that has ended and is not the newest, with its clock."""

    run_id: UUID
    as_of: datetime
