"""What was fetched and is not in the drop folder yet: a hidden folder in it, for its owner only.

A file is written there under a name of its own, is on the disk, and is `kept` when it is whole and
was found to be right. Then it is recorded, and then it goes into the folder of its institution by
one rename, its marker or manifest before it. A process that is killed leaves a draft, which is
thrown away, or a kept file, which is recorded and goes on, or is not and is fetched again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, cast

from cardoffers_cli.drop.drop import MANIFEST, MARKER
from cardoffers_cli.drop.file_changes import free_name
from cardoffers_cli.drop.manifests import MANIFEST_BYTES, Manifest, parse_manifest
from cardoffers_cli.kernel.disk.folders import NotPlain, OpenFolder, stamp_of
from cardoffers_cli.kernel.words.errors import CardoffersError
from cardoffers_cli.kernel.words.findings import unusable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from cardoffers_cli.intake.sources import Limits


POOL = ".pickup"
_DRAFT, _FILE, _MANIFEST = ".part", ".file", ".manifest"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PickupPool:
    """The pool of a drop folder, held open. Files in it are known by an id."""

    def __init__(self, root: OpenFolder, own: OpenFolder) -> None:
        self._root = root
        self._own = own

    @classmethod
    @contextmanager
    def open(cls, drop: Path, *, make: bool = True) -> Iterator[PickupPool]:
        """Open the pool, and `make` it where it is missing; raises `OSError`.

        One that is missing and not to be made is the drop folder itself, to look at only.
        """
        with OpenFolder.open(drop) as root:
            if not make and root.look(POOL) is None:
                yield cls(root, root)
                return
            with root.private(POOL) as own:
                yield cls(root, own)

    def clear(self, start: str, ids: Collection[str]) -> None:
        """Remove what a killed process left of ids that begin so, but for files of these ids."""
        for entry in self._own.entries():
            name, _, end = entry.name.rpartition(".")
            is_kept = name in ids and f".{end}" in {_FILE, _MANIFEST}
            if name.startswith(start) and not is_kept:
                os.unlink(entry.name, dir_fd=self._own.descriptor)

    @contextmanager
    def draft(self, file_id: str, what: str = "raw") -> Iterator[BinaryIO]:
        """Open a new file to write to and to read; it is gone at the end unless it was kept."""
        name = f"{file_id}.{what}{_DRAFT}"
        descriptor = os.open(name, _NEW, 0o600, dir_fd=self._own.descriptor)
        try:
            with os.fdopen(descriptor, "w+b") as out:
                yield out
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._own.descriptor)

    def keep(
        self, file_id: str, draft: BinaryIO, manifest: Manifest | None, what: str = "raw"
    ) -> None:
        """Let a draft be the file of its id, with what its manifest says of it."""
        if manifest is not None:
            self._write_manifest(file_id, manifest)
        draft.flush()
        os.fsync(draft.fileno())
        self._own.move(f"{file_id}.{what}{_DRAFT}", self._own, file_id + _FILE)
        self._own.sync()

    def has(self, file_id: str) -> bool:
        """Return whether the file of an id is kept here."""
        return self._own.look(file_id + _FILE) is not None

    def lies(self, institution: str, name: str) -> bool:
        """Return whether the folder of an institution has a file of that name."""
        try:
            with self._root.folder(institution) as folder:
                return folder.look(name) is not None
        except FileNotFoundError:
            return False

    def free_name(self, institution: str, name: str) -> str:
        """Return the name, or one like it, that nothing in the folder of an institution has."""
        with self._folder(institution) as folder:
            return free_name(name.lstrip("."), {entry.name for entry in folder.entries()})

    def place(self, file_id: str, institution: str, name: str) -> None:
        """Move a kept file into the folder of its institution under a name that is free.

        Its manifest goes before it, or a marker: done again it goes on.
        """
        with self._folder(institution) as folder:
            if self._own.look(file_id + _MANIFEST) is not None:
                self._own.move(file_id + _MANIFEST, folder, name + MANIFEST)
            elif folder.look(name + MANIFEST) is None:
                with suppress(FileExistsError):
                    os.close(os.open(name + MARKER, _NEW, 0o600, dir_fd=folder.descriptor))
            self._own.move(file_id + _FILE, folder, name)
            folder.sync()
            self._own.sync()

    def _folder(self, institution: str) -> OpenFolder:
        """Open the folder of an institution, and make it where it is missing."""
        with suppress(FileExistsError):
            os.mkdir(institution, 0o700, dir_fd=self._root.descriptor)
            self._root.sync()
        return self._root.folder(institution)

    def _write_manifest(self, file_id: str, manifest: Manifest) -> None:
        amount = manifest.amount_sum
        fields = {
            "sha256": manifest.sha256,
            "rows": manifest.rows,
            "amount_sum": None if amount is None else str(amount),
        }
        text = json.dumps({name: value for name, value in fields.items() if value is not None})
        with self.draft(file_id, "manifest") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
            draft = f"{file_id}.manifest{_DRAFT}"
            self._own.move(draft, self._own, file_id + _MANIFEST)


# Read a file that others may write to: from a copy that nobody else can open, or not at all.
#
# Whoever has the file open can write to it while it is read, and set its size and its time back. So
# its bytes are copied first, into a file without a name, and a file that the kernel says was
# touched meanwhile is not the one that was found.


_BLOCK = 1 << 20
_OF_THE_SYSTEM = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)


class FileChangedError(CardoffersError):
    """The file is not what was found before: it is `gone`, or has `changed`."""


def changed() -> FileChangedError:
    """Make the error of a file that is another one by now, or was written to."""
    return FileChangedError(code="changed")


def refused(error: OSError, code: str, what: str) -> CardoffersError:
    """Make the error of a file with which something cannot be done; raise what is no file's doing.

    That is a full disk, and what else would hit any other file too.
    """
    if error.errno in _OF_THE_SYSTEM:
        raise error
    return unusable(code, f"The file cannot be {what}: {error.strerror}.")


@dataclass(frozen=True, kw_only=True)
class Copy:
    """The bytes of a file as they were read, in an unnamed file; whoever has it closes it."""

    file: BinaryIO
    sha256: str
    size_bytes: int


def private_copy(
    folder: OpenFolder, name: str, stamp: str, limits: Limits, *, beside: Path
) -> Copy:
    """Copy a file that has this stamp, on the disk of a folder `beside`.

    Raises `FileChangedError` if it has not, or changes meanwhile, and `FileUnusable` if it is too
    large or cannot be read.
    """
    spool = cast("BinaryIO", TemporaryFile(dir=beside))  # noqa: SIM115  its owner closes it
    try:
        return _copied(folder, name, stamp, limits, spool)
    except BaseException:
        spool.close()
        raise


def _copied(folder: OpenFolder, name: str, stamp: str, limits: Limits, spool: BinaryIO) -> Copy:
    digest, size = hashlib.sha256(), 0
    with _opened(folder, name) as opened:
        before = os.fstat(opened)
        limits.check_stored(before.st_size)
        for block in blocks(opened, before.st_size):
            limits.check_time()
            digest.update(block)
            spool.write(block)
            size += len(block)
        after = os.fstat(opened)
    # A writer can set the time of the file back, but not the time of that.
    is_same = before.st_ctime_ns == after.st_ctime_ns and size == after.st_size
    if not is_same or stamp_of(before) != stamp:
        raise changed()
    spool.seek(0)
    return Copy(file=spool, sha256=digest.hexdigest(), size_bytes=size)


def read_manifest(folder: OpenFolder, names: Iterable[str], label: str) -> Manifest | None:
    """Return the first manifest of these names; raise `FileUnusable` for one that is wrong."""
    for name in names:
        try:
            with folder.plain_file(name) as opened:
                text = b"".join(blocks(opened, MANIFEST_BYTES))
        except (FileNotFoundError, NotPlain):
            continue
        except OSError as error:
            raise refused(error, "file_unreadable", "read") from None
        return parse_manifest(text, f"{label}{MANIFEST}")
    return None


@contextmanager
def _opened(folder: OpenFolder, name: str) -> Iterator[int]:
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(folder.plain_file(name))
        except FileNotFoundError:
            raise FileChangedError(code="gone") from None
        except (NotPlain, BlockingIOError):
            raise changed() from None
        except OSError as error:
            raise refused(error, "file_unreadable", "read") from None
        yield descriptor


def blocks(descriptor: int, size: int) -> Iterator[bytes]:
    """Read a file up to the size it had, and one byte more if there is one."""
    at = 0
    while at <= size:
        try:
            block = os.pread(descriptor, min(_BLOCK, size + 1 - at), at)
        except OSError as error:
            raise refused(error, "file_unreadable", "read") from None
        if not block:
            return
        at += len(block)
        yield block
