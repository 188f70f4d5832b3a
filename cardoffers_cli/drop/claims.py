"""Claim a file out of the folder of an institution, so that nobody else can exchange it any more.

A claim is one rename into a folder of this service, and then a look at what was moved: if that is
not what was found before, it goes back. Who has the file open can still write to it; so it is read
from a copy (`drop/fetched_files.py`), and whatever is written later shows against that
(`file_changes.py`).

On another disk a file cannot be renamed. There it gets a hidden name in its folder, is copied, and
is removed when the night is done with it; if it changed meanwhile it gets its name back, and is
taken again.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cardoffers_cli.drop.drop import MANIFEST, MARKER, marker_names
from cardoffers_cli.drop.fetched_files import FileChangedError, blocks, changed, refused
from cardoffers_cli.drop.manifests import MANIFEST_BYTES
from cardoffers_cli.kernel.disk.folders import NotPlain, OpenFolder, is_plain, numbered, stamp_of
from cardoffers_cli.kernel.words.errors import CardoffersError, FileUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cardoffers_cli.intake.sources import Limits


@dataclass(frozen=True, kw_only=True)
class FileClaim:
    """A file that is to be taken: where it lies, what it was, and its name in `taken/`."""

    drop: Path
    institution: str
    name: str
    stamp: str
    as_name: str

    @property
    def hidden(self) -> str:
        """The name in its own folder of a file that is on another disk, while it is taken."""
        return f".{self.as_name}.taken"

    @contextmanager
    def origin(self) -> Iterator[OpenFolder]:
        """Open the folder that it lies in; raise `FileChangedError` where there is none."""
        try:
            with OpenFolder.open(self.drop) as root:
                folder = root.folder(self.institution)
        except OSError:
            raise FileChangedError(code="gone") from None
        with folder:
            yield folder

    def take(self, taken_folder: OpenFolder, limits: Limits) -> None:
        """Move the markers of the file, then itself, into `taken/`; done again it goes on.

        Raises `FileChangedError`, and `FileUnusable` where it cannot be moved.
        """
        if taken_folder.look(self.as_name) is not None:
            return
        with self.origin() as origin:
            try:
                self._take(origin, taken_folder, limits)
                taken_folder.sync()
                origin.sync()
            except (FileChangedError, FileUnusable):
                self._return(origin, taken_folder)
                raise
            except OSError as error:
                raise _unmovable(error) from None

    def _take(self, origin: OpenFolder, taken_folder: OpenFolder, limits: Limits) -> None:
        if origin.look(self.hidden) is not None:
            self._fetch(origin, taken_folder)
            return
        file_stat = origin.look(self.name)
        if file_stat is None:
            raise FileChangedError(code="gone")
        if not self._is_it(file_stat, origin):
            raise changed()
        for name in marker_names(self.name):
            _take_marker(origin, name, taken_folder, self.as_name)
        try:
            origin.move(self.name, taken_folder, self.as_name)
        except FileNotFoundError:
            raise FileChangedError(code="gone") from None
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise _unmovable(error) from None
            limits.check_stored(file_stat.st_size)
            self._hide(origin)
            self._fetch(origin, taken_folder)
            return
        after = taken_folder.look(self.as_name)
        if after is None or not self._is_it(after, origin):
            _put_back(taken_folder, self.as_name, origin, self.name)
            raise changed()

    def _is_it(self, file_stat: os.stat_result, origin: OpenFolder) -> bool:
        return is_plain(file_stat, origin.owner) and stamp_of(file_stat) == self.stamp

    def _hide(self, origin: OpenFolder) -> None:
        try:
            origin.move(self.name, origin, self.hidden)
        except FileNotFoundError:
            raise FileChangedError(code="gone") from None
        except OSError as error:
            raise _unmovable(error) from None

    def _fetch(self, origin: OpenFolder, taken_folder: OpenFolder) -> None:
        """Copy a file that has its hidden name from its disk into `taken/`."""
        try:
            with origin.plain_file(self.hidden) as opened:
                draft = _draft(opened, taken_folder, self.as_name)
                is_same = self._is_it(os.fstat(opened), origin)
        except (NotPlain, FileNotFoundError, BlockingIOError):
            is_same = False
        except FileUnusable:
            _put_back(origin, self.hidden, origin, self.name)
            raise
        if is_same:
            taken_folder.move(draft, taken_folder, self.as_name)
            return
        _put_back(origin, self.hidden, origin, self.name)
        raise changed()

    def stamp_in(self, taken_folder: OpenFolder) -> str:
        """Return the stamp that it has in `taken/` if nobody has written to it since it was found.

        A copy from another disk is another file, of the same size and time.
        """
        file_stat = taken_folder.look(self.as_name)
        return f"{self.stamp.rpartition(':')[0]}:{file_stat.st_ino if file_stat else 0}"

    def release(self) -> None:
        """Remove what was copied from another disk, unless it has changed meanwhile.

        Then it gets its name back, and the next look finds it.
        """
        with suppress(FileChangedError, FileUnusable, OSError), self.origin() as origin:
            file_stat = origin.look(self.hidden)
            if file_stat is None:
                return
            if self._is_it(file_stat, origin):
                os.unlink(self.hidden, dir_fd=origin.descriptor)
            else:
                _put_back(origin, self.hidden, origin, self.name)

    def give_back(self, taken_folder: OpenFolder) -> None:
        """Put a file that cannot be taken after all, and its markers, back where they lay."""
        with self.origin() as origin:
            try:
                is_copied = origin.look(self.hidden) is not None
            except OSError as error:
                raise _unmovable(error) from None
            if is_copied:
                os.unlink(self.as_name, dir_fd=taken_folder.descriptor)
                _put_back(origin, self.hidden, origin, self.name)
            self._return(origin, taken_folder)

    def _return(self, origin: OpenFolder, taken_folder: OpenFolder) -> None:
        """Put what is in `taken/` of it back; raises `FileUnusable`."""
        for end in _ends(taken_folder, self.as_name):
            _put_back(taken_folder, self.as_name + end, origin, self.name + end)


def put_away(taken_folder: OpenFolder, as_name: str, to: OpenFolder, name: str) -> None:
    """Move the markers of a file from `taken/`, then itself, to where it has a free name."""
    for end in _ends(taken_folder, as_name):
        taken_folder.move(as_name + end, to, name + end)
    to.sync()
    taken_folder.sync()


def _ends(taken_folder: OpenFolder, as_name: str) -> list[str]:
    """Return what the names of a file and its markers in `taken/` end in, the file's own last."""
    names = [entry.name for entry in taken_folder.entries()]
    ends = [name.removeprefix(as_name) for name in names if name.startswith(f"{as_name}.")]
    return [*ends, ""] if as_name in names else ends


def _take_marker(origin: OpenFolder, name: str, taken_folder: OpenFolder, as_name: str) -> None:
    """Move a marker beside its file; one that is none stays, and so does one that cannot go."""
    end = MANIFEST if name.endswith(MANIFEST) else MARKER
    file_stat = origin.look(name)
    if file_stat is None or not is_plain(file_stat, origin.owner):
        return
    if taken_folder.look(as_name + end) is not None:  # the file has two of a kind
        end = f".2{end}"
    try:
        origin.move(name, taken_folder, as_name + end)
    except OSError as error:
        if error.errno == errno.EXDEV:
            _fetch_marker(origin, name, taken_folder, as_name + end)
        return
    after = taken_folder.look(as_name + end)
    if after is None or not is_plain(after, origin.owner):
        _put_back(taken_folder, as_name + end, origin, name)


def _fetch_marker(origin: OpenFolder, name: str, taken_folder: OpenFolder, as_name: str) -> None:
    with origin.plain_file(name) as opened:
        draft = _draft(opened, taken_folder, as_name, most=MANIFEST_BYTES)
    taken_folder.move(draft, taken_folder, as_name)
    os.unlink(name, dir_fd=origin.descriptor)


def _draft(opened: int, taken_folder: OpenFolder, as_name: str, most: int | None = None) -> str:
    """Copy an opened file into `taken/`, with its time, under a name that a crash may leave."""
    draft, file_stat = f".{as_name}.{os.getpid()}.part", os.fstat(opened)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o600, dir_fd=taken_folder.descriptor)
    with os.fdopen(descriptor, "wb") as out:
        out.writelines(blocks(opened, most or file_stat.st_size))
        out.flush()
        os.fsync(out.fileno())
        os.utime(out.fileno(), ns=(file_stat.st_atime_ns, file_stat.st_mtime_ns))
    return draft


def _put_back(source: OpenFolder, name: str, to: OpenFolder, as_name: str) -> None:
    """Give something back under its name, or a number in it where that is in use by now."""
    try:
        candidate = next(variant for variant in numbered(as_name) if to.look(variant) is None)
        try:
            source.move(name, to, candidate)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # The marker was copied from another disk, and is small.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with source.plain_file(name) as opened:
                descriptor = os.open(candidate, flags, 0o644, dir_fd=to.descriptor)
                with os.fdopen(descriptor, "wb") as out:
                    out.writelines(blocks(opened, MANIFEST_BYTES))
            os.unlink(name, dir_fd=source.descriptor)
    except OSError as error:
        raise refused(error, "file_exchanged", "put back, and was exchanged meanwhile") from None


def _unmovable(error: OSError) -> CardoffersError:
    return refused(error, "file_unmovable", "moved out of its folder")
