"""Small disks that tests can fill."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def small_disk(folder: Path, size: str, *, files: int = 0) -> Iterator[Path]:
    """Mount a disk of a size (such as 6m), with room for so many files (0: for any number).

    A test is skipped where mounting is not permitted.
    """
    with disk_if_any(folder, size, files=files) as is_disk:
        if not is_disk:
            pytest.skip("mounting a small disk takes root")
        yield folder


@contextmanager
def disk_if_any(folder: Path, size: str, *, files: int = 0) -> Iterator[bool]:
    """Make a folder, a disk of a size where mounting is permitted; yield whether it is one."""
    folder.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if mount is None or unmount is None or os.geteuid() != 0:
        yield False
        return
    options = f"size={size},nr_inodes={files}"
    words = [mount, "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run([unmount, "--lazy", str(folder)], check=True)


def fill(file: Path, *, leave: int = 0) -> None:
    """Take the room there is on the disk of a file, but for some bytes."""
    if leave:
        disk = os.statvfs(file.parent)
        with file.open("wb") as out:
            os.posix_fallocate(out.fileno(), 0, max(1, disk.f_bavail * disk.f_frsize - leave))
        return
    block = bytes(1 << 20)
    with file.open("wb", buffering=0) as out:
        for size in (len(block), 4096, 1):
            try:
                while out.write(block[:size]) == size:
                    pass
            except OSError:
                continue
