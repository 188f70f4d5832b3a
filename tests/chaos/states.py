"""What a loss of power may leave of what a command did to its disk.

A disk has for each file the bytes that are surely there, and the writes since the last sync of that
file; for each name likewise. At a cut every one of the latter is there or not, by chance, within
what a file system promises:

    ordered  names come and go in their order (a journal), a sync of any file or folder makes all of
             them last, and a file has grown only as far as what it holds was written; of what was
             written over each page is old or new
    harsh    a name lasts when its folder is synced, a new file's also with the file, and then what
             was done to that name before it lasts too; of the others
             each is there or not by itself; of what was written each sector is there or not, and
             where a file has grown and the sector is not there, it is zero
"""

from __future__ import annotations

import os
import shutil
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

MODELS = ("ordered", "harsh")
_PAGE, _SECTOR = 4096, 512
_HEAD = struct.Struct("<4I4Q")
_KINDS = (
    *("create", "write", "size", "sync", "sync_folder"),
    *("rename", "link", "unlink", "folder", "no_folder"),
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of the disk, as `recorder.c` noted it; `file` is its number, an inode.

    A file without a name is created under an empty one.
    """

    kind: str
    file: int
    first: str
    second: str
    offset: int
    size: int
    data: bytes


def read_log(log: Path) -> Iterator[Change]:
    """Yield the changes of a log, in the order in which they were made."""
    with log.open("rb") as noted:
        while head := noted.read(_HEAD.size):
            what, first, second, _, file, offset, length, size = _HEAD.unpack(head)
            yield Change(
                kind=_KINDS[what - 1],
                file=file,
                first=noted.read(first).decode(),
                second=noted.read(second).decode(),
                data=noted.read(length),
                offset=offset,
                size=size,
            )


@dataclass
class _File:
    """A file: the bytes that are surely on the disk, and what was done to it since."""

    sure: bytearray
    since: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.since:
            _apply(self.sure, change)
        self.since.clear()


def _apply(content: bytearray, change: Change) -> None:
    if change.kind == "size":
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
    else:
        end = change.offset + len(change.data)
        content.extend(bytes(max(0, end - len(content))))
        content[change.offset : end] = change.data


def numbers(folder: Path) -> dict[str, int]:
    """Return the number of every file below a folder, by its name there."""
    return {str(path.relative_to(folder)): path.stat().st_ino for path in folder.rglob("*")}


class Disk:
    """The disk below a folder, before a command; `do` lets it be as it is later.

    `kept` is a copy of the folder as it was then, `known` are the numbers its files had.
    """

    def __init__(self, folder: Path, kept: Path, known: dict[str, int]) -> None:
        self._root = os.path.realpath(folder)
        self._files: dict[int, _File] = {}
        self._sure: dict[str, _File | None] = {}  # by name; None is a folder
        self._since: list[tuple[Change, _File | None]] = []
        for name, number in sorted(known.items()):
            self._sure[name] = None
            if not (kept / name).is_dir():
                made = _File(bytearray((kept / name).read_bytes()))
                self._sure[name] = self._files.setdefault(number, made)

    def _name(self, path: str) -> str:
        """Return the name below the folder of an absolute path."""
        return path.removeprefix(self._root).lstrip("/")

    def do(self, changes: Iterable[Change], model: str) -> None:
        """Do what a command did."""
        for change in changes:
            if change.kind in {"write", "size"}:
                self._files[change.file].since.append(change)
            elif change.kind == "sync":
                self._files[change.file].sync()
                self._name_lasts(model, change)
            elif change.kind == "sync_folder":
                self._name_lasts(model, change)
            else:
                self._rename(change)

    def _rename(self, change: Change) -> None:
        if change.kind == "create":
            self._files[change.file] = _File(bytearray())
        if change.first:
            self._since.append((change, self._files.get(change.file)))

    def _name_lasts(self, model: str, synced: Change) -> None:
        """Let names last that this sync makes last, and what was done to a new name before it."""
        kept = []
        made = [change for change, _ in self._since if _made(change, synced)]
        for each in self._since:
            change, _ = each
            folders = {str(Path(name).parent) for name in _names(change)}
            lasts = (
                model == "ordered"
                or (synced.kind == "sync_folder" and synced.first in folders)
                or any(name == new.first for name in _names(change) for new in made)
            )
            made = [new for new in made if new is not change]
            if lasts:
                self._apply_name(self._sure, *each)
            else:
                kept.append(each)
        self._since = kept

    def _apply_name(
        self, names: dict[str, _File | None], change: Change, file: _File | None
    ) -> None:
        first, second = self._name(change.first), self._name(change.second)
        if change.kind in {"create", "folder"}:
            names[first] = file if change.kind == "create" else None
        elif change.kind in {"unlink", "no_folder"}:
            names.pop(first, None)
        elif file is not None and change.kind == "link":
            names[second] = file
        elif file is not None:
            names.pop(first, None)
            names[second] = file
        else:
            self._rename_folder(names, first, second)

    def _rename_folder(self, names: dict[str, _File | None], first: str, second: str) -> None:
        for name in [each for each in names if each == first or each.startswith(f"{first}/")]:
            names[second + name.removeprefix(first)] = names.pop(name)

    def growth(self, changes: Iterable[Change]) -> int:
        """Return the most bytes by which changes let it grow, at any moment of them."""
        names = {name: file for name, file in self._sure.items() if file}
        sizes = {id(file): len(file.sure) for file in names.values()}
        before = most = sum(sizes.values())
        for change in changes:
            if change.kind in {"write", "size"}:
                file = self._files[change.file]
                end = change.offset + len(change.data)
                is_write = change.kind == "write"
                sizes[id(file)] = max(sizes.get(id(file), 0), end) if is_write else change.size
            elif change.kind not in {"sync", "sync_folder"}:
                self._rename(change)
                for each in self._since:
                    self._apply_name(self._sure, *each)
                self._since.clear()
            there = {id(file) for file in self._sure.values() if file}
            most = max(most, sum(sizes.get(each, 0) for each in there))
        return most - before

    def cut(self, chance: random.Random, model: str, folder: Path) -> None:
        """Write what a loss of power at this moment may leave into a folder, in place of all."""
        names = dict(self._sure)
        if model == "ordered":
            done = self._since[: chance.randint(0, len(self._since))]
        else:
            done = [each for each in self._since if chance.random() < 1 / 2]
        for each in done:
            self._apply_name(names, *each)
        left = {id(file): _left(file, chance, model) for file in names.values() if file}
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        for name, file in names.items():
            path = folder / name
            if file is None:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(left[id(file)])
                path.chmod(0o600)

    def unsure(self) -> set[str]:
        """Return the names of what a loss of power at this moment might not leave as it is.

        Of a file that was only made smaller more may be left: who shortens one does not need it.
        """
        moved = {self._name(each) for change, _ in self._since for each in _names(change)}
        written = {
            name
            for name, file in self._all().items()
            if file and any(change.kind == "write" for change in file.since)
        }
        return moved | written

    def whole(self) -> dict[str, bytes]:
        """Return every file with its bytes, nothing being lost."""
        found = {}
        for name, file in self._all().items():
            if file is not None:
                content = bytearray(file.sure)
                for change in file.since:
                    _apply(content, change)
                found[name] = bytes(content)
        return found

    def _all(self) -> dict[str, _File | None]:
        names = dict(self._sure)
        for each in self._since:
            self._apply_name(names, *each)
        return names


def _made(change: Change, synced: Change) -> bool:
    """Say whether a change created the file that is synced."""
    return synced.kind == "sync" and (change.kind, change.file) == ("create", synced.file)


def _names(change: Change) -> list[str]:
    return [name for name in (change.first, change.second) if name]


def _left(file: _File, chance: random.Random, model: str) -> bytes:
    """Return what is left of a file: of what was not synced nothing, all, or some."""
    content = bytearray(file.sure)
    share = chance.choice((0, 1 / 2, 1))
    pieces = [piece for change in file.since for piece in _pieces(change, model)]
    grown = round((chance.random() if share == 1 / 2 else share) * len(pieces))
    for number, piece in enumerate(pieces):
        is_growth = max(piece.size, piece.offset + len(piece.data)) > len(content)
        if number < grown if is_growth and model == "ordered" else chance.random() < share:
            _apply(content, piece)
    return bytes(content)


def _pieces(change: Change, model: str) -> Iterator[Change]:
    """Yield what a disk writes at once."""
    if change.kind == "size":
        yield change
        return
    length = _PAGE if model == "ordered" else _SECTOR
    start, end = change.offset, change.offset + len(change.data)
    while start < end:
        stop = min(end, (start // length + 1) * length)
        data = change.data[start - change.offset : stop - change.offset]
        yield replace(change, offset=start, data=data)
        start = stop
