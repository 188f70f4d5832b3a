"""Files that nights took: what was read of each, where it is kept, what was said of it since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


@dataclass(frozen=True, kw_only=True)
class ProcessedFile:
    """A file of a night that was read, and is kept in `done/`, `failed/` or `held/`.

    `taken_bytes` and `taken_sha256` are of what was read, as it is stored. `looked_stamp` is a
    state in which it was found to be that, `accepted_mark` one that somebody accepted.
    """

    night_no: int
    file_no: int
    institution: str
    institution_id: UUID
    taken_as: str
    state: str
    taken_bytes: int
    taken_sha256: str
    looked_stamp: str | None
    accepted_mark: str | None
    processed_folder: str
    as_of: datetime

    @property
    def shown(self) -> str:
        """Its name for people."""
        return f"{self.institution}/{self.taken_as}"


def watched(store: Store) -> list[ProcessedFile]:
    """Return the files to look at again, the oldest first."""
    return [ProcessedFile(**row) for row in store.rows("drop/processed_files:watched")]
