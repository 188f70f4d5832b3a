"""The drop folder: which files in `DROP_DIR/<institution>/` are ready, and moving them away.

A file is ready when a marker lies beside it (`NAME.done`, or a manifest `NAME.manifest.json`), or
when nobody has written to it for some seconds and its size and time stand still over two looks.
NAME is the name of the file, with or without its suffix. Not input are hidden files, folders,
links, markers, the reports of an earlier night, and names that programs give to half a file.
Nothing is ever deleted or overwritten: a name that is taken gets a number.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cardoffers_cli.domain.errors import FileUnusable

DONE, FAILED = "done", "failed"
QUIET_S = 5.0
"""How long nobody may have written to a file that has no marker."""

_MARKERS = (".done", ".manifest.json")
_REPORTS = (".errors.csv", ".rejected.csv", ".rejected.json", ".rejected.jsonl")
_HALVES = (".part", ".partial", ".tmp", ".temp", ".filepart", ".crdownload", ".swp", "~")
_MOST_MANIFEST = 1 << 20
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A file in the drop folder. `stamp` tells it from another one of the same name."""

    institution: str
    path: Path
    size_bytes: int
    stamp: str
    written_s: float
    is_marked: bool

    @property
    def name(self) -> str:
        """The file's name in its folder."""
        return self.path.name

    @property
    def is_compressed(self) -> bool:
        """Whether it looks like a gzip file."""
        try:
            with self.path.open("rb") as file:
                return file.read(2) == _GZIP
        except OSError:
            return False


@dataclass(frozen=True, kw_only=True)
class Look:
    """What lies in the drop folder: input, and what nobody knows what to do with."""

    files: tuple[Dropped, ...]
    strays: tuple[str, ...]


def look(drop: Path) -> Look:
    """List the drop folder by institution and name; raises `OSError` where it cannot be read."""
    files: list[Dropped] = []
    strays: list[str] = []
    for entry in _sorted(drop):
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False) and _is_text(entry.name):
            found = _in_folder(Path(entry.path), strays)
            files.extend(found)
        else:
            strays.append(_shown(entry.name))
    return Look(files=tuple(files), strays=tuple(strays))


def ready(first: Look, second: Look, *, now_s: float) -> tuple[list[Dropped], list[Dropped]]:
    """Divide the files of two looks, some time apart, into those that are ready and the others.

    `now_s` is the real clock, in seconds since 1970.
    """
    before = {file.path: file.stamp for file in first.files}
    taken: list[Dropped] = []
    left: list[Dropped] = []
    for file in second.files:
        quiet_s = now_s - file.written_s
        is_still = before.get(file.path) == file.stamp and not 0 <= quiet_s < QUIET_S
        (taken if file.is_marked or is_still else left).append(file)
    return taken, left


def stamp_of(path: Path) -> str | None:
    """Return what tells a file from a later one of its name; None where there is no such file."""
    try:
        return _stamp(path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None


def free_name(folder: Path, name: str, taken: set[str]) -> str:
    """Return the name, with a number in front of its suffixes if it is not free."""
    stem, dot, suffixes = name.partition(".")
    candidate, number = name, 1
    while candidate in taken or os.path.lexists(folder / candidate):
        number += 1
        candidate = f"{stem}-{number}{dot}{suffixes}"
    return candidate


def move(path: Path, folder: Path, name: str) -> str:
    """Move a file into a folder of the same disk; return the name it got there.

    The new name is made before the old one goes, and never over a file; done again after a crash,
    it finds that the two names are one file.
    """
    folder.mkdir(exist_ok=True)
    target = folder / name
    if os.path.lexists(target) and not target.samefile(path):
        target = folder / free_name(folder, name, set())
    if not os.path.lexists(target):
        _link(path, target)
    if os.path.lexists(path):
        path.unlink()
    _sync(folder)
    _sync(path.parent)
    return target.name


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError:  # a disk without hard links; who else moves files here is kept out by a lock
        path.rename(target)


def markers_of(path: Path) -> list[Path]:
    """Return the markers that lie beside a file."""
    return [
        marker
        for name in dict.fromkeys((path.name, path.stem))
        for end in _MARKERS
        if (marker := path.with_name(name + end)).is_file()
    ]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the sender says of a file; None says nothing. `amount_sum` is the sum of all rows."""

    sha256: str | None = None
    rows: int | None = None
    amount_sum: Any = None


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest beside a file, or None; raise `FileUnusable` for one that is wrong."""
    found = [marker for marker in markers_of(path) if marker.name.endswith(_MARKERS[1])]
    if not found:
        return None
    from decimal import Decimal  # noqa: PLC0415

    with found[0].open("rb") as file:
        text = file.read(_MOST_MANIFEST)
    try:
        said = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    except (ValueError, RecursionError):
        raise _no_manifest(found[0].name) from None
    return _manifest(said, found[0].name)


def _manifest(said: Any, name: str) -> Manifest:
    from decimal import Decimal  # noqa: PLC0415

    if not isinstance(said, dict):
        raise _no_manifest(name)
    amount = said.get("amount_sum")
    if isinstance(amount, str):
        with suppress(ArithmeticError):
            amount = Decimal(amount)
    sha256, rows = said.get("sha256"), said.get("rows")
    wrong = (
        not isinstance(sha256, str | None)
        or not isinstance(rows, Decimal | None)
        or not isinstance(amount, Decimal | None)
        or (rows is not None and rows != int(rows))
    )
    if wrong:
        raise _no_manifest(name)
    return Manifest(
        sha256=sha256.lower() if sha256 else None,
        rows=None if rows is None else int(rows),
        amount_sum=amount,
    )


def _no_manifest(name: str) -> FileUnusable:
    return FileUnusable(
        f"{name} is no manifest.",
        code="manifest_invalid",
        hint='Write it as {"sha256": "…", "rows": 1000, "amount_sum": "12345.67"}.',
    )


def clear_drafts(folder: Path) -> None:
    """Remove what a process that was killed left half written in a folder of ours."""
    with suppress(FileNotFoundError):
        for entry in _sorted(folder):
            if entry.name.startswith(".") and entry.name.endswith(".part"):
                Path(entry.path).unlink(missing_ok=True)


def _in_folder(folder: Path, strays: list[str]) -> list[Dropped]:
    found = []
    for entry in _sorted(folder):
        name = entry.name
        if entry.is_dir(follow_symlinks=False) or not _is_input(name):
            continue
        if not entry.is_file(follow_symlinks=False) or not _is_text(name):
            strays.append(f"{folder.name}/{_shown(name)}")
            continue
        found.append(_dropped(folder, entry))
    return found


def _dropped(folder: Path, entry: os.DirEntry[str]) -> Dropped:
    stat = entry.stat(follow_symlinks=False)
    path = Path(entry.path)
    return Dropped(
        institution=folder.name,
        path=path,
        size_bytes=stat.st_size,
        stamp=_stamp(stat),
        written_s=stat.st_mtime,
        is_marked=bool(markers_of(path)),
    )


def _is_input(name: str) -> bool:
    return not name.startswith(".") and not name.endswith((*_MARKERS, *_REPORTS, *_HALVES))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def _stamp(stat: os.stat_result) -> str:
    return f"{stat.st_size}:{stat.st_mtime_ns}"


def _sorted(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: os.fsencode(entry.name))


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
