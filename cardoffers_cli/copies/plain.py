"""A plain repository: a folder of whole points, which are not encrypted.

A point is three files: `NAME` is the store, `NAME.secrets` a tar of the small files, and
`NAME.checksum` what the point is. The checksum is made first and claims the names, and says last
that all is there: what a killed process left is no point, and the next one here removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from cardoffers_cli.copies.points import StorePoint
from cardoffers_cli.kernel.disk.folders import check_room, copy_with_digest, digest_of
from cardoffers_cli.kernel.disk.outputs import new_private_file
from cardoffers_cli.kernel.store import layout
from cardoffers_cli.kernel.store.opening import too_old
from cardoffers_cli.kernel.words import errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_UNFINISHED = '{"form": "cardoffers-point, unfinished"}\n'


def checksum_path(file: Path) -> Path:
    """Return the path of the file that says what a point is."""
    return file.with_name(f"{file.name}.checksum")


def secrets_path(file: Path) -> Path:
    """Return the path of the tar of the small files of a point."""
    return file.with_name(f"{file.name}.secrets")


def must_be_folder(folder: Path) -> None:
    """Raise `UsageError` where there is no folder."""
    if not folder.is_dir():
        raise errors.UsageError.from_table("copies", "folder_missing", folder=folder)


def check_free(file: Path) -> None:
    """Raise `UsageError` without a folder, `Refused` where a file of a point is already."""
    must_be_folder(file.parent)
    for path in (checksum_path(file), secrets_path(file), file):
        if path.exists():
            raise errors.Refused.from_table("copies", "file_exists", path=path)


@contextmanager
def placing(file: Path) -> Iterator[None]:
    """Claim the names of a new point; what the block puts there goes again where it fails."""
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for claim in file.parent.glob("*.checksum"):
            if claim.read_text("utf-8", "replace") == _UNFINISHED:
                _remove(claim.with_suffix(""))
        check_free(file)
        with layout.needing_room(file), new_private_file(checksum_path(file), _UNFINISHED):
            try:
                yield
            except BaseException:
                _remove(file)
                raise
    except BlockingIOError:
        raise errors.StoreBusy(
            f"Another copy is being written to {file.parent}.", hint="Run it again."
        ) from None
    finally:
        os.close(folder)


def finish(file: Path, point: StorePoint, packed: bytes) -> None:
    """Write the small files of a point, and then that all of it is there."""
    layout.replace_whole(secrets_path(file), packed, _draft(file))
    text = f"{json.dumps(dict(point.facts()), indent=1)}\n"
    layout.replace_whole(checksum_path(file), text.encode(), _draft(file))


def _draft(file: Path) -> Path:
    return file.with_name(f".{file.name}.part")


def _remove(file: Path) -> None:
    for path in (_draft(file), secrets_path(file), file, checksum_path(file)):
        path.unlink(missing_ok=True)


def read_point(file: Path) -> StorePoint:
    """Return what the point at a path is; raise `FileUnusable` for what is none, or cut off."""
    checksum, hint = checksum_path(file), "Restore a file of `cardoffers store backup`."
    if not file.is_file():
        raise errors.FileUnusable(
            f"There is no backup at {file}.", code="backup_missing", hint=hint
        )
    try:
        document = json.loads(checksum.read_bytes())
        if str(document["form"]).split()[:2] == ["cardoffers", "backup"]:  # from before points
            raise too_old(file)
        point = StorePoint.read(document)
    except FileNotFoundError:
        raise errors.FileUnusable(
            f"{file} has no {checksum.name} beside it, so nobody can tell whether it is "
            "whole: a store that is copied while it is in use may be torn or stale.",
            code="backup_unchecked",
            hint=hint,
        ) from None
    except (ValueError, TypeError, KeyError):
        raise errors.FileUnusable(
            f"{checksum} is no checksum of a whole backup.", code="backup_foreign", hint=hint
        ) from None
    if file.stat().st_size != point.size_bytes or layout.log_path(file).exists():
        raise damaged(file)
    return StorePoint.part(point, point=file.name)


def away(place: Path | str) -> errors.NotFound:
    """Return the error of a repository that is not where it should be."""
    return errors.NotFound.from_table("copies", "copies_away", place=place)


def damaged(file: Path | str) -> errors.FileUnusable:
    """Return the error of a point that is not as it was written."""
    return errors.FileUnusable.from_table("copies", "backup_damaged", file=file)


class PlainRepository:
    """The repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, point: StorePoint, packed: bytes, copy: Path | None = None) -> int:
        """Put a point here, with its copy of the store if it has one; return the bytes of it."""
        file = self.folder / point.point
        must_be_folder(self.folder)
        check_room(self.folder, point.size_bytes, "The point")
        with placing(file):
            if copy:
                copy_with_digest(copy, file)
            finish(file, point, packed)
        return point.size_bytes + len(packed)

    def points(self) -> list[StorePoint]:
        """Return what is here, of our own; raise `NotFound` where there is no folder."""
        if not self.folder.is_dir():
            raise away(self.folder)
        points = []
        for checksum in sorted(self.folder.glob("*.checksum")):
            with suppress(OSError, ValueError, TypeError):
                point = StorePoint.read(json.loads(checksum.read_bytes()))
                points.append(StorePoint.part(point, point=checksum.name.removesuffix(".checksum")))
        return points

    def get(self, point: StorePoint, copy: Path | None = None) -> bytes:
        """Return the small files of a point, none where they are kept elsewhere; fill the copy.

        Raises `FileUnusable` for other bytes than were put here.
        """
        file = self.folder / point.point
        if copy and copy_with_digest(file, copy) != point.sha256:
            raise damaged(file)
        packed = secrets_path(file).read_bytes() if secrets_path(file).exists() else b""
        if packed and sha256(packed).hexdigest() != point.files_sha256:
            raise damaged(secrets_path(file))
        return packed

    def faults(self, points: Iterable[StorePoint]) -> list[str]:
        """Read every byte of these points; return the names of those that are not whole."""
        names = []
        for point in points:
            try:
                self.get(point)
                is_whole = point.sha256 in {None, digest_of(self.folder / point.point)}
            except (OSError, errors.FileUnusable):
                is_whole = False
            names += [] if is_whole else [point.point]
        return names

    def prune(self, points: Iterable[StorePoint]) -> None:
        """Remove these points, the checksum of each first, so that none is there in part."""
        for point in points:
            file = self.folder / point.point
            checksum_path(file).unlink(missing_ok=True)
            _remove(file)
        layout.sync_folder(self.folder)
