"""The records of imported files: one per file, with its counts and sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cardoffers_cli.domain.records import Record
from cardoffers_cli.domain.visible import shortened
from cardoffers_cli.store.numbering import next_number, numbered_up_to

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.sql.binding import Table
    from cardoffers_cli.store.store import Store

_NEXT = "services/imports:next_no"


class RejectedCode(Record):
    """How many errors of one code there were in files of one institution, in how many rows."""

    institution: str
    code: str
    errors: int
    rows: int
    files: int


def next_import_no(store: Store) -> int:
    """Return the number the next import gets, in the caller's transaction."""
    return next_number(store, _NEXT)


@dataclass(frozen=True)
class EarlierImport:
    """The first import of the same bytes: what the file was called, and when it was taken."""

    import_id: UUID
    file_name: str
    imported_at: datetime

    def told(self) -> str:
        """Return it for a sentence: the same file as NAME, taken on DAY."""
        return f"the same file as {shortened(self.file_name)}, taken on {self.imported_at:%Y-%m-%d}"


def earlier_import(store: Store, institution_id: UUID, sha256: str) -> EarlierImport | None:
    """Return the first import of the same bytes into the same institution, if there was one."""
    found = store.row("services/imports:earlier", institution_id=institution_id, file_sha256=sha256)
    return EarlierImport(**found) if found else None


def record_import(store: Store, record: Mapping[str, Any]) -> None:
    """Write the record of one import; the keys are the columns of the table `imports`."""
    store.execute("services/imports:record", **record)


def record_calls(store: Store, calls: Table, **parameters: Any) -> None:
    """Write the records of the calls that were staged, whose numbers begin at `import_no`."""
    written = store.execute("services/imports:record_calls", calls, **parameters)
    numbered_up_to(store, _NEXT, parameters["import_no"] + written - 1)


def rejects_by_code(
    store: Store,
    *,
    institution_id: UUID | None = None,
    from_at: datetime | None = None,
    to_at: datetime | None = None,
    after_run_no: int | None = None,
    to_run_no: int | None = None,
) -> list[RejectedCode]:
    """Return why rows were not accepted.

    The window is of when files were imported; run numbers restrict it as in `services/reports`.
    """
    return store.records(
        RejectedCode,
        "services/imports:rejects_by_code",
        institution_id=institution_id,
        from_at=from_at,
        to_at=to_at,
        after_run_no=after_run_no,
        to_run_no=to_run_no,
    )
