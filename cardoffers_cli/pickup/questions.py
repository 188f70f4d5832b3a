"""Files that were fetched from places of institutions, and what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


class Fetched(Record):
    """What was fetched: `sha256` is of what lay there.

    `placed_sha256` is of what goes into the drop folder as `drop_name`.
    """

    remote_name: str
    stamp: str
    size_bytes: int
    sha256: str
    placed_sha256: str
    drop_name: str
    fetched_at: datetime


class FetchedFile(Fetched):
    """A file as it is recorded when it was fetched. Grain: one per place, name and stamp."""

    institution_id: UUID
    place: str


class FetchedFileRow(Fetched):
    """A file that was fetched, and how far it is; `outcome` is what became of it at its place.

    `is_imported` holds as soon as its bytes are, whoever imported them; `is_refused` says that a
    nightly run could not take it, and `is_in_hand` that one is about to.
    """

    picked_no: int
    outcome: str | None
    is_imported: bool
    is_refused: bool
    is_in_hand: bool


def known(store: Store, institution_id: UUID, place: str) -> list[FetchedFileRow]:
    """Return what was fetched from a place, the oldest first."""
    filters = {"institution_id": institution_id, "place": place}
    return store.records(FetchedFileRow, "pickup/questions:known", **filters)


def record(store: Store, file: FetchedFile) -> None:
    """Write a file that was fetched; what is written of it already is replaced."""
    picked_no = store.value("pickup/questions:next")
    store.execute("pickup/questions:record", picked_no=picked_no, **file)


def last_folder(store: Store) -> str | None:
    """Return the drop folder of the newest nightly run, or None before the first."""
    row = store.row("pickup/questions:last_folder")
    return row["drop_folder"] if row else None
