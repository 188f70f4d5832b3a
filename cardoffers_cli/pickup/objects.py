"""A folder or a bucket that fsspec and its packages reach.

Endpoint and credentials they find by themselves, in the environment and in their own files of
configuration. Their calls know no deadline, so each is made by a thread that is left behind when
the time is over. What they raise is told by its kind: their own texts are not passed on.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from cardoffers_cli.archive.buckets import PACKAGES
from cardoffers_cli.kernel.words.errors import CardoffersError, NetworkFailure, UsageError
from cardoffers_cli.pickup.remote import Listing, RemoteFile, RemoteRefusal, Slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cardoffers_cli.kernel.words.pickups import PickupPlace
    from cardoffers_cli.pickup.remote import Deadline

Answer = TypeVar("Answer")

_BLOCK = 1 << 20
_FILE = "file"
_QUOTE = '"'
_MOMENTS = ("mtime", "LastModified", "updated", "last_modified")
_MARKS = ("ETag", "etag", "ino", "generation")
"""What the packages call the time of a file, and what else tells it from a later one."""


@contextmanager
def object_folder(place: PickupPlace, deadline: Deadline) -> Iterator[ObjectFolder]:
    """Open the folder at a URL for the length of a `with` block; raises `UsageError`."""
    files, path = within(deadline, partial(_reached, place.url))
    yield ObjectFolder(files, path.rstrip("/"), deadline)


def _reached(url: str) -> tuple[Any, str]:
    """Return what reaches a URL, and how that names it."""
    scheme = urlsplit(url).scheme
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - heavy, and an extra

        files, path = url_to_fs(url, use_listings_cache=False)
    except ImportError:
        raise UsageError(
            f"Fetching from {scheme}: needs a package that is not installed.",
            code="extra_missing",
            hint=f"pip install {PACKAGES.get(scheme, 'fsspec')}",
        ) from None
    return files, str(path)


def within(deadline: Deadline, call: Callable[[], Answer]) -> Answer:
    """Return what a call returns, or raise what it raises as ours; `Slow` when the time is over."""
    answers = SimpleQueue[tuple[Any, Exception | None]]()

    def work() -> None:
        try:
            answers.put((call(), None))
        except Exception as error:  # noqa: BLE001  raised where it is waited for
            answers.put((None, error))

    Thread(target=work, daemon=True).start()
    try:
        answer, error = answers.get(timeout=deadline.left())
    except Empty:
        deadline.left()
        raise Slow from None
    if error is None:
        return answer  # type: ignore[no-any-return]
    if isinstance(error, CardoffersError):
        raise error
    raise _ours(error) from None


def _ours(error: Exception) -> NetworkFailure:
    if isinstance(error, FileNotFoundError | PermissionError):
        what = "is not there" if isinstance(error, FileNotFoundError) else "is not permitted"
        return RemoteRefusal(
            f"It {what}, with the credentials that were found.",
            hint="Look at the folder there, and at the rights of the user.",
        )
    return NetworkFailure(
        f"It cannot be reached ({type(error).__name__}).",
        code="pickup_unreachable",
        hint="Look at the network, the endpoint and the credentials, then run it again.",
    )


class ObjectFolder:
    """The folder of a place that fsspec reaches."""

    def __init__(self, files: Any, path: str, deadline: Deadline) -> None:
        self._files = files
        self._path = path
        self._deadline = deadline

    def list(self) -> Listing:
        """Return what is there now; folders are left out."""
        listing = Listing()
        for entry in self._within(self._listed):
            name = str(entry["name"]).removeprefix(f"{self._path}/")
            if entry["type"] != "directory" and name.rstrip("/"):
                listing.add(name, _file(name, entry), "no plain file")
        return listing

    def look(self, name: str) -> RemoteFile | None:
        """Return a file as it is now; None where it is gone, or is no plain file."""
        path = f"{self._path}/{name}"
        self._files.invalidate_cache(self._path)
        if not self._is_there(path):
            return None
        return _file(name, self._within(lambda: self._files.info(path)))

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        """Yield the bytes of a file, and one more than it was listed with if there is."""
        size, path = file.size_bytes + 1, f"{self._path}/{file.name}"
        opened = self._within(lambda: self._files.open(path, "rb", cache_type="none"))
        try:
            while size and (block := self._within(partial(opened.read, min(size, _BLOCK)))):
                size -= len(block)
                yield block
        finally:
            self._within(opened.close)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._within(lambda: self._files.rm_file(f"{self._path}/{name}"))

    def move(self, name: str, folder: str, names: Iterable[str]) -> None:
        """Move a file into a folder, which is made where it is missing."""
        target = f"{self._path}/{folder.strip('/')}"
        self._within(lambda: self._files.makedirs(target, exist_ok=True))
        self._files.invalidate_cache()
        paths = (f"{target}/{candidate}" for candidate in names)
        free = next(candidate for candidate in paths if not self._is_there(candidate))
        self._within(lambda: self._files.mv(f"{self._path}/{name}", free))

    def _listed(self) -> Any:
        self._files.invalidate_cache()
        return self._files.ls(self._path or "/", detail=True)

    def _is_there(self, path: str) -> bool:
        return bool(self._within(lambda: self._files.lexists(path)))

    def _within(self, call: Callable[[], Answer]) -> Answer:
        return within(self._deadline, call)


def _file(name: str, entry: Any) -> RemoteFile | None:
    size = entry.get("size")
    if entry["type"] != _FILE or entry.get("islink") or not isinstance(size, int):
        return None
    moment = next((entry[key] for key in _MOMENTS if entry.get(key) is not None), None)
    modified = moment.timestamp() if isinstance(moment, datetime) else moment
    seconds = int(modified) if isinstance(modified, int | float) else None  # a list has no more
    mark = next((entry[key] for key in _MARKS if entry.get(key) is not None), "")
    return RemoteFile(
        name=name,
        size_bytes=size,
        stamp=f"{size}:{seconds}:{str(mark).strip(_QUOTE)}",
        modified_s=seconds,
    )
