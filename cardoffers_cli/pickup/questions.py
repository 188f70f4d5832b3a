"""Files that were fetched from places of institutions, and what is told of a pickup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardoffers_cli.kernel.words.records import Record, if_any, shown
from cardoffers_cli.kernel.words.visible import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store
    from cardoffers_cli.kernel.words.errors import CardoffersError
    from cardoffers_cli.pickup.remote import RemoteStray


NOTE = "note"
_MOST_STRAYS = 20


class PickupRow(Record, sheet="institution file state size_bytes drop_name"):
    """A file at a place, or that was there.

    `state` is fetched (into the drop folder, as `drop_name`), new (a dry run fetches nothing),
    waiting there, not_ready, left (with a finding), same (as one before), refused (by a nightly
    run), imported, and then removed, moved, kept, replaced or gone.
    """

    institution: str = shown(gives_way=2)
    file: str
    size_bytes: int | None = shown("bytes", gives_way=3)
    state: str
    drop_name: str | None = shown("in the drop folder", gives_way=1)


class PickupFinding(Record, sheet="level message next code"):
    """What somebody should know; `next` is the next command, or what to do."""

    code: str = shown(gives_way=1)
    level: str
    message: str
    next: str | None
    institution: str
    file: str | None = if_any()
    count: int | None = if_any()


class PickupResult(Record):
    """What a pickup came to, in the shape of `pickup --format json`."""

    drop: str
    places: int
    fetched: int
    files: Sequence[PickupRow]
    findings: Sequence[PickupFinding]
    dry_run: bool


def failed(institution: str, error: CardoffersError) -> PickupFinding:
    """Say why nothing, or nothing more, could be fetched for an institution."""
    return PickupFinding(
        code="pickup_failed",
        level="error",
        message=f"Fetching for {institution} failed ({error.code}). {error.message}",
        next=error.hint,
        institution=institution,
    )


def left(institution: str, name: str, error: CardoffersError) -> PickupFinding:
    """Say why a file was not fetched."""
    return PickupFinding(
        code=error.code,
        level=NOTE if error.code == "pickup_changed" else "error",
        message=f"{institution}/{shortened(name)} was left at its place. {error.message}",
        next=error.hint,
        institution=institution,
        file=f"{institution}/{name}",
    )


def strays(institution: str, entries: Sequence[RemoteStray]) -> list[PickupFinding]:
    """Say what is listed at a place and never fetched: each of some, and how many more."""
    named = [
        PickupFinding(
            code="pickup_stray",
            level="warning",
            message=f"{institution}/{shortened(entry.name)} was left at its place: {entry.what}.",
            next="ask the sender for a plain file with a plain name",
            institution=institution,
        )
        for entry in entries[:_MOST_STRAYS]
    ]
    if (more := len(entries) - _MOST_STRAYS) > 0:
        message = f"{more:,} more names at the place of {institution} are no files to fetch."
        named.append(
            PickupFinding(
                code="pickup_stray",
                level="warning",
                message=message,
                next="cardoffers help findings pickup_stray",
                institution=institution,
                count=more,
            )
        )
    return named


def unmarked(institution: str, name: str) -> PickupFinding:
    """Say that a file lacks the marker that its institution needs."""
    return PickupFinding(
        code="marker_missing",
        level="warning",
        message=f"{institution}/{shortened(name)} has neither a marker nor a manifest beside it at"
        " its place, which its institution needs.",
        next=f"cardoffers institution set {institution} --no-require-marker, if not",
        institution=institution,
        file=f"{institution}/{name}",
    )


def too_many(institution: str, waiting: int, most: int) -> PickupFinding:
    """Say that a place has more files than are fetched at once."""
    return PickupFinding(
        code="too_many_files",
        level="warning",
        message=f"The place of {institution} has {waiting:,} more files than the {most:,} that are"
        " fetched at once.",
        next="cardoffers pickup",
        institution=institution,
        count=waiting,
    )


def came_again(institution: str, name: str, *, is_usual: bool) -> PickupFinding:
    """Say that a name has other content than when it was fetched before.

    Where the one before was done with, that is how some senders name their files.
    """
    return PickupFinding(
        code="pickup_came_again",
        level=NOTE if is_usual else "warning",
        message=f"{institution}/{shortened(name)} was fetched before, and has other content now: it"
        " was fetched as a new file.",
        next=None if is_usual else "ask the sender whether it replaces the one before",
        institution=institution,
        file=f"{institution}/{name}",
    )


def left_there(institution: str, name: str, error: CardoffersError) -> PickupFinding:
    """Say that an imported file could not be removed or moved at its place."""
    return PickupFinding(
        code="pickup_left_there",
        level="warning",
        message=f"{institution}/{shortened(name)} is imported, and still lies at its place."
        f" {error.message}",
        next=error.hint,
        institution=institution,
        file=f"{institution}/{name}",
    )


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
