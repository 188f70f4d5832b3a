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
    folder.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if mount is None or unmount is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk takes root")
    options = f"size={size},nr_inodes={files}"
    words = [mount, "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run([unmount, "--lazy", str(folder)], check=True)


def fill(file: Path) -> None:
    """Take all the room there is on the disk of a file."""
    block = bytes(1 << 20)
    with file.open("wb", buffering=0) as out:
        for size in (len(block), 4096, 1):
            try:
                while out.write(block[:size]) == size:
                    pass
            except OSError:
                continue
