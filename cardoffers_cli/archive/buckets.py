"""An archive below a URL: in a bucket of an object store, which fsspec and its packages reach.

Endpoint and credentials they find by themselves, in the environment and in their own files of
configuration; a URL holds none. An object that was written is there for all, and durable. The
packages are loaded where an archive is at a URL, and nowhere else. To let one be at URLs of another
scheme, add it to `PACKAGES`.

Listings are cached, as every look at a file would be a request otherwise, and an opening of DuckDB
takes several. What was listed is forgotten whenever a store is opened, and listed again: parts do
not change, and while a store is open only it adds to those that it lists.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from cardoffers_cli.archive.connecting import Folder
from cardoffers_cli.kernel.words.errors import (
    CardoffersError,
    NetworkFailure,
    UsageError,
    history_failure,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

PACKAGES = {**dict.fromkeys(("s3", "s3a"), "'cardoffers-cli[s3]'"), "gs": "gcsfs", "abfs": "adlfs"}
"""The schemes of object stores, and what to install for each."""

_WITH_ACCOUNT = "abfs"
"""The scheme that writes `container@account`, of which neither is a secret."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WILD = re.compile(r"[*?\[\]{}]")
_NO_PLACE = "root_not_a_folder"

_TRIES = 2
"""How often s3fs asks; botocore asks five times for each, and waits 15 s for an answer."""


@dataclass(frozen=True)
class Bucket:
    """What lies below a URL."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> Bucket:
        return Bucket(f"{self.url}/{name}")

    def ready(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection reach it, and forget what was listed before."""
        with _reached(self.url):
            files, _ = _filesystem(self.url)
            files.invalidate_cache()
            protocol = files.protocol
            name = protocol if isinstance(protocol, str) else protocol[0]
            if not connection.filesystem_is_registered(name):
                connection.register_filesystem(files)

    def names(self) -> list[str]:
        """Return what is in it, by name."""
        start = f"{self.url}/"
        return sorted({url.removeprefix(start).partition("/")[0] for url in self._below()})

    def files(self) -> dict[str, list[str]]:
        """Return the Parquet files in it and below, by their folder."""
        files: dict[str, list[str]] = {}
        for url in self._below():
            if url.endswith(".parquet"):
                files.setdefault(url.rpartition("/")[0], []).append(url)
        return files

    def make(self) -> None:
        """Do nothing: an object may be written anywhere."""

    def settle(self) -> None:
        """Do nothing: what was written is durable."""

    def damaged(self) -> list[str]:
        """Return nothing: an object store holds its objects against checksums of its own."""
        return []

    def remove(self) -> None:
        """Remove everything below."""
        with suppress(NetworkFailure), _reached(self.url):
            files, path = _filesystem(self.url)
            files.rm(path, recursive=True)

    def _below(self) -> list[str]:
        """Return every object below, by its URL, as the server lists them now."""
        with _reached(self.url):
            files, path = _filesystem(self.url)
            return [self.url + key.removeprefix(path) for key in files.find(path)]


Place = Folder | Bucket


def place_of(text: str) -> Place:
    """Return the place that a path or a URL names; raise `UsageError` where no archive can be.

    A URL that holds more than a place is not repeated: that may be a secret.
    """
    if _WILD.search(text):
        raise UsageError(
            "The name of the place has a character that stands for others.",
            code=_NO_PLACE,
            hint="Choose one without * ? [ ] { and }.",
        )
    if not _URL.match(text):
        return Folder(Path(text).absolute())
    url = urlsplit(text)
    if url.scheme == "file" and not url.netloc:
        return Folder(Path(unquote(url.path)))
    account = url.scheme == _WITH_ACCOUNT and url.password is None
    if url.fragment or ("@" in url.netloc and not account):
        raise UsageError.from_table("archive", "root_holds_more")
    if url.scheme not in PACKAGES or not url.netloc or "::" in url.path:
        raise UsageError(
            f"No history can be at a URL of {url.scheme}:// like this.",
            code=_NO_PLACE,
            hint="Name a folder, or a URL such as s3://bucket/history; known are "
            f"{', '.join(sorted(PACKAGES))}. Mount what is elsewhere.",
        )
    return Bucket(url.geturl().rstrip("/"))


def _filesystem(url: str) -> tuple[Any, str]:
    """Return what reaches a URL, one for the whole process, and how that names it."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - heavy, and an extra

        files, path = url_to_fs(url)
    except ImportError:
        scheme = url.partition(":")[0]
        raise UsageError(
            f"A history at {scheme}:// needs a package that is not installed.",
            code="extra_missing",
            hint=f"pip install {PACKAGES[scheme]}",
        ) from None
    files.retries = _TRIES
    files.default_cache_type = "none"  # DuckDB asks for what it needs; others read 50 MiB ahead
    return files, path


@contextmanager
def _reached(url: str) -> Iterator[None]:
    """Raise what a package of fsspec raises as ours: its own text is not passed on."""
    try:
        yield
    except CardoffersError:
        raise
    except Exception as error:  # each package has kinds of its own
        raise history_failure(type(error).__name__, url) from error
