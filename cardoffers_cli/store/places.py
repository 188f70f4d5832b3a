"""Where a history is: in a folder of this machine, or below a URL such as s3://bucket/prefix.

Both are a `Place`, whose text is how DuckDB names it; what is at a URL is in `buckets.py`. To let a
history be at URLs of another scheme, add the scheme there.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from cardoffers_cli.domain.errors import UsageError
from cardoffers_cli.store.buckets import Bucket, checked_url
from cardoffers_cli.store.journal_file import sync_folder

if TYPE_CHECKING:
    import duckdb

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WILD = re.compile(r"[*?\[\]{}]")


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
        """Put what was written into it on the disk: it must outlive a loss of power."""

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
        """Make it, with those that it is in."""
        self.path.mkdir(parents=True, exist_ok=True)

    def settle(self) -> None:
        """Sync its files, itself, and the two that it is in."""
        for file in self.path.iterdir():
            with file.open("rb") as written:
                os.fsync(written.fileno())
        for each in (self.path, *self.path.parents[:2]):
            sync_folder(each)

    def remove(self) -> None:
        """Remove it with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)


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
