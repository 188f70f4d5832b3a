"""Files for secrets, which are for their owner only.

A new one is gone again if what it belongs to fails; one that others may read is not read.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cardoffers_cli.intake.sources import open_input
from cardoffers_cli.kernel.disk.lasting import sync_folder_if_possible
from cardoffers_cli.kernel.words.errors import NotFound, Refused, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OWNER_ONLY = 0o600
_OTHERS = 0o077
_LONGEST = 4096  # bytes; no secret is as long


@contextmanager
def new_private_file(path: Path, text: str) -> Iterator[None]:
    """Write a new file, on the disk before the block begins; remove it if the block fails.

    Raises `Refused` where something is already, a link too.
    """
    descriptor = _created(path)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        sync_folder_if_possible(path.parent)
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _created(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    except FileExistsError:
        raise Refused(
            f"There is a file already at {path}.",
            code="file_exists",
            hint="Name a new file: a secret is never written over something else.",
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(
            f"There is no folder {path.parent}.", code="folder_missing", hint="Make it first."
        ) from None
    except PermissionError:
        raise Refused(
            f"Writing in {path.parent} is not permitted.",
            code="permission",
            hint="Name a file in a folder of your own.",
        ) from None


def read_private_file(path: Path) -> str:
    """Return the text of a file that only its owner may read.

    Raises `NotFound` where there is none, and `Refused` where others may read it too.
    """
    try:
        with open_input(path) as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & _OTHERS:
                raise Refused(
                    f"Others may read {path}.", code="file_open", hint=f"Run `chmod 600 {path}`."
                )
            return file.read(_LONGEST).decode("utf-8", "replace")
    except (FileNotFoundError, IsADirectoryError):
        raise NotFound(
            f"There is no file {path}.", code="file_missing", hint="Check its name."
        ) from None
