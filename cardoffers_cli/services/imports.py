"""The records of imported files: one per file, with its counts and sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uuid import UUID

    from cardoffers_cli.store.store import Store


def next_import_no(store: Store) -> int:
    """Return the number the next import gets, in the caller's transaction."""
    return int(store.value("services/imports:next_no"))


def earlier_import(store: Store, institution_id: UUID, sha256: str) -> UUID | None:
    """Return the first import of the same bytes into the same institution, if there was one."""
    found: UUID | None = store.value(
        "services/imports:earlier", institution_id=institution_id, file_sha256=sha256
    )
    return found


def record_import(store: Store, record: dict[str, Any]) -> None:
    """Write the record of one import; the keys are the columns of the table `imports`."""
    store.execute("services/imports:record", **record)


def record_calls(store: Store, **parameters: Any) -> None:
    """Write the records of the calls in `staged_calls`, whose numbers begin at `import_no`."""
    store.execute("services/imports:record_calls", **parameters)
