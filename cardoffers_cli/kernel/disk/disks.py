"""Disks: how much room there is, whether they may be written to, and whether they are far away."""

from __future__ import annotations

import os
from pathlib import Path

from cardoffers_cli.kernel.words.errors import NoSpace

_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2", "lustre"}
    | {"ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_MOUNTS = Path("/proc/self/mountinfo")

_SPARE_BYTES = 1 << 20


def free_bytes(folder: Path) -> int:
    """Return how many bytes this user may still write on the disk of a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def is_read_only(folder: Path) -> bool:
    """Return whether nothing can be made in a folder."""
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        return True
    return not os.access(folder, os.W_OK | os.X_OK)


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
