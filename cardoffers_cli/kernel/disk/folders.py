"""Folders held open: a name is looked up in the folder that was opened, and no link is followed.

Where somebody else may write, a name means another file at the next moment, and so does the name of
the folder. So a folder is opened once, everything in it is asked of its descriptor (openat(2) and
its kin), and a file is judged by what was opened, never by its name again. Of a file that is copied
the digest is taken meanwhile: what is judged is then what was copied.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cardoffers_cli.kernel.words.errors import ConfigurationError, NoSpace

if TYPE_CHECKING:
    from collections.abc import Iterator


# Names that outlive a loss of power: a file is on the disk only when its folder is too.


_CANNOT = frozenset({errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOTSUP})


def sync_folder_if_possible(folder: Path) -> None:
    """Put the names in a folder on the disk, where that can be done.

    A folder that may be written to and not be read, and one of some network disks, cannot be.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        return
    try:
        sync_opened(descriptor)
    finally:
        os.close(descriptor)


def sync_opened(folder: int) -> None:
    """Put the names in an opened folder on the disk; not on every network folders can be."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise


def make_folder(folder: Path) -> None:
    """Make a folder, with those that it is in, and put their names on the disk."""
    missing = [ancestor for ancestor in (folder, *folder.parents) if not ancestor.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for ancestor in missing:
        sync_folder_if_possible(ancestor.parent)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OTHERS_WRITE = 0o022

NAME_BYTES = 255
"""The most bytes of a name on the file systems that matter here."""


class NotPlain(OSError):
    """What has the name is no plain file, or was exchanged while it was opened."""


class OpenFolder:
    """A folder that is held open until it is closed; `path` is only for messages."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self.descriptor = descriptor
        self.path = path

    @classmethod
    def open(cls, path: Path) -> OpenFolder:
        """Open a folder that an operator named; links in its path are meant. Raises `OSError`."""
        return cls(os.open(path, _FOLDER), path)

    def folder(self, name: str) -> OpenFolder:
        """Open a folder in this one; raise `OSError` where it is a link or no folder."""
        descriptor = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.descriptor)
        return OpenFolder(descriptor, self.path / name)

    def private(self, name: str) -> OpenFolder:
        """Open a folder of this service in this one, and make it where it is missing."""
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=self.descriptor)
            self.sync()
        try:
            folder = self.folder(name)
        except OSError:
            raise _not_private(self.path / name, "is no folder") from None
        try:
            folder.must_be_private()
        except BaseException:
            folder.close()
            raise
        return folder

    def must_be_private(self) -> None:
        """Raise `ConfigurationError` where anybody but this user and root may write here."""
        folder_stat = os.fstat(self.descriptor)
        if folder_stat.st_uid not in {0, os.geteuid()}:
            raise _not_private(self.path, "belongs to another user")
        if folder_stat.st_mode & _OTHERS_WRITE:
            raise _not_private(self.path, "may be written to by other users")

    @property
    def owner(self) -> int:
        """Return the number of the user that it belongs to."""
        return os.fstat(self.descriptor).st_uid

    def entries(self) -> list[os.DirEntry[str]]:
        """Return what is in it, by name; `stat(follow_symlinks=False)` of an entry is a look."""
        with os.scandir(self.descriptor) as entries:
            return sorted(entries, key=lambda entry: os.fsencode(entry.name))

    def look(self, name: str) -> os.stat_result | None:
        """Return what a name is, itself and not what it may point to; None where there is none."""
        try:
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @contextmanager
    def plain_file(self, name: str) -> Iterator[int]:
        """Open a plain file for reading; raise `NotPlain`, or what the system says."""
        before = self.look(name)
        if before is None:
            raise FileNotFoundError(errno.ENOENT, "There is no such file", name)
        if not stat.S_ISREG(before.st_mode):
            raise NotPlain(errno.EINVAL, "It is no plain file", name)
        descriptor = os.open(name, _FILE, dir_fd=self.descriptor)
        try:
            after = os.fstat(descriptor)
            if not (stat.S_ISREG(after.st_mode) and os.path.samestat(before, after)):
                raise NotPlain(errno.EINVAL, "It is another file", name)
            yield descriptor
        finally:
            os.close(descriptor)

    def move(self, name: str, to: OpenFolder, as_name: str) -> None:
        """Move what has a name into a folder of the same disk, where the new name must be free."""
        os.rename(name, as_name, src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)

    def sync(self) -> None:
        """Bring the names in it to the disk."""
        sync_opened(self.descriptor)

    def close(self) -> None:
        """Close it."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


def numbered(name: str) -> Iterator[str]:
    """Yield a name, then the same with 2, 3, … before its suffixes."""
    stem, dot, suffixes = name.partition(".")
    yield name
    yield from (f"{stem}-{number}{dot}{suffixes}" for number in count(2))


def stamp_of(file_stat: os.stat_result) -> str:
    """Return what tells a file from another one, and from itself when it was written to."""
    return f"{file_stat.st_size}:{file_stat.st_mtime_ns}:{file_stat.st_ino}"


def is_plain(file_stat: os.stat_result, owner: int) -> bool:
    """Whether it is a plain file that is nobody else's, in a folder of this owner.

    That is one without another name, or one of the owner's own; a second name of it is then no
    matter, and somebody else may have given it one. What this user and root own may be anything.
    """
    is_own = file_stat.st_uid == owner and owner not in {0, os.geteuid()}
    return stat.S_ISREG(file_stat.st_mode) and (file_stat.st_nlink == 1 or is_own)


def what_is(file_stat: os.stat_result) -> str:
    """Say in words what it is."""
    kinds = {
        stat.S_IFLNK: "a link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    linked = "a file that has other names too (hard links)"
    return kinds.get(stat.S_IFMT(file_stat.st_mode), linked if file_stat.st_nlink > 1 else "a file")


def _not_private(path: Path, what: str) -> ConfigurationError:
    return ConfigurationError.from_table(
        "kernel/disk", "processed_not_private", path=path, what=what
    )


# Disks: how much room there is, whether they may be written to, and whether they are far away.


_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2", "lustre"}
    | {"ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_MOUNTS = Path("/proc/self/mountinfo")

_SPARE_BYTES = 1 << 20


def free_bytes(folder: Path) -> int:
    """Return how many bytes this user may still write on the disk of a folder."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def network_kind(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """Return the kind of the file system of a folder if it is a network's, else None.

    `mounts` is the kernel's list of mounts (proc(5), mountinfo).
    """
    kind = _kind(folder.resolve(), mounts)
    return kind if kind in _NETWORK else None


def _kind(folder: Path, mounts: Path) -> str | None:
    """Return the kind of the innermost mount that a folder is in; None where nobody says."""
    try:
        lines = mounts.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    best, kind = -1, None
    for line in lines:
        about, _, source = line.partition(" - ")
        mount = Path(about.split(" ")[4].replace("\\040", " "))
        depth = len(mount.parts)
        if depth >= best and (mount == folder or mount in folder.parents):
            best, kind = depth, source.split(" ")[0]
    return kind


def check_room(folder: Path, needed: int, what: str) -> None:
    """Raise `NoSpace`, with the bytes, where something does not fit on the disk of a folder."""
    free = free_bytes(folder)
    if free < needed + _SPARE_BYTES:
        raise NoSpace(
            f"{what} needs {needed + _SPARE_BYTES:,} bytes in {folder}, and {free:,} are free.",
            hint="Free some space there and run it again: nothing was begun.",
            needed_bytes=needed + _SPARE_BYTES,
            free_bytes=free,
        )


_PIECE = 1 << 20
_OWNER_ONLY = 0o600


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_with_digest(source: Path, target: Path) -> str:
    """Copy a file, onto the disk and for its owner only; return the SHA-256 of what was copied."""
    digest = hashlib.sha256()
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _OWNER_ONLY)
    with source.open("rb") as file, os.fdopen(descriptor, "wb") as out:
        while piece := file.read(_PIECE):
            digest.update(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()
