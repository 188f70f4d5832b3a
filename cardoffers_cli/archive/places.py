"""Where an archive is: in a folder of this machine; `buckets.py` has what is below a URL.

A `Place` is either, with the same methods; its text is how DuckDB names it, and two of the same
text are equal.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from typing import TYPE_CHECKING

from cardoffers_cli.kernel.disk.lasting import make_folder, sync_folder_if_possible
from cardoffers_cli.kernel.words.errors import NoSpace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

_DIGESTS = "_digests"
"""Where the digests of the files of a folder are: a name that every engine leaves alone."""


@dataclass(frozen=True)
class Folder:
    """A folder of this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.path / name)

    def ready(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection that was just opened read and write below."""

    def names(self) -> list[str]:
        """Return what is in it, by name; nothing where it is not there."""
        return sorted(each.name for each in self.path.glob("*"))

    def files(self) -> dict[str, list[str]]:
        """Return the Parquet files in it and in its folders, by the folder that they are in."""
        found: dict[str, list[str]] = {}
        for pattern in ("*.parquet", "*/*.parquet"):  # which follow links, as ** does not
            for file in sorted(self.path.glob(pattern)):
                found.setdefault(str(file.parent), []).append(str(file))
        return found

    def make(self) -> None:
        """Make it, with those that it is in, whose names are then on the disk."""
        make_folder(self.path)

    def settle(self) -> None:
        """Sync its files, itself and the two that it is in: they must outlive a loss of power.

        What it holds is then never changed, and noted so that `damaged` can tell.
        """
        digests = {}
        for file in sorted(self.path.iterdir()):
            if file.name != _DIGESTS:
                with file.open("rb") as written:
                    digests[file.name] = file_digest(written, "sha256").hexdigest()
                    os.fsync(written.fileno())
        with no_space_said(str(self)), (self.path / _DIGESTS).open("w", encoding="utf-8") as out:
            json.dump(digests, out)
            out.flush()
            os.fsync(out.fileno())
        for each in (self.path, *self.path.parents[:2]):
            sync_folder_if_possible(each)

    def damaged(self) -> list[str]:
        """Return its files whose digest is another; one that was settled without them has none."""
        try:
            digests = json.loads((self.path / _DIGESTS).read_bytes())
            return [name for name in digests if _digest(self.path / name) != digests[name]]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError):
            return [_DIGESTS]

    def remove(self) -> None:
        """Remove it with everything in it, as far as that can be; never raises."""
        shutil.rmtree(self.path, ignore_errors=True)


def _digest(file: Path) -> str | None:
    """Return the SHA-256 of a file, in hex, or None where it is gone."""
    try:
        with file.open("rb") as content:
            return file_digest(content, "sha256").hexdigest()
    except FileNotFoundError:
        return None


@contextmanager
def no_space_said(folder: str) -> Iterator[None]:
    """Say which disk is full, where one is."""
    try:
        yield
    except (NoSpace, OSError) as error:
        if isinstance(error, OSError) and error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise NoSpace(
            f"The disk that holds {folder} is full.",
            hint="Free some space there and run it again: the history is as it was.",
        ) from None
