"""Fetch one file: read it, prove it, record it, and put it into the drop folder, in this order.

It is read into the pool of the drop folder (`drop/fetched_files.py`) under a name that nobody else
has. It counts only if it has as many bytes as it was listed with, is listed the same when it was
read, is what its manifest says, and what the pinned keys vouch for.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import MANIFEST, marker_names
from cardoffers_cli.drop.manifests import MANIFEST_BYTES, parse_manifest
from cardoffers_cli.intake.sources import RATIO_FROM_BYTES, sha256_of
from cardoffers_cli.kernel.disk.folders import check_room, free_bytes
from cardoffers_cli.kernel.store.clock import real_now
from cardoffers_cli.kernel.words.errors import FileUnusable, NoSpace
from cardoffers_cli.kernel.words.findings import unusable
from cardoffers_cli.pickup import questions as pickups
from cardoffers_cli.pickup.openpgp import Keys, open_message, plain_name
from cardoffers_cli.pickup.questions import FetchedFile

if TYPE_CHECKING:
    from typing import BinaryIO

    from cardoffers_cli.drop.fetched_files import PickupPool
    from cardoffers_cli.drop.manifests import Manifest
    from cardoffers_cli.kernel.store.institutions import Institution
    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.words.pickups import PickupPlace
    from cardoffers_cli.pickup.remote import Deadline, Listing, Remote, RemoteFile


@dataclass(frozen=True, kw_only=True)
class PickupJob:
    """What is fetched for whom, from where and to where, and how long it may take."""

    job: Job
    owner: Institution
    place: PickupPlace
    drop: Path
    pool: PickupPool
    deadline: Deadline

    def id_of(self, name: str, stamp: str) -> str:
        """Return the id of a file in the pool; it begins with the institution's."""
        text = f"{self.place.shown}\0{name}\0{stamp}".encode()
        return f"{self.owner.id}-{hashlib.sha256(text).hexdigest()[:32]}"

    @property
    def keys(self) -> Keys | None:
        """The keys that are pinned, if files are messages of OpenPGP."""
        place = self.place
        if not place.is_signed_or_encrypted:
            return None
        home = Path(place.gpg_home or "")
        return Keys(home=home, decrypt_with=place.decrypt_with, signed_by=place.signed_by)


def fetch(pickup_job: PickupJob, remote: Remote, listing: Listing, file: RemoteFile) -> FetchedFile:
    """Fetch a file into the pool; return what is to be recorded of it.

    Raises `FileUnusable` for what is wrong with the file, and what `remote` raises.
    """
    file_id = pickup_job.id_of(file.name, file.stamp)
    _check_size(pickup_job, file)
    with ExitStack() as drafts:
        raw = drafts.enter_context(pickup_job.pool.draft(file_id))
        sha256 = _read(raw, remote, file)
        manifest = _manifest(remote, listing, file.name)
        draft, what, placed = raw, "raw", sha256
        if keys := pickup_job.keys:
            draft, what = drafts.enter_context(pickup_job.pool.draft(file_id, "plain")), "plain"
            raw.seek(0)
            most = _most_unpacked(pickup_job, file)
            open_message(raw, draft, keys, pickup_job.deadline, most_bytes=most)
            draft.flush()
            placed = sha256_of(draft)
        if manifest and manifest.sha256:
            if manifest.sha256 not in {sha256, placed}:
                raise unusable("manifest_mismatch", "Its SHA-256 is not that of its manifest.")
            manifest = replace(manifest, sha256=placed)
        _date_back(draft, file)
        pickup_job.pool.keep(file_id, draft, manifest, what)
    name = plain_name(file.name) if pickup_job.keys else file.name
    return FetchedFile(
        institution_id=pickup_job.owner.id,
        place=pickup_job.place.shown,
        remote_name=file.name,
        stamp=file.stamp,
        size_bytes=file.size_bytes,
        sha256=sha256,
        placed_sha256=placed,
        drop_name=pickup_job.pool.free_name(pickup_job.owner.slug, name),
        fetched_at=real_now(),
    )


def record(pickup_job: PickupJob, fetched: FetchedFile) -> None:
    """Write what was fetched: from now on it is not fetched again."""
    with pickup_job.job.store() as store, store.transaction():
        pickups.record(store, fetched)


def place(pickup_job: PickupJob, name: str, stamp: str, drop_name: str) -> None:
    """Put a recorded file from the pool into the drop folder."""
    pickup_job.pool.place(pickup_job.id_of(name, stamp), pickup_job.owner.slug, drop_name)


def _check_size(pickup_job: PickupJob, file: RemoteFile) -> None:
    settings = pickup_job.job.settings
    most = pickup_job.place.most_bytes or settings.file_most_bytes
    if file.size_bytes > most:
        message = f"It has {file.size_bytes:,} bytes; {most:,} are the most."
        raise unusable("file_too_large", message)
    copies = 2 if pickup_job.place.is_signed_or_encrypted else 1
    try:
        check_room(pickup_job.drop, copies * file.size_bytes, "It")
    except NoSpace as error:
        raise FileUnusable(error.message, code="file_without_room", hint=error.hint) from None


def _most_unpacked(pickup_job: PickupJob, file: RemoteFile) -> int:
    settings = pickup_job.job.settings
    by_ratio = max(RATIO_FROM_BYTES, settings.file_most_ratio * file.size_bytes)
    return min(settings.file_most_unpacked_bytes, by_ratio, free_bytes(pickup_job.drop) // 2)


def _read(raw: BinaryIO, remote: Remote, file: RemoteFile) -> str:
    """Copy a file, and return its digest; raise where it is not what was listed, or is no more."""
    digest, size = hashlib.sha256(), 0
    for block in remote.read(file):
        digest.update(block)
        size += len(block)
        raw.write(block)
    raw.flush()
    after = remote.look(file.name)
    if after is None or after.stamp != file.stamp:
        raise FileUnusable("It was written to meanwhile.", code="pickup_changed")
    if size != file.size_bytes:
        received = "more" if size > file.size_bytes else f"{size:,}"
        raise FileUnusable.from_table("pickup", "pickup_size", file=file, received=received)
    return digest.hexdigest()


def _date_back(draft: BinaryIO, file: RemoteFile) -> None:
    """Give a draft the time of the file: a file has come when its sender was done with it."""
    draft.flush()
    if file.modified_s is not None:
        now_s = real_now().replace(tzinfo=UTC).timestamp()
        then_s = min(max(0.0, file.modified_s), now_s)
        os.utime(draft.fileno(), (then_s, then_s))


def _manifest(remote: Remote, listing: Listing, name: str) -> Manifest | None:
    """Return the manifest that lies beside a file at its place, if one does."""
    marks = [mark for mark in marker_names(name) if mark.endswith(MANIFEST)]
    for file in [listing.files[mark] for mark in marks if mark in listing.files]:
        if file.size_bytes <= MANIFEST_BYTES:
            return parse_manifest(b"".join(remote.read(file)), "The manifest beside it")
        raise unusable("manifest_invalid", "The manifest beside it is too large to be one.")
    return None
