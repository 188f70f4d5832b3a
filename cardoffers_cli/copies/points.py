"""Points: one state of the store with everything that belongs to it, and the one way to take it.

It is taken under the lock of the store, once the engine has written its log into the file: that is
copied as it is, and so are the small files that belong to it. Everything later reads the copy.
"""

from __future__ import annotations

import json
import socket
import tarfile
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

from cardoffers_cli.archive.archive import archive_of
from cardoffers_cli.kernel.disk.folders import digest_of
from cardoffers_cli.kernel.store import acts, copying, journal, layout, snapshot, usage_journal
from cardoffers_cli.kernel.store.erasures import own_list
from cardoffers_cli.kernel.store.journal_file import standing
from cardoffers_cli.kernel.store.migrations import newest_version
from cardoffers_cli.kernel.store.opening import open_copy
from cardoffers_cli.kernel.store.runs import write_run
from cardoffers_cli.kernel.words.moments import format_moment, parse_moment
from cardoffers_cli.kernel.words.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from cardoffers_cli.kernel.store.job import Job
    from cardoffers_cli.kernel.store.store import Store

FORM = "cardoffers-point 1"
"""By which a point is known to be one of ours."""
FILES = {
    "journal": layout.journal_path,
    "secrets": layout.secrets_path,
    "mask-key": layout.mask_key_path,
    "erasures": layout.erasures_path,
}
"""The small files of a store that are in its points, as they are."""
USAGE, SETTINGS, PARTS = "usage", "settings.json", "archive-parts"
"""The others: the usage journal, the settings without secrets, the files of the archive."""


class StorePoint(Record):
    """Which state of which store it is, and which bytes; what is no store has no `sha256`.

    `store_id` is told by the store's first run, and `lineage` by who went on with it. `erasures`
    are how many its list has. `taken_at` is naive UTC.
    """

    form: str
    point: str
    store_id: str
    lineage: str
    run_no: int
    run_id: str | None
    schema_version: int
    engine_version: str
    security_head: str
    erasures: int
    taken_at: datetime
    machine: str
    history: str | None
    size_bytes: int
    sha256: str | None
    files_sha256: str | None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> StorePoint:
        """Return the point that a document tells; raise `ValueError` where it is none of ours."""
        try:
            numbers = ("run_no", "schema_version", "erasures", "size_bytes")
            point = cls.part(
                {**dict.fromkeys(("run_id", "history", "sha256")), **document},
                **{name: int(document[name]) for name in numbers},
                taken_at=parse_moment(document["taken_at"]),
            )
            if point.form == FORM and point.point and point.files_sha256:
                return point
        except (TypeError, KeyError, AttributeError):
            pass
        raise ValueError("no point of ours")

    def facts(self) -> list[tuple[str, object]]:
        """Return the names and values that the point is written as."""
        values = {**self, "taken_at": format_moment(self.taken_at)}
        return [(name, value) for name, value in values.items() if value is not None]


def take(job: Job, copy: Path, *, publishes: bool = False) -> tuple[StorePoint, bytes]:
    """Copy the store into a new file; return the point, and a tar of its small files.

    With `publishes` the copy is the snapshot too, on the disk of the store, and its run recorded.
    """
    is_logged = any(log.exists() for log in layout.log_paths(job.path))
    read_only = not (publishes or is_logged)
    with job.store(read_only=read_only) as store:
        if publishes:
            with store.transaction():
                write_run(store, kind=snapshot.KIND, now=job.now, actor=job.actor, counts={})
        if not read_only:
            store.execute("kernel/store/copying:checkpoint")
        copying.copy_file(job.path, copy)
        with open_copy(copy, job.settings):
            pass  # it opens, and is of this version
        point, packed = point_of(store, job), pack(_files(store, job))
        if publishes:  # under the lock: an erasure withdraws it
            snapshot.replace_by(copy, job.path)
    return with_digests(point, packed, copy), packed


def with_digests(point: StorePoint, packed: bytes, copy: Path | None = None) -> StorePoint:
    """Return a point with the digests of its tar of small files and of its copy of the store."""
    return StorePoint.part(
        point,
        size_bytes=copy.stat().st_size if copy else 0,
        sha256=digest_of(copy) if copy else None,
        files_sha256=sha256(packed).hexdigest(),
    )


def unpacked(packed: bytes) -> dict[str, bytes]:
    """Return the small files of a point by their names; none of nothing."""
    if not packed:
        return {}
    with tarfile.open(fileobj=BytesIO(packed)) as tar:
        members = [(member.name, tar.extractfile(member)) for member in tar.getmembers()]
        return {name: member.read() for name, member in members if member}


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return small files as one tar."""
    packed = BytesIO()
    with tarfile.open(mode="w", fileobj=packed) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o600
            tar.addfile(member, BytesIO(content))
    return packed.getvalue()


def point_of(store: Store, job: Job) -> StorePoint:
    """Return what a point of an open store is, without its digests."""
    newest, archive = journal.newest(store), archive_of(store)
    first = store.rows("kernel/store/journal:runs_from", run_no=0, most=1)
    run_no, line = newest.run_no if newest else 0, standing(job.path)
    store_id = first[0]["run_id"].hex[:12] if first else "empty"
    lineage = line.lineage if line and line.lineage else store_id
    return StorePoint(
        form=FORM,
        point=f"point-{lineage}-{run_no:09}-{job.now:{layout.STAMP}}",
        store_id=store_id,
        lineage=lineage,
        run_no=run_no,
        run_id=str(newest.run_id) if newest else None,
        schema_version=newest_version(),
        engine_version=store.value("kernel/store/info:engine"),
        security_head=acts.head(store),
        erasures=len(own_list(job.path).erasures),
        taken_at=job.now,
        machine=socket.gethostname(),
        history=str(archive.root) if archive else None,
        size_bytes=copying.size_with_log(job.path),
        sha256=None,
        files_sha256=None,
    )


def _files(store: Store, job: Job) -> dict[str, bytes]:
    files = {}
    for name, path_of in FILES.items():
        with suppress(FileNotFoundError):
            files[name] = path_of(job.path).read_bytes()
    with suppress(usage_journal.ERRORS):  # a damaged one is in no point
        files[USAGE] = usage_journal.content(job.path)
    archive = archive_of(store)
    parts = archive.files_of(archive.parts()) if archive else []
    files[PARTS] = "".join(f"{part}\n" for part in parts).encode()
    # What a repr does not show of settings may be a secret.
    shown = {
        one.name: str(getattr(job.settings, one.name)) for one in fields(job.settings) if one.repr
    }
    files[SETTINGS] = json.dumps(shown, indent=1).encode()
    return files
