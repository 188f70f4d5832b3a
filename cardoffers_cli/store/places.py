"""Where a history is: in a folder of this machine, or below a URL such as s3://bucket/prefix.

Both are a `Place`, whose text is how DuckDB names it; what is at a URL is in `buckets.py`. To let a
history be at URLs of another scheme, add the scheme there.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from cardoffers_cli.domain.errors import NoSpace, UsageError
from cardoffers_cli.store.buckets import Bucket, checked_url
from cardoffers_cli.store.journal_file import sync_folder

if TYPE_CHECKING:
    import duckdb

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WILD = re.compile(r"[*?\[\]{}]")
_DIGESTS = "_digests"
"""Where the digests of the files of a folder are: a name that every engine leaves alone."""


class Place(Protocol):
    """A folder, wherever it is. Two of the same text are equal."""

    def __str__(self) -> str: ...

    def __truediv__(self, name: str) -> Place:
        """Return the folder of that name in it."""

    def ready(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection that was just opened read and write below."""

    def names(self) -> list[str]:
        """Return what is in it, by name; nothing where it is not there."""

    def files(self) -> dict[str, list[str]]:
        """Return the Parquet files in it and in its folders, by the folder that they are in."""

    def make(self) -> None:
        """Let files be written into it."""

    def settle(self) -> None:
        """Put what was written into it on the disk: it must outlive a loss of power.

        What it holds is then never changed, and noted so that `damaged` can tell.
        """

    def damaged(self) -> list[str]:
        """Return its files that are not what they were when it was settled, as far as is known."""

    def remove(self) -> None:
        """Remove it, with everything below, as far as that can be; never raises."""


@dataclass(frozen=True)
class Folder:
    """A folder of this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.path / name)

    def ready(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Every connection reads and writes here."""

    def names(self) -> list[str]:
        """Return what is in it, by name."""
        return sorted(each.name for each in self.path.glob("*"))

    def files(self) -> dict[str, list[str]]:
        """Return the Parquet files in it and in its folders, by their folder."""
        found: dict[str, list[str]] = {}
        for pattern in ("*.parquet", "*/*.parquet"):  # which follow links, as ** does not
            for file in sorted(self.path.glob(pattern)):
                found.setdefault(str(file.parent), []).append(str(file))
        return found

    def make(self) -> None:
        """Make it, with those that it is in, whose names are then on the disk."""
        missing = [each for each in (self.path, *self.path.parents) if not each.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        for each in missing:
            sync_folder(each.parent)

    def settle(self) -> None:
        """Sync its files and their digests, itself, and the two that it is in."""
        digests = {}
        for file in sorted(self.path.iterdir()):
            if file.name == _DIGESTS:
                continue
            with file.open("rb") as written:
                digests[file.name] = file_digest(written, "sha256").hexdigest()
                os.fsync(written.fileno())
        self._note(digests)
        for each in (self.path, *self.path.parents[:2]):
            sync_folder(each)

    def _note(self, digests: dict[str, str]) -> None:
        try:
            with (self.path / _DIGESTS).open("w", encoding="utf-8") as out:
                json.dump(digests, out)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                raise
            raise NoSpace(
                f"The disk that holds {self.path} is full.",
                hint="Free some space there and run it again: the history is as it was.",
            ) from None

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
        """Remove it with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def _digest(file: Path) -> str | None:
    """Return the SHA-256 of a file, in hex, or None where it is gone."""
    try:
        with file.open("rb") as content:
            return file_digest(content, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def place_of(text: str) -> Place:
    """Return the place that a path or a URL names; raise `UsageError` where no history can be."""
    if _WILD.search(text):
        raise UsageError(
            "The name of the place has a character that stands for others.",
            code="root_not_a_folder",
            hint="Choose one without * ? [ ] { and }.",
        )
    if not _URL.match(text):
        return Folder(Path(text).absolute())
    url = urlsplit(text)
    if url.scheme == "file" and not url.netloc:
        return Folder(Path(unquote(url.path)))
    return Bucket(checked_url(url))
