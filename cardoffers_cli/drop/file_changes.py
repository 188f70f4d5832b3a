"""Files that were taken, looked at again: what was read of each, and whether it still is that.

Whoever had the file open when it was taken may go on writing to it, where it is kept now. So its
bytes are held against the size and the digest of what was read. What stands behind those is told by
its lines, which are the ones that nobody read.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import MANIFEST, MARKER, REPORTS
from cardoffers_cli.intake.sources import Limits, Source
from cardoffers_cli.kernel.disk.folders import (
    NAME_BYTES,
    OpenFolder,
    numbered,
    stamp_of,
    sync_folder_if_possible,
)
from cardoffers_cli.kernel.words.errors import ConfigurationError, FileUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from cardoffers_cli.kernel.store.store import Store


_BLOCK = 1 << 20
_MOST_MORE = 1 << 30
"""Of a file that grew by more, only its size is told: whoever writes to it may go on for ever."""


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A taken file as it is now; `what` is same, grew or changed.

    `stamp` tells this state from a later one, `sha256` is of its bytes as stored where they were
    read to their end. The lines are those behind what was read; `is_cut` says that of the first of
    them a part was read.
    """

    what: str
    stamp: str
    sha256: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    is_cut: bool = False

    @property
    def mark(self) -> str:
        """What somebody accepts who accepts this state."""
        return self.sha256 or self.stamp


def later_stamp(path: Path) -> str | None:
    """Return what tells the state of a file from any other; None where there is no such file."""
    with suppress(OSError):
        return _stamp(path.stat(follow_symlinks=False))
    return None


def look_later(path: Path, taken_bytes: int, taken_sha256: str) -> FileChange | None:
    """Hold a kept file against what was read of it; None where it is not there any more."""
    try:
        with OpenFolder.open(path.parent) as folder, folder.plain_file(path.name) as opened:
            file_stat = os.fstat(opened)
            more = file_stat.st_size - taken_bytes
            read = _Pass()
            read.to(opened, min(file_stat.st_size, taken_bytes))
            is_begun_so = more >= 0 and read.digest.hexdigest() == taken_sha256
            first_line, is_cut = read.lines + 1, read.is_in_line
            if not is_begun_so or more > _MOST_MORE:
                return FileChange(
                    what="grew" if is_begun_so else "changed", stamp=_stamp(file_stat)
                )
            read.to(opened, file_stat.st_size)
            return FileChange(
                what="grew" if more else "same",
                stamp=_stamp(file_stat),
                sha256=read.digest.hexdigest(),
                first_line=first_line,
                last_line=read.lines + read.is_in_line,
                is_cut=is_cut,
            )
    except FileNotFoundError:
        return None
    except OSError:  # it is no plain file any more, or may not be read
        return FileChange(what="changed", stamp=later_stamp(path) or "")


def content_sha256(path: Path, taken_bytes: int) -> str | None:
    """Return the SHA-256 by which an import of a kept file would be known; None where it has none.

    None too where it grew by more than is read of it, before or while it is read.
    """
    with suppress(OSError, FileUnusable):
        with OpenFolder.open(path.parent) as folder, folder.plain_file(path.name) as opened:
            file = os.fdopen(os.dup(opened), "rb")

        def check_size() -> None:
            limits.check_stored(os.fstat(file.fileno()).st_size)

        limits = Limits(
            stored_bytes=taken_bytes + _MOST_MORE,
            unpacked_bytes=64 << 30,
            ratio=200,
            check_time=check_size,  # before each reading: whoever writes to it may go on for ever
        )
        with Source(path.name, file, limits) as source:
            for _ in source.blocks():
                pass
            return source.sha256
    return None


class _Pass:
    """One reading of a file from its beginning: digest, complete lines, and how far it is."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.lines = 0
        self.is_in_line = False
        self._at = 0
        self._last = b""

    def to(self, opened: int, end: int) -> None:
        """Read on, up to an offset."""
        while self._at < end:
            block = os.pread(opened, min(_BLOCK, end - self._at), self._at)
            if not block:
                return
            self._at += len(block)
            self.digest.update(block)
            self._count(block)

    def _count(self, block: bytes) -> None:
        """Count line ends as an editor does; a CR and an LF that follow one another are one."""
        self.lines += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
        self.lines -= self._last == b"\r" and block.startswith(b"\n")
        self._last = block[-1:]
        self.is_in_line = self._last not in {b"\n", b"\r"}


def _stamp(file_stat: os.stat_result) -> str:
    """Return a stamp that nobody who writes to the file can keep: the kernel sets its last part."""
    return f"{stamp_of(file_stat)}:{file_stat.st_ctime_ns}"


# The processed folder: where files are kept that were taken, `<processed>/<institution>/…`.
#
# `taken/` holds a file while a night works on it, `done/` what was imported, `failed/` what could
# not be, and `held/` what seems to be half a file, each with its markers and the reports on it. All
# of it is this service's own: nobody else may write there, which is looked at whenever a folder is
# opened. So names in it mean what they say. Nothing in it is ever overwritten: a name that is in
# use gets a number.


TAKEN, DONE, FAILED, HELD = "taken", "done", "failed", "held"
KEPT_IN = {"imported": DONE, "failed": FAILED, "held": HELD}
"""Where a file is kept, by its state."""

_OTHERS = (MARKER, MANIFEST, *REPORTS)
"""What lies beside a file, its name and one of these."""
_NAME_BYTES = NAME_BYTES - 55
"""What a name may have, so that a number, one of those, and a draft's own marks still fit."""
_SUFFIX_BYTES = 30


class ProcessedFolder:
    """The processed folder of a store at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Make it where it is missing; raise `ConfigurationError` where others may write in it."""
        with suppress(OSError):  # which the look at it tells
            self.root.mkdir(mode=0o700)
            sync_folder_if_possible(self.root.parent)
        self.check()

    def check(self) -> None:
        """Raise `ConfigurationError` where it is no folder, or others may write in it."""
        try:
            with OpenFolder.open(self.root) as folder:
                folder.must_be_private()
        except OSError as error:
            raise ConfigurationError.from_table(
                "drop", "processed_unusable", root=self.root, error=error
            ) from None

    @contextmanager
    def folder(self, institution: str, kind: str) -> Iterator[OpenFolder]:
        """Open one of the folders of an institution, and make it where it is missing."""
        with (
            OpenFolder.open(self.root) as root,
            root.private(institution) as own,
            own.private(kind) as folder,
        ):
            root.must_be_private()
            yield folder

    def path(self, institution: str, kind: str, name: str) -> Path:
        """Return the path of a name in one of the folders of an institution."""
        return self.root / institution / kind / name

    def used_names(self, institution: str) -> set[str]:
        """Return the names that are in use in `done/`, `failed/` and `held/` of an institution."""
        folders = [self.root / institution / kind for kind in KEPT_IN.values()]
        return {entry.name for folder in folders if folder.is_dir() for entry in folder.iterdir()}


def free_name(name: str, used: set[str]) -> str:
    """Return the name, or one like it, that neither a file nor anything beside one has.

    It fits beside its reports, and shows no control characters; a number goes before its suffixes.
    """
    name = _fitting("".join(letter if letter.isprintable() else "_" for letter in name))
    return next(
        candidate
        for candidate in numbered(name)
        if used.isdisjoint({candidate, *(candidate + other for other in _OTHERS)})
    )


def _fitting(name: str) -> str:
    """Cut a name that is too long in the middle, where a digest tells it from others like it."""
    encoded = name.encode()
    if len(encoded) <= _NAME_BYTES:
        return name
    _, dot, suffix = name.rpartition(".")
    end = f"{dot}{suffix}" if len(suffix.encode()) < _SUFFIX_BYTES else ""
    mark = f"-{hashlib.sha256(encoded).hexdigest()[:8]}{end}"
    return encoded[: _NAME_BYTES - len(mark.encode())].decode("utf-8", "ignore") + mark


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
    return [ProcessedFile(**row) for row in store.rows("drop/file_changes:watched")]
