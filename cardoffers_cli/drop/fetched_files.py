"""What was fetched and is not in the drop folder yet: a hidden folder in it, for its owner only.

A file is written there under a name of its own, is on the disk, and is `kept` when it is whole and
was found to be right. Then it is recorded, and then it goes into the folder of its institution by
one rename, its marker or manifest before it. A process that is killed leaves a draft, which is
thrown away, or a kept file, which is recorded and goes on, or is not and is fetched again.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from cardoffers_cli.drop.drop import MANIFEST, MARKER
from cardoffers_cli.drop.processed import free_name
from cardoffers_cli.kernel.disk.folders import OpenFolder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from cardoffers_cli.drop.manifests import Manifest

POOL = ".pickup"
_DRAFT, _FILE, _MANIFEST = ".part", ".file", ".manifest"
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class PickupPool:
    """The pool of a drop folder, held open. Files in it are known by an id."""

    def __init__(self, root: OpenFolder, own: OpenFolder) -> None:
        self._root = root
        self._own = own

    @classmethod
    @contextmanager
    def open(cls, drop: Path, *, make: bool = True) -> Iterator[PickupPool]:
        """Open the pool, and `make` it where it is missing; raises `OSError`.

        One that is missing and not to be made is the drop folder itself, to look at only.
        """
        with OpenFolder.open(drop) as root:
            if not make and root.look(POOL) is None:
                yield cls(root, root)
                return
            with root.private(POOL) as own:
                yield cls(root, own)

    def clear(self, start: str, ids: Collection[str]) -> None:
        """Remove what a killed process left of ids that begin so, but for files of these ids."""
        for entry in self._own.entries():
            name, _, end = entry.name.rpartition(".")
            is_kept = name in ids and f".{end}" in {_FILE, _MANIFEST}
            if name.startswith(start) and not is_kept:
                os.unlink(entry.name, dir_fd=self._own.descriptor)

    @contextmanager
    def draft(self, file_id: str, what: str = "raw") -> Iterator[BinaryIO]:
        """Open a new file to write to and to read; it is gone at the end unless it was kept."""
        name = f"{file_id}.{what}{_DRAFT}"
        made = os.open(name, _NEW, 0o600, dir_fd=self._own.descriptor)
        try:
            with os.fdopen(made, "w+b") as out:
                yield out
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=self._own.descriptor)

    def keep(
        self, file_id: str, draft: BinaryIO, manifest: Manifest | None, what: str = "raw"
    ) -> None:
        """Let a draft be the file of its id, with what its manifest says of it."""
        if manifest is not None:
            self._write_manifest(file_id, manifest)
        draft.flush()
        os.fsync(draft.fileno())
        self._own.move(f"{file_id}.{what}{_DRAFT}", self._own, file_id + _FILE)
        self._own.sync()

    def has(self, file_id: str) -> bool:
        """Return whether the file of an id is kept here."""
        return self._own.look(file_id + _FILE) is not None

    def lies(self, institution: str, name: str) -> bool:
        """Return whether the folder of an institution has a file of that name."""
        try:
            with self._root.folder(institution) as folder:
                return folder.look(name) is not None
        except FileNotFoundError:
            return False

    def free_name(self, institution: str, name: str) -> str:
        """Return the name, or one like it, that nothing in the folder of an institution has."""
        with self._folder(institution) as folder:
            return free_name(name.lstrip("."), {entry.name for entry in folder.entries()})

    def place(self, file_id: str, institution: str, name: str) -> None:
        """Move a kept file into the folder of its institution under a name that is free.

        Its manifest goes before it, or a marker: done again it goes on.
        """
        with self._folder(institution) as folder:
            if self._own.look(file_id + _MANIFEST) is not None:
                self._own.move(file_id + _MANIFEST, folder, name + MANIFEST)
            elif folder.look(name + MANIFEST) is None:
                with suppress(FileExistsError):
                    os.close(os.open(name + MARKER, _NEW, 0o600, dir_fd=folder.descriptor))
            self._own.move(file_id + _FILE, folder, name)
            folder.sync()
            self._own.sync()

    def _folder(self, institution: str) -> OpenFolder:
        """Open the folder of an institution, and make it where it is missing."""
        with suppress(FileExistsError):
            os.mkdir(institution, 0o700, dir_fd=self._root.descriptor)
            self._root.sync()
        return self._root.folder(institution)

    def _write_manifest(self, file_id: str, manifest: Manifest) -> None:
        amount = manifest.amount_sum
        said = {
            "sha256": manifest.sha256,
            "rows": manifest.rows,
            "amount_sum": None if amount is None else str(amount),
        }
        text = json.dumps({name: value for name, value in said.items() if value is not None})
        with self.draft(file_id, "manifest") as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
            draft = f"{file_id}.manifest{_DRAFT}"
            self._own.move(draft, self._own, file_id + _MANIFEST)
